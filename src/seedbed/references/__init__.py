"""Reference runs: predictors that need no training, one file a kind."""
