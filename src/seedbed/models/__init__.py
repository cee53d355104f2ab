"""Models: one file a family, each with `Options` and `Model`. They know nothing of objectives or training."""
