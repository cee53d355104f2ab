from seedbed.pipeline.jobs.demonstration import Demonstration


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
