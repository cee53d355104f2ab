"""Tasks: generators of sequences with a right answer. Each task is one file and needs numpy only."""
