"""The committed references are those of the committed configuration: `make reference` was not forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from seedbed.building.progress import read_durations
from seedbed.configuration.configuration import Configuration
from seedbed.observations import DEMONSTRATIONS
from seedbed.pipeline import reference_files
from seedbed.pipeline.plan import Plan

ROOT = Path(__file__).parents[2]
STUDIES = sorted(path.stem for path in (ROOT / "config/studies").glob("*.yaml"))
REMEDY = "a recipe changed, or something is gone: make reference STUDY={}"


@pytest.fixture(scope="module")
def plan() -> Plan:
    return Plan(Configuration({"scope": "reference"}))


# What is new may wait for its reference: `make check` counts it.
@pytest.mark.parametrize("study", STUDIES)
def test_a_reference_has_the_recipes_of_its_study(plan: Plan, study: str) -> None:
    asked = recipes((one.run, one.rows) for one in plan.measurements if one.study == study)
    assert in_reference(study) <= asked, REMEDY.format(study)


def test_the_reference_of_demonstrations_has_their_recipes(plan: Plan) -> None:
    asked = recipes((one.name, one.rows) for one in plan.demonstrations)
    assert in_reference(DEMONSTRATIONS) <= asked, REMEDY.format(STUDIES[0])


def test_the_time_of_a_training_is_known_before_the_first_build() -> None:
    known = read_durations(ROOT / reference_files.DURATIONS)
    studies = {path.stem for path in (ROOT / reference_files.FOLDER).glob("*.parquet")} & set(STUDIES)
    assert studies == {kind.split("/")[1] for kind in known if kind.startswith("train/")}


def recipes(
    jobs: Iterable[tuple[str, Mapping[int | None, Mapping[str, str]]]],
) -> set[tuple[str, int | None, str]]:
    """Run, seed and recipe of the rows of jobs; each job is a run or a topic, and its hashes by seed."""
    return {(name, seed, row["recipe"]) for name, rows in jobs for seed, row in rows.items()}


def in_reference(study: str) -> set[tuple[str, int | None, str]]:
    """Run, seed and recipe of all rows of a reference."""
    file = pq.ParquetFile(ROOT / reference_files.path_of(study))
    table = file.read(["run", "seed", "recipe"], use_threads=False).group_by(["run", "seed", "recipe"])
    return {(row["run"], row["seed"], row["recipe"]) for row in table.aggregate([]).to_pylist()}
