from seedbed.pipeline.jobs.tables import (
    Comparison,
    Observations,
    StudyVerdicts,
    Timings,
    Verdicts,
)


rule observations:
    input:
        inputs_of(Observations),
    output:
        Observations.OUTPUTS,
    log:
        "results/logs/observations.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=fingerprint_of(Observations),
    shell:
        COMPUTE


rule study_verdicts:
    input:
        inputs_of(StudyVerdicts),
    output:
        StudyVerdicts.OUTPUTS,
    log:
        "results/logs/verdicts/{study}.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=fingerprint_of(StudyVerdicts),
    shell:
        COMPUTE


rule verdicts:
    input:
        inputs_of(Verdicts),
    output:
        Verdicts.OUTPUTS,
    log:
        "results/logs/verdicts.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=fingerprint_of(Verdicts),
    shell:
        COMPUTE


rule timings:
    input:
        inputs_of(Timings),
    output:
        Timings.OUTPUTS,
    log:
        "results/logs/timings.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=fingerprint_of(Timings),
    shell:
        COMPUTE


rule comparison:
    input:
        inputs_of(Comparison),
    output:
        Comparison.OUTPUTS,
    log:
        "results/logs/comparison.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=fingerprint_of(Comparison),
    shell:
        COMPUTE
