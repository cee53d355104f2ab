rule train:
    input:
        unpack(lambda w: PLAN.training_files(w.study, w.run, int(w.seed))),
    output:
        weights="results/runs/{study}/{run}/seed-{seed}/model.safetensors",
        log="results/runs/{study}/{run}/seed-{seed}/log.parquet",
        cost="results/runs/{study}/{run}/seed-{seed}/cost.parquet",
    log:
        "results/logs/train/{study}/{run}/seed-{seed}.log",
    conda:
        ENVIRONMENT
    params:
        fingerprint=lambda w: PLAN.train(w.study, w.run, int(w.seed)),
    shell:
        "seedbed train {wildcards.study} {wildcards.run} {wildcards.seed}"
        " --fingerprint {params.fingerprint} > {log:q} 2>&1"
