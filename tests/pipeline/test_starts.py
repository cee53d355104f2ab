"""A training that begins with the weights of another run, same seed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from seedbed.configuration.configuration import ROOT, Configuration
from seedbed.configuration.yaml import ConfigError
from seedbed.pipeline import storage
from seedbed.pipeline.plan import Plan

STUDY = """
title: A study
lead: Of a run that goes on from another.
rebuilt: true
data:
  text: {language: garden, training: 6, validation: 2, test: 2}
training: {epochs: 1, batch: 3, warm_up: 0}
runs:
  first:
    label: from nothing
    model: {kind: window, words: 2, embedding: 4, hidden: 8}
    objective: {kind: flm}
  second:
    label: goes on
    model: {kind: window, words: 2, embedding: 4, hidden: 8}
    objective: {kind: flm}
    training: {learning_rate: 0}
    start: {study: garden, run: first}
  exact: {label: the language itself, kind: exact}
evaluations:
  training: {runs: trained}
"""


def make(root: Path, study: str = STUDY) -> Plan:
    for folder in ("studies", "languages"):
        (root / "config" / folder).mkdir(parents=True, exist_ok=True)
    (root / "config/config.yaml").write_text("studies: [garden]\nseeds: 2\n")
    (root / "config/studies/garden.yaml").write_text(study)
    (root / "config/languages/garden.yaml").write_text((ROOT / "config/languages/garden.yaml").read_text())
    return Plan(Configuration(root=root))


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Both runs of seed 1, trained in the present folder."""
    plan = make(tmp_path)
    monkeypatch.chdir(tmp_path)
    for split, seed in (("training", 1), ("validation", None)):
        plan.corpus("garden", "text", split, seed).compute()
    for run in ("first", "second"):
        plan.training("garden", run, 1).compute()
    return plan


def test_a_run_begins_with_the_weights_of_the_same_seed(built: Plan) -> None:
    weights = {
        run: storage.read_weights(training.weights, training.fingerprint)
        for run in ("first", "second")
        for training in [built.training("garden", run, 1)]
    }
    assert weights["first"].keys() == weights["second"].keys()
    assert all(torch.equal(weights["second"][name], tensor) for name, tensor in weights["first"].items())


def test_an_evaluation_is_told_which_seed_drew_the_first_weights(built: Plan) -> None:
    assert built.training("garden", "first", 1).model().initialisation == 1
    assert built.training("garden", "second", 1).model().initialisation is None


def test_the_weights_of_the_same_seed_are_an_input_of_the_training(tmp_path: Path) -> None:
    plan = make(tmp_path)
    assert plan.training("garden", "first", 1) in plan.training("garden", "second", 1).inputs


def test_what_changes_the_first_run_changes_the_second(tmp_path: Path) -> None:
    plan = make(tmp_path)
    changed = make(
        tmp_path,
        STUDY.replace(
            "objective: {kind: flm}\n  second", "objective: {kind: flm}\n    training: {epochs: 2}\n  second"
        ),
    )
    before, after = (one.training("garden", "second", 0) for one in (plan, changed))
    assert before.fingerprint != after.fingerprint
    assert before.recipe != after.recipe
    measured = [one.measurement("garden", "second", "training").fingerprint for one in (plan, changed)]
    assert measured[0] != measured[1]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("study: garden, run: first", "study: gardn, run: first", r"runs\.second\.start\.study: gardn: .*garden"),
        ("run: first}", "run: frst}", r"runs\.second\.start\.run: frst: did you mean first"),
        ("run: first}", "run: exact}", r"runs\.second\.start\.run: exact: "),
        ("run: first}", "run: second}", r"runs\.second\.start: second begins with another run's weights itself"),
        (
            "start: {study: garden, run: first}",
            "seeds: 3\n    start: {study: garden, run: first}",
            r"first has 2 seeds and second 3",
        ),
        (
            "label: goes on\n    model: {kind: window, words: 2",
            "label: goes on\n    model: {kind: window, words: 3",
            "another network",
        ),
        ("start: {study", "quick: true\n    start: {study", "first must be quick too"),
    ],
)
def test_a_start_that_cannot_be_is_refused_with_its_place(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in STUDY
    with pytest.raises(ConfigError, match=message):
        make(tmp_path, STUDY.replace(old, new))
