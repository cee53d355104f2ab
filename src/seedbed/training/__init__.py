"""Training: the loop and its schedule, for any model and objective."""
