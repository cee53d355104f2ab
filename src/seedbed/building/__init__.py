"""A whole build as processes: the lock, Snakemake, the jobs that it starts, and the progress shown."""
