"""Measurements without training and without a run: exact facts, examples, repeated draws, untrained networks."""
