"""Another number of seeds measures only what is new, and a measurement that was ended goes on where it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from miniature import configure

from seedbed.configuration.configuration import Configuration
from seedbed.evaluations import perplexity
from seedbed.measuring.context import Context
from seedbed.observations import Observation
from seedbed.pipeline import fingerprint as hashing
from seedbed.pipeline.jobs.demonstration import Demonstration
from seedbed.pipeline.jobs.job import is_pending
from seedbed.pipeline.jobs.measurement import Measurement
from seedbed.pipeline.plan import Plan

STUDY = """
title: Seeds
lead: So.
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
TABLE = Path("results/observations/garden/window/perplexity.parquet")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose three trainings are done."""
    configure(tmp_path)
    (tmp_path / "config/studies/garden.yaml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    plan = Plan(Configuration({"seeds": 3}, tmp_path))
    for job in (*plan.corpora, *plan.trainings):
        job.compute()
    return tmp_path


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds that the evaluation has been called with."""
    called: list[int] = []

    def evaluate(_: object, context: Context, __: object) -> Iterator[Observation]:
        called.append(context.seed)
        yield Observation("called", float(context.seed))

    monkeypatch.setattr(perplexity, "evaluate", evaluate)
    return called


def measurement(root: Path, seeds: int) -> Measurement:
    return Plan(Configuration({"seeds": seeds}, root)).measurement("garden", "window", "perplexity")


def compute(root: Path, seeds: int) -> bytes:
    """The table of a build, which deletes the old one first, as Snakemake does."""
    TABLE.unlink(missing_ok=True)
    job = measurement(root, seeds)
    job.compute()
    assert not is_pending(job)
    return TABLE.read_bytes()


def test_fewer_and_more_seeds_measure_only_what_is_new(root: Path, measured: list[int]) -> None:
    two = compute(root, 2)
    assert measured == [0, 1]
    three = compute(root, 3)
    assert measured == [0, 1, 2]
    assert compute(root, 2) == two
    assert compute(root, 3) == three
    assert measured == [0, 1, 2]


def test_seeds_that_were_measured_one_by_one_give_the_bytes_of_all_at_once(
    root: Path, measured: list[int]
) -> None:
    compute(root, 1)
    one_by_one = compute(root, 3)
    for kept in TABLE.with_suffix("").iterdir():
        kept.unlink()
    assert compute(root, 3) == one_by_one
    assert measured == [0, 1, 2, 0, 1, 2]


def test_an_edited_evaluation_measures_every_seed_again(
    root: Path, measured: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    compute(root, 2)
    original: Callable[[tuple[str, ...]], dict[str, str]] = hashing.code
    edited = {"seedbed.evaluations.perplexity": "edited"}
    monkeypatch.setattr(
        hashing,
        "code",
        lambda modules: original(modules) | (edited if "seedbed.evaluations.perplexity" in modules else {}),
    )
    compute(root, 2)
    assert measured == [0, 1, 0, 1]


def test_a_measurement_that_was_ended_goes_on_with_the_next_seed(
    root: Path, measured: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = perplexity.evaluate

    def evaluate(model: object, context: Context, options: object) -> Iterator[Observation]:
        if context.seed == 2:
            raise KeyboardInterrupt
        return ended(model, context, options)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(perplexity, "evaluate", evaluate)
        with pytest.raises(KeyboardInterrupt):
            compute(root, 3)
    assert not TABLE.exists()
    compute(root, 3)
    assert measured == [0, 1, 2]


def test_a_damaged_file_of_a_seed_is_measured_again(root: Path, measured: list[int]) -> None:
    before = compute(root, 2)
    kept = TABLE.with_suffix("") / "seed-1.parquet"
    content = kept.read_bytes()
    kept.write_bytes(content[:200] + bytes(20) + content[220:])
    assert compute(root, 2) == before
    assert measured == [0, 1, 1]


def test_a_demonstration_keeps_its_streams_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[int | None] = []

    def observe(_: Demonstration, seed: int | None) -> Iterator[Observation]:
        called.append(seed)
        yield Observation("called", float(seed or 0))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Demonstration, "observe", observe)
    for seeds in (3, 2, 3):
        job = Plan(Configuration({"seeds": seeds})).demonstration("gradients-at-initialisation")
        job.outputs[0].unlink(missing_ok=True)
        job.compute()
        assert not is_pending(job)
    assert called == [0, 1, 2]
