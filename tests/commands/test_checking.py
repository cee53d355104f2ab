"""What `seedbed check` says of a number that moved."""

from __future__ import annotations

from types import SimpleNamespace

import pyarrow as pa
import pytest

from seedbed.commands import checking
from seedbed.commands.checking import line
from seedbed.statistics.comparison import ComparedItem


def watched(reference: float | None, now: float | None) -> ComparedItem:
    return ComparedItem("watched", "garden", "flm", None, "loss", "", "moved", True, reference, now)


def test_a_number_where_the_reference_has_none_is_told() -> None:
    assert line(watched(None, 1.5)) == "garden/flm: loss: was no number, is 1.5"


def test_a_number_that_became_none_is_told() -> None:
    assert line(watched(1.5, None)) == "garden/flm: loss: was 1.5, is no number"


def row(outcome: str, study: str = "garden", decides: bool = True) -> ComparedItem:
    return ComparedItem("row", study, "flm", 0, "loss", "", outcome, decides, 1.5, 1.5)


def checked(*found: ComparedItem) -> int:
    """The exit code of a check of a whole build of the garden, which has a reference, with this comparison."""
    configuration = SimpleNamespace(quick=False, studies={"garden": None})
    comparison = SimpleNamespace(read=lambda: found)
    observations = SimpleNamespace(read=lambda: pa.table({}))
    plan = SimpleNamespace(
        configuration=configuration,
        references={"garden": ""},
        demonstrations=(),
        pending=list,
        observations=observations,
        comparison=comparison,
    )
    return checking.check(plan, None)


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([], checking.INCOMPLETE),
        (["new", "other recipe"], checking.INCOMPLETE),
        (["new", "same"], checking.SAME),
        (["same", "missing"], checking.MOVED),
        (["same", "moved"], checking.MOVED),
    ],
)
def test_only_what_was_compared_can_be_the_same(outcomes: list[str], code: int) -> None:
    assert checked(*map(row, outcomes)) == code


def test_the_studies_whose_rows_decide_nothing_are_named() -> None:
    said = checking.summary([row("moved", "farm", decides=False), row("same")])
    assert "observations: 1 same, 1 moved, 0 missing; those of farm decide nothing: libraries" in said
