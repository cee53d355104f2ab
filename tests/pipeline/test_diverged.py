"""The table says of every training whether it diverged, and keeps all that was measured of those that did."""

from __future__ import annotations

from pathlib import Path

import pytest

from seedbed.configuration.configuration import ROOT, Configuration
from seedbed.pipeline.plan import Plan

STUDY = """
title: A study
lead: Of a training that diverges at once, and does not name the evaluation that says so.
rebuilt: true
data:
  text: {language: garden, training: 12, validation: 2, test: 2}
training: {epochs: 2, batch: 3, warm_up: 0}
runs:
  good:
    label: learns
    model: {kind: window, words: 2, embedding: 4, hidden: 8}
    objective: {kind: flm}
  wild:
    label: diverges
    model: {kind: window, words: 2, embedding: 4, hidden: 8}
    objective: {kind: flm}
    training: {learning_rate: 1e+38}
  exact: {label: the language itself, kind: exact}
evaluations:
  perplexity: {}
"""


def test_every_training_has_a_row_that_says_whether_it_diverged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("studies", "languages"):
        (tmp_path / "config" / folder).mkdir(parents=True)
    (tmp_path / "config/config.yaml").write_text("studies: [garden]\nseeds: 2\n")
    (tmp_path / "config/studies/garden.yaml").write_text(STUDY)
    (tmp_path / "config/languages/garden.yaml").write_text((ROOT / "config/languages/garden.yaml").read_text())
    monkeypatch.chdir(tmp_path)
    plan = Plan(Configuration(root=tmp_path))
    for job in (*plan.computing, plan.observations):
        job.compute()
    rows = plan.observations.read().to_pylist()
    diverged = {(row["run"], row["seed"]): row["value"] for row in rows if row["metric"] == "diverged"}
    assert diverged == {("good", 0): 0, ("good", 1): 0, ("wild", 0): 1, ("wild", 1): 1}
    measured = {(row["run"], row["seed"]) for row in rows if row["metric"] == "divergence"}
    assert measured == {*diverged, ("exact", None)}
    assert {row["condition"] for row in rows if row["metric"] == "diverged"} == {""}
