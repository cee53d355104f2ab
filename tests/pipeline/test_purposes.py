"""The purposes of streams that jobs name are words which no fingerprint covers, so they are written out here.

Another word draws other numbers, and no fingerprint changes with it. Whoever changes one raises `storage.FORMAT`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from miniature import configure

from seedbed import randomness
from seedbed.configuration.configuration import Configuration
from seedbed.evaluations import perplexity
from seedbed.observations import Observation
from seedbed.pipeline import storage
from seedbed.pipeline.jobs.demonstration import Demonstration
from seedbed.pipeline.jobs.job import Job
from seedbed.pipeline.jobs.source import TaskSource
from seedbed.pipeline.jobs.training import PURPOSES
from seedbed.pipeline.plan import Plan

FORMAT = 2
REMEDY = "raise storage.FORMAT, and then both here"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> set[tuple[int, str]]:
    """Every stream that is asked for, by seed and purpose."""
    found: set[tuple[int, str]] = set()
    original = randomness._sequence

    def sequence(seed: int, purpose: str) -> np.random.SeedSequence:
        found.add((seed, purpose))
        return original(seed, purpose)

    monkeypatch.setattr(randomness, "_sequence", sequence)
    return found


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    configure(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(perplexity, "evaluate", lambda *_: [Observation("none", 0.0)])
    return Plan(Configuration({"seeds": 4}, tmp_path))


def named(asked: set[tuple[int, str]], job: Job) -> set[tuple[int, str]]:
    """The streams that a job asks for."""
    asked.clear()
    job.compute()
    return set(asked)


def test_the_words_of_streams_are_those_of_this_format(asked: set[tuple[int, str]], plan: Plan) -> None:
    assert storage.FORMAT == FORMAT
    corpora = [
        plan.corpus("garden", "text", split, seed) for split, seed in (("training", 3), ("validation", None))
    ]
    noise = [(3, "noise of training documents"), (0, "noise of validation documents")]
    for corpus, one in zip(corpora, noise, strict=True):
        assert one in named(asked, corpus), REMEDY
    training = plan.training("garden", "flm", 3)
    assert named(asked, training) >= {
        (3, "building"),
        (3, "initialisation"),
        (3, "order"),
        (3, "corruption"),
        (3, "noise"),
    }, REMEDY
    plan.corpus("garden", "text", "test", None).compute()
    assert named(asked, plan.measurement("garden", "exact", "perplexity")) == {
        (0, "building"),
        (0, "noise of perplexity"),
    }, REMEDY


def test_the_streams_that_a_run_may_pin_are_those_of_this_format() -> None:
    assert storage.FORMAT == FORMAT
    assert PURPOSES == ("data", "initialisation", "order", "corruption", "noise"), REMEDY


def test_the_words_of_a_demonstration_are_those_of_this_format(
    asked: set[tuple[int, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert storage.FORMAT == FORMAT
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Demonstration, "observe", lambda self, seed: [self._argument("rng", seed)][:0])
    job = Plan(Configuration({"seeds": 4})).demonstration("gradients-at-initialisation")
    kind = job.entry.kind
    words = (f"noise of {kind}", f"demonstration {job.name}")
    assert named(asked, job) == {(seed, purpose) for seed in range(4) for purpose in words}, REMEDY
    asked.clear()
    networks = job._argument("networks", 2)
    assert networks
    assert (2, "initialisation") in asked, REMEDY


def test_the_word_of_a_task_is_that_of_this_format(asked: set[tuple[int, str]]) -> None:
    assert storage.FORMAT == FORMAT
    options = Configuration().studies["recall"].data
    data = next(one for one in options.values() if one.task == "recall")
    asked.clear()
    assert TaskSource("recall", data.options).loaded
    assert (0, "building") in asked, REMEDY
