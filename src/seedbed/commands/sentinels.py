"""Sentinels: trainings of 150 steps that notice within a minute that a number moved.

One for each run that is marked `quick`, with everything that is measured of it. They go through the jobs of the
workflow, so that what they guard is what a build does.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import chdir

from seedbed.configuration.configuration import Configuration
from seedbed.observations import Observation, rows
from seedbed.pipeline import jobs, reference_files, storage
from seedbed.pipeline.plan import Plan, data_path, observations_path, run_path
from seedbed.pipeline.provenance import machine

#: The first losses of a sentinel, which hold to a thousandth also on another processor.
FIRST_LOSSES = 20


def plan() -> Plan:
    """The plan of all sentinels."""
    return Plan(Configuration({"scope": "sentinels"}))


def names(own: Plan) -> list[tuple[str, str]]:
    """Every (study, run) of the plan that is measured."""
    return list(dict.fromkeys((study, run) for study, run, _ in own.evaluations()))


def environment() -> dict[str, str]:
    """What decides the last digits of a number that this process computes."""
    return reference_files.environment([{"metric": name, "text": text} for name, text in machine().items()])


def measure(own: Plan, study: str, run: str) -> list[jobs.Row]:
    """Train a sentinel, unless it is a reference run, and measure it, below the current folder.

    Returns:
        Its rows of observations, and its first losses as ``step_loss`` by step.
    """
    entry = own.run(study, run)
    _draw(own, study, run)
    found: list[jobs.Row] = []
    if entry.trained:
        _train(own, study, run)
        losses = storage.read_table(run_path(study, run, 0, "log.parquet"))["training_loss"].to_pylist()
        recipe = own.recipe(study, run, 0)
        found += rows(_first(losses), study=study, run=run, seed=0, recipe=recipe, fingerprint="")
    for one in own.evaluations():
        if one[:2] == (study, run):
            jobs.evaluate(own, *one, own.evaluate(*one))
            found += storage.read_table(observations_path(*one)).to_pylist()
    return found


def write() -> None:
    """Measure all sentinels and make them the reference."""
    own, made = plan(), environment()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        found = []
        for name in names(own):
            print(*name, sep="/", flush=True)
            found += measure(own, *name)
    reference_files.write(reference_files.SENTINELS, jobs.table(found), made)


def _first(losses: list[float]) -> Iterator[Observation]:
    for step, loss in enumerate(losses[:FIRST_LOSSES], start=1):
        yield Observation("step_loss", loss, {"step": step}, "nat")


def _draw(own: Plan, study: str, run: str) -> None:
    """Draw the documents that a run reads, where that is not done yet."""
    corpora = [("training", seed) for seed in own.training_corpora(study, run)]
    for split, seed in (("test", None), ("validation", None), *corpora):
        corpus = (study, own.run(study, run).data, split, seed)
        if not storage.carries(data_path(*corpus), own.data(*corpus)):
            jobs.data(own, corpus, own.data(*corpus))


def _train(own: Plan, study: str, run: str) -> None:
    """Train a run, and before it the one it begins with, where that is not done yet."""
    if start := own.run(study, run).start:
        _draw(own, start.study, start.run)
        _train(own, start.study, start.run)
    if not storage.carries(run_path(study, run, 0, "model.safetensors"), own.train(study, run, 0)):
        jobs.train(own, study, run, 0, own.train(study, run, 0))
