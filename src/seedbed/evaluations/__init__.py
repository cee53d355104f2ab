"""Evaluations: measurements of a trained model or a reference run, one file each; they yield observations."""
