"""Pipeline: configuration, fingerprints, storage and provenance. It carries results and computes none."""
