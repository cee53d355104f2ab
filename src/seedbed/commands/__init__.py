"""The commands other than a build: check, claim, reference, sentinels, tune, lock."""
