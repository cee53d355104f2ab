"""What evaluations and demonstrations share: what they are given, and the measures that several of them take."""
