# All pages from nothing: data, trainings, measurements, demonstrations, tables, pages.
# `snakemake --cores all` in an active environment; `make report` also makes the environment and guards the build.
include: "workflow/rules/common.smk"


# All files are named, not only the pages: after a failed rerun an old page must not look up to date.
rule all:
    input:
        files_of(PLAN.jobs),


include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/demonstrate.smk"
include: "workflow/rules/verdicts.smk"
include: "workflow/rules/report.smk"
