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
ASKED = """
import json, sys
from seedbed.pipeline import plan as module
from seedbed.pipeline.configuration import Configuration
hashed, original = {{}}, module.fingerprint
def recorded(values, modules=(), *more, **named):
    hashed.setdefault(values["job"], set()).update(modules)
    return original(values, modules, *more, **named)
module.fingerprint = recorded
plan = module.Plan(Configuration())
own = {expression}
print(json.dumps([own, {{job: sorted(modules) for job, modules in hashed.items()}}, sorted(sys.modules)]))
"""
JOBS = {
    "data": ("data garden text training --seed 0", "plan.data('garden', 'text', 'training', 0)"),
    "train": ("train garden flm 0", "plan.train('garden', 'flm', 0)"),
    "evaluate": ("evaluate garden flm perplexity", "plan.evaluate('garden', 'flm', 'perplexity')"),
    "evaluate exact": ("evaluate garden exact perplexity", "plan.evaluate('garden', 'exact', 'perplexity')"),
    "evaluate ngram": ("evaluate garden ngram perplexity", "plan.evaluate('garden', 'ngram', 'perplexity')"),
    "observations": ("observations", "plan.observations()"),
    "verdicts": ("verdicts", "plan.verdicts()"),
    "page": ("page", "plan.page()"),
}
#: The plan reads these to hash them or to check what is asked; where a job computes with them, it hashes them too.
READ = ["seedbed.documents", "seedbed.names", "seedbed.observations", "seedbed.statistics.claims"]


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


def asked(project: Project, job: str) -> tuple[str, list[str], list[str]]:
    """The job's fingerprint, the modules that it hashes, and all modules that were loaded to know that."""
    done = python(project, ASKED.format(expression=JOBS[job][1]))
    own, hashed, loaded = json.loads(done.stdout)
    return own, hashed[job.split()[0]], loaded


def run(project: Project, job: str, own: str) -> subprocess.CompletedProcess[str]:
    """Run a job; the last line of its errors is what it loaded."""
    return python(project, PROGRAM, json.dumps(["job", *JOBS[job][0].split(), "--fingerprint", own]))


@pytest.mark.parametrize("job", JOBS)
def test_a_job_loads_only_what_its_fingerprint_covers(project: Project, job: str) -> None:
    own, hashed, _ = asked(project, job)
    done = run(project, job, own)
    assert done.returncode == 0, done.stderr
    loaded = {name for name in json.loads(done.stderr.splitlines()[-1]) if name.startswith("seedbed.")}
    known = set(closure([*hashed, *READ]))
    assert not {name for name in loaded - known if not name.startswith(CARRIERS)}


@pytest.mark.parametrize("job", JOBS)
def test_a_job_refuses_a_fingerprint_that_is_not_its_own(project: Project, job: str) -> None:
    done = run(project, job, "0" * 64)
    assert done.returncode == 2
    assert "run `make report` again" in done.stderr


def test_reading_the_plan_imports_nothing_heavy(project: Project) -> None:
    loaded = asked(project, "page")[2]
    assert not HEAVY & set(loaded)
    assert "numpy" in loaded


def test_drawing_documents_needs_no_torch(project: Project) -> None:
    done = run(project, "data", asked(project, "data")[0])
    assert "torch" not in json.loads(done.stderr.splitlines()[-1])
