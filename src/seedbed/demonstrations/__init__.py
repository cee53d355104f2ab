"""What needs no training and no run: exact facts, examples by hand, repeated draws, untrained networks."""
