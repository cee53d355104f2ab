"""A plug-in that draws from a global generator gets the noise of its seed, whatever was drawn before."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from miniature import configure

from seedbed.configuration.configuration import Configuration
from seedbed.evaluations import perplexity
from seedbed.observations import Observation
from seedbed.pipeline.plan import Plan
from seedbed.pipeline.storage import read_table

STUDY = """
title: Noise
lead: An evaluation that draws from global generators.
data: {text: {language: garden, training: 32, validation: 4, test: 4}}
training: {epochs: 1, batch: 16}
runs:
  window:
    label: window
    model: {kind: window, words: 2, embedding: 4, hidden: 4}
    objective: {kind: flm}
evaluations:
  perplexity: {}
"""


def draw(*_: object) -> Iterator[Observation]:
    """Draws of every global generator."""
    yield Observation("python", random.random())
    yield Observation("numpy", float(np.random.random()))  # noqa: NPY002 - this is what a plug-in may do
    yield Observation("torch", float(torch.rand(())))


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A plan whose two trainings are done, and whose evaluation draws."""
    configure(tmp_path)
    (tmp_path / "config/studies/garden.yaml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(perplexity, "evaluate", draw)
    plan = Plan(Configuration(root=tmp_path))
    for job in (*plan.corpora, *plan.trainings):
        job.compute()
    return plan


def measured(plan: Plan) -> dict[tuple[str, int], float]:
    job = plan.measurement("garden", "window", "perplexity")
    job.compute()
    return {(row["metric"], row["seed"]): row["value"] for row in read_table(job.outputs[0]).to_pylist()}


def test_two_builds_get_the_same_noise_and_two_seeds_do_not(plan: Plan) -> None:
    first = measured(plan)
    random.random(), np.random.random(), torch.rand(3)  # noqa: NPY002 - as other jobs of a process may
    assert measured(plan) == first
    for generator in ("python", "numpy", "torch"):
        assert first[generator, 0] != first[generator, 1]


def test_a_measurement_leaves_the_global_generators_as_they_were(plan: Plan) -> None:
    torch.manual_seed(1)
    random.seed(1)
    expected = random.random(), float(torch.rand(()))
    torch.manual_seed(1)
    random.seed(1)
    measured(plan)
    assert (random.random(), float(torch.rand(()))) == expected
