"""The kinds of job of a build, a file each: a job is a value that knows its outputs, inputs and fingerprint.

To add a kind, write one file here, list its jobs in `pipeline.plan.Plan`, and give it one rule in workflow/rules/.
"""
