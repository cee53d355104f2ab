"""Plug-ins that draw from global generators, through whole builds: the same noise each time, another by seed."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from miniature import Project, make

STUDY = """
title: Noise
lead: Plug-ins that draw.
rebuilt: true
data: {text: {language: garden, training: 96, validation: 24, test: 24}}
training: {epochs: 1, batch: 16, learning_rate: 0.003}
runs:
  noisy:
    label: with dropout
    model: {kind: noisy}
    objective: {kind: flm}
  pinned:
    label: with the dropout of seed 0
    model: {kind: noisy}
    objective: {kind: flm}
    streams: {noise: 0}
  drawn: {label: drawn, kind: drawn}
evaluations:
  noise: {}
  training: {runs: trained}
"""
DEMONSTRATIONS = """
noise: {title: What is drawn?, lead: Numbers.}
"""
MODEL = '''
"""A network with dropout."""
from dataclasses import dataclass
from torch import nn
from seedbed.models.embedding import Embedding, select_rows

@dataclass(frozen=True)
class Options:
    width: int = 16

class Model(nn.Module):
    reads = ("causal",)
    def __init__(self, options, vocabulary):
        super().__init__()
        self.embedding = Embedding(vocabulary, options.width, std=1.0, scale=False)
        self.dropout = nn.Dropout(0.5)
        self.output = nn.Linear(options.width, vocabulary)
    def forward(self, batch, scored=None):
        return self.output(select_rows(self.dropout(self.embedding(batch.tokens)), scored))
'''
REFERENCE = '''
"""A reference run that draws when it is made."""
import random
from dataclasses import dataclass
import numpy as np
OFFERS = ("log_probabilities",)

@dataclass(frozen=True)
class Options:
    """None."""

class Reference:
    def __init__(self, options, source):
        self.drawn = random.random() + np.random.random()
        self.size = len(source.vocabulary)
    def log_probabilities(self, documents):
        return np.full((len(documents.tokens), self.size), -np.log(self.size))
'''
EVALUATION = '''
"""Draws of all global generators."""
import random
from dataclasses import dataclass
import numpy as np
from seedbed.observations import Observation
NEEDS = ("log_probabilities",)
SOURCE = "language"

@dataclass(frozen=True)
class Options:
    """None."""

def evaluate(model, context, options):
    import torch
    yield Observation("python", random.random())
    yield Observation("numpy", float(np.random.random()))
    yield Observation("torch", float(torch.rand(())))
    yield Observation("made", getattr(model, "drawn", 0.0))
'''
DEMONSTRATION = (
    EVALUATION.replace('NEEDS = ("log_probabilities",)', 'NEEDS = ("rng",)')
    .replace('SOURCE = "language"\n', "")
    .replace("evaluate(model, context, options)", "demonstrate(options, *, rng)")
    .replace('getattr(model, "drawn", 0.0)', "float(rng.random())")
)
FILES = {
    "models/noisy.py": MODEL,
    "references/drawn.py": REFERENCE,
    "evaluations/noise.py": EVALUATION,
    "demonstrations/noise.py": DEMONSTRATION,
}
#: What every generator draws, but for the reference run, which has no seed.
GENERATORS = ("python", "numpy", "torch")


def write(root: Path) -> Project:
    project = make(root)
    for one in (root / "src/seedbed/demonstrations").glob("[!_]*.py"):
        one.unlink()
    for name, text in FILES.items():
        (root / "src/seedbed" / name).write_text(text, encoding="utf-8")
    (root / "config/studies/garden.yaml").write_text(STUDY, encoding="utf-8")
    (root / "config/demonstrations.yaml").write_text(DEMONSTRATIONS, encoding="utf-8")
    (root / "config/claims/objectives.yaml").write_text("claims: {}\n", encoding="utf-8")
    (root / "config/claims/excluded.yaml").unlink()
    (root / "config/watched.yaml").unlink()
    return project


@pytest.fixture(scope="module")
def one_by_one(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Built on one core through the fork server, first with one seed and then with two."""
    project = write(tmp_path_factory.mktemp("noise") / "one")
    for seeds in ("1", "2"):
        done = project.command("--config", f"seeds={seeds}", "build", "--cores", "1", PYTHONHASHSEED=seeds)
        assert done.returncode == 0, done.stdout
    return project


@pytest.fixture(scope="module")
def at_once(one_by_one: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Built at once on two cores, by Snakemake alone: each job is a Python of its own."""
    project = write(tmp_path_factory.mktemp("noise") / "another")
    project.build("--config=seeds=2", cores=2)
    return project


def rows(project: Project) -> dict[tuple[object, ...], object]:
    return {(row["run"], row["metric"], row["seed"]): row["value"] for row in project.rows()}


def losses(project: Project, run: str, seed: int) -> list[float]:
    path = project.root / f"results/runs/garden/{run}/seed-{seed}/log.parquet"
    found: list[float] = pq.read_table(path, partitioning=None)["training_loss"].to_pylist()
    return found


def test_two_builds_have_the_same_bytes(one_by_one: Project, at_once: Project) -> None:
    folders = [project.root / "results" for project in (one_by_one, at_once)]
    names = {
        one.relative_to(folders[1])
        for one in folders[1].rglob("*")
        if one.suffix in (".parquet", ".safetensors") and one.name not in ("cost.parquet", "timings.parquet")
    }
    assert len(names) > 20
    different = [name for name in names if len({(folder / name).read_bytes() for folder in folders}) > 1]
    assert not different


@pytest.mark.parametrize("run", ["noisy", "noise"])
def test_two_seeds_draw_otherwise(at_once: Project, run: str) -> None:
    found = rows(at_once)
    for generator in GENERATORS:
        assert found[run, generator, 0] != found[run, generator, 1]


def test_dropout_has_the_noise_of_its_seed_or_of_the_one_that_a_run_pins(at_once: Project) -> None:
    assert losses(at_once, "noisy", 0) == losses(at_once, "pinned", 0)
    assert losses(at_once, "noisy", 1) != losses(at_once, "pinned", 1)


def test_a_reference_run_that_draws_when_it_is_made_is_the_same_each_time(
    one_by_one: Project, at_once: Project
) -> None:
    made = rows(one_by_one)["drawn", "made", None]
    assert made == rows(at_once)["drawn", "made", None] != 0
