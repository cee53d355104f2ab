"""What a person asks for beside a build: check, claim, reference, sentinels, tune, lock."""
