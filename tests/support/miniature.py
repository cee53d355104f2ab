"""A miniature of the project in a temporary folder: the real workflow and code, a study of seconds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from seedbed.pipeline.configuration import ROOT

PARTS = ("Snakefile", "workflow", "profiles", "src", "report", "environment.yml")
STUDY = """
title: Miniature
lead: A study of seconds.
rebuilt: true
data:
  text: {language: garden, training: 96, validation: 24, test: 24}
training: {epochs: 2, batch: 32, learning_rate: 0.003, warm_up: 2}
runs:
  flm:
    label: Transformer
    model: {kind: transformer, d_model: 16, heads: 2, layers: 1, d_ff: 32}
    objective: {kind: flm}
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


@dataclass(frozen=True)
class Project:
    """A copy of the project."""

    root: Path

    def run(self, *arguments: str, cores: int = 2, **environment: str) -> subprocess.CompletedProcess[str]:
        """Snakemake with both streams in ``stdout``."""
        return self.python("-m", "snakemake", "--cores", str(cores), *arguments, PYTHONPATH="", **environment)

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The project's own command line, with both streams in ``stdout``."""
        return self.python("-m", "seedbed", *arguments)

    def python(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Python in the project's folder with the project's own code, both streams in ``stdout``."""
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env=os.environ | {"PYTHONPATH": str(self.root / "src")} | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def build(self, *arguments: str, cores: int = 2, **environment: str) -> str:
        """Build all; the output, if it ended well."""
        done = self.run(*arguments, cores=cores, **environment)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def planned(self, *arguments: str) -> list[str]:
        """The rules of the jobs that a build would run now, but for `all`."""
        output = self.build("--dry-run", *arguments)
        rules = [
            line.partition("rule ")[2].rstrip(":")
            for line in output.splitlines()
            if line.startswith(("rule ", "localrule "))
        ]
        return sorted(rule for rule in rules if rule != "all")

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace text that must be there."""
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def copy(self, target: Path) -> Project:
        """This project with its results, elsewhere."""
        return Project(Path(shutil.copytree(self.root, target)))


def make(root: Path) -> Project:
    """A fresh miniature without results."""
    for part in PARTS:
        source, target = ROOT / part, root / part
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    return configure(root)


def configure(root: Path) -> Project:
    """The miniature's configuration alone."""
    shutil.copytree(ROOT / "config", root / "config")
    for folder in ("studies", "claims"):
        for file in (root / "config" / folder).glob("*.yaml"):
            file.unlink()
    (root / "config/studies/garden.yaml").write_text(STUDY, encoding="utf-8")
    (root / "config/claims/objectives.yaml").write_text(CLAIMS, encoding="utf-8")
    (root / "config/claims/excluded.yaml").write_text(EXCLUDED, encoding="utf-8")
    (root / "config/watched.yaml").write_text(WATCHED, encoding="utf-8")
    settings = "studies: [garden]\nseeds: 2\nreference_seeds: 3\n"
    (root / "config/config.yaml").write_text(settings, encoding="utf-8")
    return Project(root)
