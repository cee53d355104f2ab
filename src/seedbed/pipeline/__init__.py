"""Pipeline: the plan and its jobs, fingerprints, storage and provenance. Models and measures are elsewhere."""
