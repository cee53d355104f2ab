"""What the page shows of each study: one file a study, found by its name."""
