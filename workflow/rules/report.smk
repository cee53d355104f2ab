rule timings:
    input:
        [plan.run_path(*one, "cost.parquet") for one in PLAN.trainings()],
    output:
        plan.TIMINGS,
    log:
        "results/logs/timings.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=PLAN.timings(),
    shell:
        "seedbed timings --fingerprint {params.fingerprint} > {log:q} 2>&1"


rule comparison:
    input:
        plan.OBSERVATIONS,
        plan.VERDICTS,
        plan.TIMINGS,
    output:
        plan.COMPARISON,
    log:
        "results/logs/comparison.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=PLAN.comparison(),
    shell:
        "seedbed comparison --fingerprint {params.fingerprint} > {log:q} 2>&1"


rule page:
    input:
        plan.OBSERVATIONS,
        plan.VERDICTS,
        plan.TIMINGS,
        plan.COMPARISON,
    output:
        plan.PAGE,
    log:
        "results/logs/page.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=PLAN.page(),
    shell:
        "seedbed page --fingerprint {params.fingerprint} > {log:q} 2>&1"
