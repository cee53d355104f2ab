# One page from nothing: data, trainings, evaluations, the one table, the page.
# `snakemake --cores all` in an active environment; `make report` also makes the environment and guards the build.
include: "workflow/rules/common.smk"


rule all:
    input:
        PLAN_FILES,


include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/report.smk"
