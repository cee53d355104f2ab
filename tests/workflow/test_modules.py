"""What a job loads is what its fingerprint covers, or only carries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

import processes
import pytest
from miniature import Project

from seedbed.pipeline.fingerprint import closure

HEAVY = {"torch", "pandas", "pyarrow", "matplotlib", "scipy"}
CARRIERS = (
    "seedbed.building",
    "seedbed.commands",
    "seedbed.configuration",
    "seedbed.pipeline",
    "seedbed.errors",
    "seedbed.messages",
    "seedbed.__main__",
)
PROGRAM = """
import atexit, json, runpy, sys
atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))
sys.argv = ["seedbed", *json.loads(sys.argv[1])]
runpy.run_module("seedbed", run_name="__main__")
"""
ASKED = """
import json, sys
from seedbed.pipeline import fingerprint as hashing
original, hashed = hashing.code, set()
def recorded(modules):
    hashed.update(modules)
    return original(modules)
hashing.code = recorded
from seedbed.pipeline.plan import Plan
from seedbed.configuration.configuration import Configuration
answers = {}
for name, output in json.loads(sys.argv[1]).items():
    job = Plan(Configuration()).job(output)
    for one in job.inputs:
        one.fingerprint
    hashed.clear()
    own = job.fingerprint
    answers[name] = [own, sorted(hashed)]
print(json.dumps([answers, sorted(sys.modules)]))
"""
#: Kinds of job, and the first output of one of each.
JOBS = {
    "data": "results/data/garden/text/seed-0/training.parquet",
    "train": "results/runs/garden/flm/seed-0/model.safetensors",
    "evaluate": "results/observations/garden/flm/perplexity.parquet",
    "evaluate exact": "results/observations/garden/exact/perplexity.parquet",
    "evaluate ngram": "results/observations/garden/ngram/perplexity.parquet",
    "observations": "results/observations.parquet",
    "study verdicts": "results/verdicts/garden.parquet",
    "verdicts": "results/verdicts.parquet",
    "page": "results/report/index.html",
}
#: The plan reads these to hash them or to check what is asked; where a job computes with them, it hashes them too.
READ = [
    "seedbed.documents",
    "seedbed.messages",
    "seedbed.observations",
    "seedbed.randomness",
    "seedbed.statistics.claims",
    "seedbed.statistics.observed",
]


def python(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the project's own code in its folder."""
    environment = os.environ | {"PYTHONPATH": str(project.root / "src")}
    return processes.run([sys.executable, "-c", *arguments], cwd=project.root, env=environment)


@dataclass(frozen=True)
class Asked:
    """The fingerprint of each job and the modules that it hashes; and what the plan loaded to know that."""

    jobs: dict[str, tuple[str, list[str]]]
    loaded: list[str]


@pytest.fixture(scope="module")
def asked(built: Project) -> Asked:
    done = python(built, ASKED, json.dumps(JOBS))
    return Asked(*json.loads(done.stdout))


def run(project: Project, job: str, own: str) -> subprocess.CompletedProcess[str]:
    """Run a job; the last line of its errors is what it loaded."""
    return python(project, PROGRAM, json.dumps(["job", JOBS[job], "--fingerprint", own]))


@pytest.mark.parametrize("job", JOBS)
def test_a_job_loads_only_what_its_fingerprint_covers(project: Project, asked: Asked, job: str) -> None:
    own, hashed = asked.jobs[job]
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


def test_reading_the_plan_imports_nothing_heavy(asked: Asked) -> None:
    assert not HEAVY & set(asked.loaded)
    assert "numpy" in asked.loaded


def test_drawing_documents_needs_no_torch(project: Project, asked: Asked) -> None:
    done = run(project, "data", asked.jobs["data"][0])
    assert "torch" not in json.loads(done.stderr.splitlines()[-1])
