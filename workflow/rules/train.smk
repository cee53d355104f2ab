from seedbed.pipeline.jobs.training import Training


rule train:
    input:
        inputs_of(Training),
    output:
        Training.OUTPUTS,
    log:
        "results/logs/train/{study}/{run}/seed-{seed}.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=fingerprint_of(Training),
    shell:
        COMPUTE
