"""What `seedbed check` says of a number that moved."""

from __future__ import annotations

from seedbed.pipeline.checking import line
from seedbed.statistics.reference import Compared


def watched(reference: float | None, now: float | None) -> Compared:
    return Compared("watched", "garden", "flm", None, "loss", "", "moved", True, reference, now)


def test_a_number_where_the_reference_has_none_is_told() -> None:
    assert line(watched(None, 1.5)) == "garden/flm: loss: was no number, is 1.5"


def test_a_number_that_became_none_is_told() -> None:
    assert line(watched(1.5, None)) == "garden/flm: loss: was 1.5, is no number"
