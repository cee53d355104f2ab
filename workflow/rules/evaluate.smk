from seedbed.pipeline.jobs.measurement import Measurement

# Starting a job costs more than a quick measurement, so in a quick build one job measures a whole study.
if PLAN.configuration.quick:
    for name in PLAN.configuration.studies:

        rule:
            name:
                f"evaluate_{name.replace('-', '_')}"
            input:
                files_of(
                    job for one in PLAN.measurements_of(name) for job in one.inputs
                ),
            output:
                files_of(PLAN.measurements_of(name)),
            log:
                f"results/logs/evaluate/{name}.log",
            conda:
                ENVIRONMENT
            params:
                fingerprint=plan.fingerprint_of(PLAN.measurements_of(name)),
            shell:
                COMPUTE

else:

    rule evaluate:
        input:
            inputs_of(Measurement),
        output:
            Measurement.OUTPUTS,
        log:
            "results/logs/evaluate/{study}/{run}/{evaluation}.log",
        conda:
            ENVIRONMENT
        params:
            fingerprint=fingerprint_of(Measurement),
        shell:
            COMPUTE
