"""What a job loads is what its fingerprint covers, or only carries."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from miniature import Project

from seedbed.pipeline.fingerprint import closure

HEAVY = {"torch", "pandas", "pyarrow", "matplotlib", "scipy"}
CARRIERS = ("seedbed.pipeline", "seedbed.__main__")
PROGRAM = """
import atexit, json, runpy, sys
atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))
sys.argv = ["seedbed", *json.loads(sys.argv[1])]
runpy.run_module("seedbed", run_name="__main__")
"""
FINGERPRINT = """
import sys
from seedbed.pipeline.configuration import Configuration
from seedbed.pipeline.plan import Plan
plan = Plan(Configuration())
print({expression})
"""
TRAINED = ["seedbed.models.transformer", "seedbed.objectives.flm", "seedbed.training.loop"]
MEASURED = ["seedbed.evaluations.perplexity", "seedbed.evaluations.trained"]
JOBS = {
    "data": (
        ["data", "garden", "text", "training", "--seed", "0"],
        "plan.data('garden', 'text', 'training', 0)",
        ["seedbed.languages.corpora"],
    ),
    "train": (["train", "garden", "flm", "0"], "plan.train('garden', 'flm', 0)", TRAINED),
    "evaluate": (
        ["evaluate", "garden", "flm", "perplexity"],
        "plan.evaluate('garden', 'flm', 'perplexity')",
        [*MEASURED, *TRAINED],
    ),
    "evaluate a reference": (
        ["evaluate", "garden", "exact", "perplexity"],
        "plan.evaluate('garden', 'exact', 'perplexity')",
        [MEASURED[0], "seedbed.references.exact"],
    ),
    "evaluate a reference with a corpus": (
        ["evaluate", "garden", "ngram", "perplexity"],
        "plan.evaluate('garden', 'ngram', 'perplexity')",
        [MEASURED[0], "seedbed.references.ngram"],
    ),
    "observations": (["observations"], "plan.observations()", ["seedbed.observations"]),
    "page": (["page"], "plan.page()", ["seedbed.reporting.page", "seedbed.reporting.studies.garden"]),
}


def python(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the project's own code in its folder."""
    return subprocess.run(
        [sys.executable, "-c", *arguments],
        cwd=project.root,
        env=os.environ | {"PYTHONPATH": str(project.root / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("job", JOBS)
def test_a_job_loads_only_what_its_fingerprint_covers(project: Project, job: str) -> None:
    command, expression, modules = JOBS[job]
    own = python(project, FINGERPRINT.format(expression=expression)).stdout.strip()
    done = python(project, PROGRAM, json.dumps(["job", *command, "--fingerprint", own]))
    assert done.returncode == 0, done.stderr
    loaded = {name for name in json.loads(done.stderr.splitlines()[-1]) if name.startswith("seedbed.")}
    # Every job reads the plan, which knows corpora and observations; where a job computes with them they count.
    known = set(closure([*modules, "seedbed.languages.corpora", "seedbed.observations"]))
    assert not {name for name in loaded - known if not name.startswith(CARRIERS)}


@pytest.mark.parametrize("job", JOBS)
def test_a_job_refuses_a_fingerprint_that_is_not_its_own(project: Project, job: str) -> None:
    done = python(project, PROGRAM, json.dumps(["job", *JOBS[job][0], "--fingerprint", "0" * 64]))
    assert done.returncode == 2
    assert "run `make report` again" in done.stderr


def test_reading_the_plan_imports_nothing_heavy(project: Project) -> None:
    done = python(project, FINGERPRINT.format(expression="plan.page(), *sorted(sys.modules)"))
    assert not HEAVY & set(done.stdout.replace("'", " ").replace(",", " ").split())
    assert "numpy" in done.stdout


def test_drawing_documents_needs_no_torch(project: Project) -> None:
    command, expression, _ = JOBS["data"]
    own = python(project, FINGERPRINT.format(expression=expression)).stdout.strip()
    done = python(project, PROGRAM, json.dumps(["job", *command, "--fingerprint", own]))
    assert "torch" not in json.loads(done.stderr.splitlines()[-1])
