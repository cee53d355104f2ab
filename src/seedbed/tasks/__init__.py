"""Tasks: generators of sequences with a right answer, one file a task, numpy only."""
