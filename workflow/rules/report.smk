from seedbed.pipeline.jobs.pages import Page


rule page:
    input:
        inputs_of(Page),
    output:
        Page.OUTPUTS,
    log:
        "results/logs/page.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=fingerprint_of(Page),
    shell:
        COMPUTE
