"""Languages: weighted automata with exact sampling, probabilities and posteriors. They need numpy only."""
