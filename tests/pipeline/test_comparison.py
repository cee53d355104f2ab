"""What a build is compared with, study by study."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from seedbed.observations import Observation, Row, rows
from seedbed.pipeline import reference_files
from seedbed.pipeline.jobs.tables import Comparison, Observations, Timings, Verdicts
from seedbed.pipeline.machine import DECIDING
from seedbed.pipeline.table import observation_table, write_rows

STUDIES = ("farm", "garden")


def observed(study: str) -> list[Row]:
    found = [Observation("loss", 1.0, {}, "nat")]
    return list(rows(found, study=study, run="flm", seed=0, recipe="r", fingerprint="f"))


def trained(study: str, deciding: str, value: str) -> list[Row]:
    """The rows of timings that say what a study was trained on."""
    machine = dict.fromkeys(DECIDING, "the same") | {deciding: value}
    found = [Observation(metric, math.nan, text=text) for metric, text in machine.items()]
    return list(rows(found, study=study, run="flm", seed=0, recipe="", fingerprint=""))


@pytest.mark.parametrize("deciding", DECIDING)
def test_another_processor_switches_off_only_what_it_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deciding: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for study in STUDIES:
        made = reference_files.environment(trained(study, deciding, "one"))
        reference_files.write(reference_files.path_of(study), observation_table(observed(study)), made)
    observations, timings = Observations(()), Timings(())
    verdicts = Verdicts((), observations, {}, {}, (), {}, True)
    write_rows(
        observations.outputs[0], [row for study in STUDIES for row in observed(study)], observations.fingerprint
    )
    times = [*trained("farm", deciding, "another"), *trained("garden", deciding, "one")]
    write_rows(timings.outputs[0], times, timings.fingerprint)
    verdicts.compute()
    comparison = Comparison(observations, verdicts, timings, (), dict.fromkeys(STUDIES, ""))
    comparison.compute()
    assert {one.study: one.decides for one in comparison.read()} == {"farm": False, "garden": True}
