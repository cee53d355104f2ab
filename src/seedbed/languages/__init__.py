"""Languages: weighted automata with exact sampling, probabilities and posteriors. Numpy only."""
