"""What a job loads is what its fingerprint covers, or only carries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

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
from seedbed.pipeline import plan as module
from seedbed.configuration.configuration import Configuration
original, answers = module.fingerprint, {}
def recorded(values, modules=(), *more, **named):
    hashed.setdefault(values["job"], set()).update(modules)
    return original(values, modules, *more, **named)
module.fingerprint = recorded
for job, expression in json.loads(sys.argv[1]).items():
    hashed, plan = {}, module.Plan(Configuration())
    own = eval(expression)
    answers[job] = [own, sorted(hashed[job.split()[0]])]
print(json.dumps([answers, sorted(sys.modules)]))
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
READ = [
    "seedbed.documents",
    "seedbed.messages",
    "seedbed.observations",
    "seedbed.statistics.claims",
    "seedbed.statistics.observed",
]


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


@dataclass(frozen=True)
class Asked:
    """The fingerprint of each job and the modules that it hashes; and what the plan loaded to know that."""

    jobs: dict[str, tuple[str, list[str]]]
    loaded: list[str]


@pytest.fixture(scope="module")
def asked(built: Project) -> Asked:
    done = python(built, ASKED, json.dumps({job: expression for job, (_, expression) in JOBS.items()}))
    return Asked(*json.loads(done.stdout))


def run(project: Project, job: str, own: str) -> subprocess.CompletedProcess[str]:
    """Run a job; the last line of its errors is what it loaded."""
    return python(project, PROGRAM, json.dumps(["job", *JOBS[job][0].split(), "--fingerprint", own]))


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
