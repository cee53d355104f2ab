from seedbed.pipeline.jobs.pages import (
    ClaimsPage,
    IndexPage,
    LecturePage,
    StudyPage,
)


# `study_page` would match all of these addresses; a study with one of these names is an error.
ruleorder: index_page > claims_page > lecture_page > study_page


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


rule lecture_page:
    input:
        inputs_of(LecturePage),
    output:
        LecturePage.OUTPUTS,
    log:
        "results/logs/pages/{page}.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=fingerprint_of(LecturePage),
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
