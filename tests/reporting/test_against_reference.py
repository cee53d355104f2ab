"""What the page says of the reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import pytest

from seedbed.reporting.against_reference import reference_section
from seedbed.reporting.tables import Status
from seedbed.statistics.comparison import ComparedItem, ComparisonOutcome


def row(outcome: ComparisonOutcome, seed: int = 0, decides: bool = True) -> ComparedItem:
    return ComparedItem("row", "garden", "flm", seed, "loss", "", outcome, decides, 1.5, 1.75)


WATCHED = ComparedItem("watched", "garden", "flm", None, "divergence", "", "moved", True, 0.25, 0.5, 0.125, 0.375)
FLIPPED = ComparedItem(
    "verdict", "", "", None, "objectives:a", "", "moved", True, text="reproduced → contradicted"
)


def test_without_a_reference_it_says_so() -> None:
    section = reference_section(())
    assert "This build is not compared" in section.summary
    assert not section.table.rows


def test_same_rows_are_counted_and_not_listed() -> None:
    section = reference_section([row("same", seed) for seed in range(3)])
    assert "no deciding check failed" in section.summary
    assert "3 are the same" in section.summary
    assert not section.table.rows


def test_what_moved_is_counted_and_listed_with_its_numbers() -> None:
    section = reference_section([WATCHED, FLIPPED, row("same"), row("moved", 1)])
    assert "3 of the deciding checks failed" in section.summary
    assert [one[1:3] for one in section.table.rows] == [(0.25, 0.5), (None, None), (1.5, 1.75)]


def test_numbers_that_moved_are_shown_to_so_many_digits_that_they_differ() -> None:
    moved = replace(row("moved"), reference=3.8684912, now=3.8684973)
    (shown,) = reference_section([moved]).table.shown()
    assert [cell.text for cell in shown[1:3]] == ["3.8684912", "3.8684973"]


@pytest.mark.parametrize(("n", "left"), [(99, 0), (100, 0), (101, 1), (1250, 1150)])
def test_rows_that_the_table_leaves_out_are_counted_and_where_they_are_is_said(n: int, left: int) -> None:
    section = reference_section([row("moved", seed) for seed in range(n)])
    assert len(section.table.rows) == n - left
    words = f"The table leaves out {left} of these; results/comparison.parquet has all."
    assert (words in section.summary) == bool(left)
    assert ("leaves out" in section.summary) == bool(left)


@pytest.mark.parametrize(("decides", "words"), [(True, "each must agree"), (False, "that decides nothing")])
def test_it_says_whether_single_rows_decide(decides: bool, words: str) -> None:
    assert words in reference_section([row("moved", decides=decides)]).summary


def test_a_verdict_that_moved_leads_to_its_claim(build_page: Callable[..., str], drawn: ModuleType) -> None:
    page = drawn.Page(build_page(compared=(WATCHED, FLIPPED), page="index"))
    rows = page.table("This build beside the reference")
    assert [one["outcome"].split()[-1] for one in rows] == ["moved", "moved"]
    assert "claims.html#claim:objectives:a" in page.attribute("href")


@pytest.mark.parametrize("outcome", ["same", "moved", "missing", "new"])
def test_every_outcome_of_a_watched_number_has_its_sign(outcome: ComparisonOutcome) -> None:
    (shown,) = reference_section([replace(WATCHED, outcome=outcome)]).table.rows[0][-1:]
    assert isinstance(shown, Status)
    assert shown.sign
