rule corpus:
    output:
        "results/data/{study}/{data}/seed-{seed}/training.parquet",
    log:
        "results/logs/data/{study}/{data}/seed-{seed}.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=lambda w: PLAN.data(w.study, w.data, "training", int(w.seed)),
    shell:
        "seedbed data {wildcards.study} {wildcards.data} training --seed {wildcards.seed}"
        " --fingerprint {params.fingerprint} > {log:q} 2>&1"


rule held_out:
    output:
        "results/data/{study}/{data}/{split}.parquet",
    log:
        "results/logs/data/{study}/{data}/{split}.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=lambda w: PLAN.data(w.study, w.data, w.split, None),
    shell:
        "seedbed data {wildcards.study} {wildcards.data} {wildcards.split}"
        " --fingerprint {params.fingerprint} > {log:q} 2>&1"
