"""What a build says of its claims, and of jobs that say nothing themselves."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from seedbed.building import build
from seedbed.building.build import _verdict_lines

FEW = ["reproduced"]


def row(outcome: str, **changes: object) -> dict[str, Any]:
    return {"same_as": [], "by_construction": False, "outcome": outcome, "possible": None} | changes


def test_the_outcomes_that_count_are_told_and_what_the_seeds_are_too_few_for() -> None:
    rows = [row("reproduced"), row("reproduced"), row("undecided", possible=FEW), row("not run", possible=FEW)]
    apart = [row("contradicted", by_construction=True), row("contradicted", same_as=["a:b"])]
    assert list(_verdict_lines([*rows, *apart])) == [
        "Claims: 2 reproduced, 1 undecided.",
        "1 of these ask for a share of more seeds than were built; their rows say what can be decided.",
    ]


def test_without_a_judged_claim_nothing_is_told() -> None:
    assert list(_verdict_lines([row("not run")])) == []


@pytest.mark.parametrize(
    ("free", "said"),
    [(60_000, "is full, 60 kB are left; make room for it"), (10**10, "perhaps for want of memory")],
)
@pytest.mark.parametrize("text", ["", "Killed\n"])
def test_a_full_disk_is_not_told_as_want_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, said: str, text: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    log = tmp_path / "job.log"
    log.write_text(text)
    assert said in build._end_of(log)
