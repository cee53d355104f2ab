"""Short trainings give the numbers of the reference: to a millionth where libraries and processor are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from seedbed.commands import sentinels
from seedbed.commands.checking import line
from seedbed.configuration.configuration import ROOT
from seedbed.observations import Row
from seedbed.pipeline.reference_files import SENTINELS, read_reference
from seedbed.statistics.comparison import ComparedItem, compare_rows

PLAN = sentinels.plan()
REMEDY = "; if this was meant: make sentinels, and commit what it writes"


@pytest.fixture(scope="module")
def reference() -> tuple[list[Row], dict[str, str]]:
    return read_reference(ROOT / SENTINELS)


def of(rows: list[Row], study: str, run: str) -> list[Row]:
    return [row for row in rows if (row["study"], row["run"]) == (study, run)]


def different(found: list[ComparedItem]) -> str:
    return "\n".join(
        f"{one.outcome}: {line(one) if one.reference is not None and one.now is not None else one.place}"
        for one in found
        if one.outcome != "same"
    )


@pytest.mark.parametrize(("study", "run"), sentinels.names(PLAN))
def test_a_sentinel_gives_the_numbers_of_the_reference(
    study: str,
    run: str,
    reference: tuple[list[Row], dict[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    rows, made = reference
    found = compare_rows(sentinels.measure(PLAN, study, run), of(rows, study, run), decides=True)
    assert found, f"{study}/{run} has no sentinel{REMEDY}"
    if made == sentinels.environment():
        assert not different(found), different(found) + REMEDY
    first = [one for one in found if one.metric == "step_loss"]
    for one in first:
        assert one.now == pytest.approx(one.reference, rel=1e-3), line(one) + REMEDY
    assert len(first) == (
        sentinels.FIRST_LOSSES if any((one.study, one.run) == (study, run) for one in PLAN.trainings) else 0
    )


def test_the_reference_has_no_sentinel_that_is_no_more(reference: tuple[list[Row], dict[str, str]]) -> None:
    assert {(row["study"], row["run"]) for row in reference[0]} == set(sentinels.names(PLAN)), REMEDY


def test_sentinels_are_informative(reference: tuple[list[Row], dict[str, str]]) -> None:
    """A series that would stay the same whatever the code does guards nothing."""
    losses = [row["value"] for row in reference[0] if row["metric"] == "step_loss"]
    assert len(set(losses)) == len(losses)
