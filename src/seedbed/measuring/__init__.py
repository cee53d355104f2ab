"""What evaluations and demonstrations share: their inputs, and measures that several of them use."""
