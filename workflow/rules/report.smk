from seedbed.pipeline.jobs.pages import (
    ClaimsPage,
    DemonstrationsPage,
    IndexPage,
    StudyPage,
)


# `study_page` would match all of these addresses; a study with one of these names is an error.
ruleorder: index_page > claims_page > demonstrations_page > study_page


rule index_page:
    input:
        inputs_of(IndexPage),
    output:
        IndexPage.OUTPUTS,
    log:
        "results/logs/pages/index.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=fingerprint_of(IndexPage),
    shell:
        COMPUTE


rule claims_page:
    input:
        inputs_of(ClaimsPage),
    output:
        ClaimsPage.OUTPUTS,
    log:
        "results/logs/pages/claims.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=fingerprint_of(ClaimsPage),
    shell:
        COMPUTE


rule demonstrations_page:
    input:
        inputs_of(DemonstrationsPage),
    output:
        DemonstrationsPage.OUTPUTS,
    log:
        "results/logs/pages/demonstrations.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=fingerprint_of(DemonstrationsPage),
    shell:
        COMPUTE


# Before the other pages, since it takes longest.
rule study_page:
    input:
        inputs_of(StudyPage),
    output:
        StudyPage.OUTPUTS,
    log:
        "results/logs/pages/{study}.log",
    priority: 1
    conda:
        ENVIRONMENT
    params:
        fingerprint=fingerprint_of(StudyPage),
    shell:
        COMPUTE
