"""Sentinels: trainings of 150 steps that notice within a minute that a number moved.

There is one for each run that is marked `quick`, with everything that is measured of it, and for each
demonstration. They run the jobs of the workflow, so they guard what a build does.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import chdir

from seedbed.configuration.configuration import Configuration
from seedbed.observations import DEMONSTRATIONS, Observation, Row, rows
from seedbed.pipeline import reference_files, storage
from seedbed.pipeline.jobs.demonstration import Demonstration
from seedbed.pipeline.jobs.job import Job, is_pending
from seedbed.pipeline.jobs.measurement import Measurement
from seedbed.pipeline.jobs.training import Training
from seedbed.pipeline.machine import machine
from seedbed.pipeline.plan import Plan
from seedbed.pipeline.table import observation_table

#: How many first losses of a sentinel are compared; these agree to a thousandth on other processors too.
FIRST_LOSSES = 20


def plan() -> Plan:
    """The plan of all sentinels."""
    return Plan(Configuration({"scope": "sentinels"}))


def names(own: Plan) -> list[tuple[str, str]]:
    """Every (study, run) of the plan that is measured, and every demonstration."""
    measured = [(one.study, one.run) for one in own.measurements]
    return list(dict.fromkeys(measured)) + [(DEMONSTRATIONS, one.name) for one in own.repeatable]


def environment() -> dict[str, str]:
    """What decides the last digits of a number that this process computes."""
    return reference_files.environment([{"metric": name, "text": text} for name, text in machine().items()])


def measure(own: Plan, study: str, run: str) -> list[Row]:
    """Train a sentinel, unless it needs no training, and measure it, below the current folder.

    Returns:
        Its rows of observations, and its first losses as ``step_loss`` by step.
    """
    parts: list[Measurement | Demonstration] = [
        *(one for one in own.measurements if (one.study, one.run) == (study, run)),
        *(one for one in own.repeatable if (DEMONSTRATIONS, one.name) == (study, run)),
    ]
    _compute(parts)
    tables = [storage.read_table(part.outputs[0]).to_pylist() for part in parts]
    trainings = [job for part in parts for job in part.inputs if isinstance(job, Training)]
    losses = [row for one in dict.fromkeys(trainings) for row in _first_losses(one)]
    return [*losses, *(row for table in tables for row in table)]


def write() -> None:
    """Measure all sentinels and make them the reference."""
    own, made = plan(), environment()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        found = []
        for name in names(own):
            print(*name, sep="/", flush=True)
            found += [row | {"item_groups": None} for row in measure(own, *name)]  # no verdict rests on a sentinel
    reference_files.write(reference_files.SENTINELS, observation_table(found), made)


def _compute(jobs: Iterable[Job]) -> None:
    """Compute some pending jobs, each after the pending jobs that it reads."""
    for job in jobs:
        if is_pending(job):
            _compute(job.inputs)
            job.compute()


def _first_losses(training: Training) -> list[Row]:
    losses = storage.read_table(training.log)["training_loss"].to_pylist()[:FIRST_LOSSES]
    place: Row = {"study": training.study, "run": training.run, "seed": training.seed}
    return rows(_steps(losses), **place, recipe=training.recipe, fingerprint="")


def _steps(losses: list[float]) -> Iterator[Observation]:
    for step, loss in enumerate(losses, start=1):
        yield Observation("step_loss", loss, {"step": step}, "nat")
