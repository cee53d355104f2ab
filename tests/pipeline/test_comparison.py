"""What a build is compared with, study by study."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from seedbed.configuration.claim_files import Claims
from seedbed.observations import Observation, rows
from seedbed.pipeline import jobs, reference_files

STUDIES = ("farm", "garden")


def observed(study: str) -> list[jobs.Row]:
    found = [Observation("loss", 1.0, {}, "nat")]
    return list(rows(found, study=study, run="flm", seed=0, recipe="r", fingerprint="f"))


def trained(study: str, instructions: str) -> list[jobs.Row]:
    """The rows of timings that say what a study was trained on."""
    return [
        {"study": study, "metric": "architecture", "text": "x86_64"},
        {"study": study, "metric": "vector_instructions", "text": instructions},
    ]


def test_another_processor_switches_off_only_what_it_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for study in STUDIES:
        made = reference_files.environment(trained(study, "AVX2"))
        reference_files.write(reference_files.path_of(study), jobs.table(observed(study)), made)
    plan = SimpleNamespace(
        references=dict.fromkeys(STUDIES), watched=[], claims=Claims({}, {}), configuration=None, rebuilt=list
    )
    now = [row for study in STUDIES for row in observed(study)]
    times = [*trained("farm", "AVX512"), *trained("garden", "AVX2")]
    found = jobs._compared(plan, now, {}, times)
    assert {one.study: one.decides for one in found} == {"farm": False, "garden": True}
