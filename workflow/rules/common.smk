# What all rules use: the plan (paths and fingerprints) and the command that runs a job.
import json
import os
import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

# Braces are doubled, since Snakemake reads those in a path as the name of a wildcard.
BRACES = str.maketrans({"{": "{{", "}": "}}"})
# The workflow uses the code of its own folder, also in a copy of a project that is installed elsewhere.
SOURCE = str(Path(workflow.basedir, "src"))
sys.path.insert(0, SOURCE)
os.environ.update(
    PYTHONPATH=os.pathsep.join([SOURCE, *filter(None, [os.environ.get("PYTHONPATH")])])
)

from seedbed.pipeline import plan
from seedbed.pipeline.jobs.job import files_of
from seedbed.configuration.configuration import Configuration
from seedbed.configuration.yaml import ConfigError

# `python -m seedbed build` says whose configuration it builds; Snakemake alone builds that of this folder.
ROOT = Path(os.environ.get("SEEDBED_BUILD", workflow.basedir))

try:
    PLAN = plan.Plan(Configuration(config, ROOT))
    PLAN.watched
    for each in PLAN.jobs:
        each.fingerprint  # hashing parses the code, which may have a syntax error
except ConfigError as error:
    raise WorkflowError(str(error))

# `python -m seedbed build` starts Snakemake in that folder.
if PLAN.configuration.quick and "SEEDBED_BUILD" not in os.environ:

    workdir: str(PLAN.configuration.folder)


# If Snakemake's records are lost, it takes any file for up to date; `make report` names those that are not.
if (
    "SEEDBED_BUILD" not in os.environ
    and not any(Path(".snakemake/metadata").glob("*"))
    and (stale := PLAN.stale())
):
    raise WorkflowError(
        f"{len(stale)} results, such as {stale[0]}, come from other code or values, and Snakemake's records of "
        "them are lost. Run `make report`, which makes them again."
    )

# Snakemake goes by its records, not by what is in the files.
if "SEEDBED_BUILD" not in os.environ and (damaged := PLAN.damaged()):
    raise WorkflowError(
        f"{len(damaged)} results, such as {damaged[0]}, are not as they were written. Run `make report`, which "
        "makes them again."
    )

OVERRIDES = [f"--config={key}={json.dumps(value)}" for key, value in config.items()]
SEEDBED = shlex.join(
    [
        sys.executable,
        "-m",
        "seedbed.building.fork_client",
        f"--root={ROOT}",
        *OVERRIDES,
    ]
).translate(BRACES)
# In the prefix: the path of Python decides no result, so it must not be a parameter of a job.
shell.prefix(" ".join(["set -euo pipefail; seedbed() {{", SEEDBED, 'job "$@"; }}; ']))
ENVIRONMENT = str(Path(workflow.basedir, "environment.yml")).translate(BRACES)


# The command of all rules. It names all outputs of the job, so one command can compute any job.
COMPUTE = "seedbed {output:q} --fingerprint {params.fingerprint} > {log:q} 2>&1"


def inputs_of(kind):
    """The files that a job reads, found by the wildcards of its first output."""
    return lambda wildcards: files_of(
        PLAN.job(kind.OUTPUTS[0].format(**wildcards)).inputs
    )


def fingerprint_of(kind):
    """The fingerprint of a job, found by the wildcards of its first output."""
    return lambda wildcards: PLAN.job(kind.OUTPUTS[0].format(**wildcards)).fingerprint


wildcard_constraints:
    study="[a-z][a-z0-9-]*",
    data="[a-z][a-z0-9-]*",
    run="[a-z][a-z0-9-]*",
    evaluation="[a-z][a-z0-9_-]*",
    topic="[a-z][a-z0-9-]*",
    page="demonstrations|lecture-[a-z][a-z0-9-]*",
    split="validation|test",
    seed="[0-9]+",
