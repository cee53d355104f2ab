from seedbed.pipeline.jobs.corpus import HeldOut, TrainingCorpus


rule corpus:
    input:
        inputs_of(TrainingCorpus),
    output:
        TrainingCorpus.OUTPUTS,
    log:
        "results/logs/data/{study}/{data}/seed-{seed}.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=fingerprint_of(TrainingCorpus),
    shell:
        COMPUTE


rule held_out:
    input:
        inputs_of(HeldOut),
    output:
        HeldOut.OUTPUTS,
    log:
        "results/logs/data/{study}/{data}/{split}.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=fingerprint_of(HeldOut),
    shell:
        COMPUTE
