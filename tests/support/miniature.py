"""A miniature of the project in a temporary folder: the real workflow and code, a study of seconds."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import processes
import pyarrow.parquet as pq

from seedbed.configuration.configuration import ROOT

PARTS = ("Snakefile", "workflow", "profiles", "src", "report", "environment.yml")
STUDY = """
title: Miniature
lead: A study of seconds – für alle.
rebuilt: true
data:
  text: {language: garden, training: 96, validation: 24, test: 24}
training: {epochs: 2, batch: 32, learning_rate: 0.003, warm_up: 2}
runs:
  flm:
    label: Transformer
    model: {kind: transformer, d_model: 16, heads: 2, layers: 1, d_ff: 32}
    objective: {kind: flm}
  window:
    label: window
    model: {kind: window, words: 2, embedding: 8, hidden: 8}
    objective: {kind: flm}
    seeds: 1
  exact: {label: the language itself, kind: exact}
  ngram: {label: trigrams, kind: ngram, options: {order: 3}}
evaluations:
  training: {runs: trained}
  perplexity: {}
"""
CLAIMS = """
claims:
  objectives:exact:
    says: The language itself has no divergence.
    section: "5.1"
    by_construction: true
    check:
      kind: exact
      of: {study: garden, run: exact, metric: divergence, where: {sentences: all}}
      to: 0
  objectives:best:
    says: The Transformer is the language.
    section: "5.1"
    check:
      kind: bound
      of: {study: garden, run: flm, metric: divergence, where: {sentences: all}}
      at_most: 0.001
  objectives:epochs:
    says: Training lasts two epochs.
    section: "5.1"
    setting: {study: garden, values: {runs.flm.training.epochs: 2}}
"""
WATCHED = """
watched:
  - {study: garden, run: flm, metric: divergence, where: {sentences: all}}
  - {study: garden, run: exact, metric: loss, where: {sentences: all}}
"""
EXCLUDED = """
excluded:
  objectives:time: {reason: machine, because: Seconds belong to the lecturer's machine.}
"""

PENDING = """
import json
from seedbed.configuration.configuration import Configuration
from seedbed.pipeline.plan import Plan
print(json.dumps([job.outputs[0].as_posix() for job in Plan(Configuration()).pending()]))
"""
#: The languages of a miniature, whatever others the project has.
LANGUAGES = ("languages/farm.yaml", "languages/garden.yaml")
#: The job that makes a result, by the result's path below results/.
JOBS = {
    r"data/garden/(\w+)/seed-(\d+)/training.parquet": "corpus",
    r"data/garden/(\w+)/(test|validation).parquet": "held_out",
    r"runs/garden/(\w+)/seed-(\d+)/.*": "train",
    r"observations/garden/(\w+)/(\w+).parquet": "evaluate",
    r"verdicts/\w+.parquet": "study_verdicts",
    r"(\w+).parquet": "",
    r"report/index.html": "index_page",
    r"report/claims.html": "claims_page",
    r"report/garden.html": "study_page",
}


@dataclass(frozen=True)
class Project:
    """A copy of the project."""

    root: Path

    def run(self, *arguments: str, cores: int = 2, **environment: str) -> subprocess.CompletedProcess[str]:
        """Snakemake with both streams in ``stdout``."""
        return self.python("-m", "snakemake", "--cores", str(cores), *arguments, PYTHONPATH="", **environment)

    def command(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """The project's own command line, with both streams in ``stdout``."""
        return self.python("-m", "seedbed", *arguments, **environment)

    def python(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Python in the project's folder with the project's own code, both streams in ``stdout``."""
        return processes.run([sys.executable, *arguments], **self._options(environment))

    def start(
        self, *arguments: str, prepare: Callable[[], object] = lambda: None, **environment: str
    ) -> AbstractContextManager[subprocess.Popen[str]]:
        """As `python`, but it does not wait for the end; ``prepare`` is called in the new process first.

        The process leads a group of its own, as one that a shell has started.
        """
        options = self._options(environment) | {"prepare": prepare, "process_group": 0}
        return processes.start([sys.executable, *arguments], **options)

    def _options(self, environment: Mapping[str, str]) -> dict[str, Any]:
        given = os.environ | {"PYTHONPATH": str(self.root / "src")} | environment
        return {"cwd": self.root, "env": given, "stderr": subprocess.STDOUT}

    def build(self, *arguments: str, cores: int = 2, **environment: str) -> str:
        """Build all; the output, if it ended well."""
        done = self.run(*arguments, cores=cores, **environment)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def planned(self, *arguments: str) -> list[str]:
        """The jobs that Snakemake would run now, but for `all`, such as "train flm 0"."""
        output = self.build("--dry-run", *arguments)
        jobs = re.findall(r"^(?:local)?rule (\w+):\n((?: +.*\n)*)", output, re.MULTILINE)
        found = [
            " ".join([rule, *re.findall(r"(?:data|run|seed|split|evaluation)=(\w+)", job)]) for rule, job in jobs
        ]
        return sorted(job for job in found if job != "all")

    def pending(self, **environment: str) -> list[str]:
        """The jobs behind the results that are not of the present code and values, named as by `planned`."""
        done = self.python("-c", PENDING, **environment)
        assert done.returncode == 0, done.stdout
        return sorted({_job(path.removeprefix("results/")) for path in json.loads(done.stdout)})

    def rows(self, table: str = "observations") -> list[dict[str, object]]:
        """The rows of one of the tables."""
        path = self.root / "results" / f"{table}.parquet"
        rows: list[dict[str, object]] = pq.read_table(path, partitioning=None).to_pylist()
        return rows

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace text that must be there."""
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def copy(self, target: Path) -> Project:
        """This project with its results, elsewhere."""
        return Project(Path(shutil.copytree(self.root, target)))


def _job(path: str) -> str:
    found = [(rule, match) for pattern, rule in JOBS.items() if (match := re.fullmatch(pattern, path))]
    assert len(found) == 1, path
    rule, match = found[0]
    return " ".join([rule, *match.groups()]).strip()


def make(root: Path) -> Project:
    """A fresh miniature without results."""
    for part in PARTS:
        source, target = ROOT / part, root / part
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    # The figures of the project's own garden name runs that the miniature's does not have.
    shutil.rmtree(root / "src/seedbed/reporting/studies/garden")
    return configure(root)


def configure(root: Path) -> Project:
    """The miniature's configuration alone."""
    shutil.copytree(ROOT / "config", root / "config")
    for file in (root / "config").glob("*/*.yaml"):  # but two languages: tests know the names that there are
        if file.relative_to(root / "config").as_posix() not in LANGUAGES:
            file.unlink()
    (root / "config/demonstrations.yaml").unlink()
    (root / "config/studies/garden.yaml").write_text(STUDY, encoding="utf-8")
    (root / "config/claims/objectives.yaml").write_text(CLAIMS, encoding="utf-8")
    (root / "config/claims/excluded.yaml").write_text(EXCLUDED, encoding="utf-8")
    (root / "config/watched.yaml").write_text(WATCHED, encoding="utf-8")
    settings = "studies: [garden]\nseeds: 2\nreference_seeds: 3\n"
    (root / "config/config.yaml").write_text(settings, encoding="utf-8")
    return Project(root)
