# To start a job costs more than a quick measurement, so there one job measures a whole study.
if PLAN.configuration.quick:
    for name in PLAN.configuration.studies:

        rule:
            name:
                f"evaluate_{name.replace('-', '_')}"
            input:
                PLAN.study_files(name),
            output:
                [
                    plan.observations_path(*one)
                    for one in PLAN.evaluations()
                    if one[0] == name
                ],
            log:
                f"results/logs/evaluate/{name}.log",
            conda:
                ENVIRONMENT
            params:
                study=name,
                fingerprint=PLAN.evaluate_study(name),
            shell:
                "seedbed evaluate-study {params.study}"
                " --fingerprint {params.fingerprint} > {log:q} 2>&1"

else:

    rule evaluate:
        input:
            lambda w: PLAN.evaluation_files(w.study, w.run),
        output:
            "results/observations/{study}/{run}/{evaluation}.parquet",
        log:
            "results/logs/evaluate/{study}/{run}/{evaluation}.log",
        conda:
            ENVIRONMENT
        params:
            fingerprint=lambda w: PLAN.evaluate(w.study, w.run, w.evaluation),
        shell:
            "seedbed evaluate {wildcards.study} {wildcards.run} {wildcards.evaluation}"
            " --fingerprint {params.fingerprint} > {log:q} 2>&1"


rule observations:
    input:
        [plan.observations_path(*one) for one in PLAN.evaluations()],
    output:
        plan.OBSERVATIONS,
    log:
        "results/logs/observations.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=PLAN.observations(),
    shell:
        "seedbed observations --fingerprint {params.fingerprint} > {log:q} 2>&1"


rule verdicts:
    input:
        plan.OBSERVATIONS,
    output:
        plan.VERDICTS,
    log:
        "results/logs/verdicts.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=PLAN.verdicts(),
    shell:
        "seedbed verdicts --fingerprint {params.fingerprint} > {log:q} 2>&1"
