"""Reference runs: predictors that need no training. Each kind is one file."""
