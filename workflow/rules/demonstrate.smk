from seedbed.pipeline.jobs.demonstration import Demonstration, TimedDemonstration


rule demonstrate:
    input:
        inputs_of(Demonstration),
    output:
        Demonstration.OUTPUTS,
    log:
        "results/logs/demonstrate/{topic}.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=fingerprint_of(Demonstration),
    shell:
        COMPUTE


# Takes all cores, so that nothing runs beside it.
rule time:
    input:
        inputs_of(TimedDemonstration),
    output:
        TimedDemonstration.OUTPUTS,
    log:
        "results/logs/time/{topic}.log",
    conda:
        ENVIRONMENT
    threads: workflow.cores
    params:
        fingerprint=fingerprint_of(TimedDemonstration),
    shell:
        COMPUTE
