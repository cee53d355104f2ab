"""The comparison with the reference on a page: a sentence, and a table of what moved or is watched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seedbed.reporting.tables import CLAIMS, Column, Link, Links, Status, Table, Value, address
from seedbed.statistics.comparison import ComparedItem

#: On another processor many rows move and decide nothing; the page shows some of them.
_MOST = 100


@dataclass(frozen=True)
class ReferenceSection:
    """What the page says of the reference; texts may hold ``[[word]]``."""

    summary: str
    table: Table


def reference_section(compared: Sequence[ComparedItem]) -> ReferenceSection:
    """The comparison as a page shows it: watched numbers and verdicts that moved, then rows that moved."""
    watched = [one for one in compared if one.tier == "watched"]
    verdicts = [one for one in compared if one.tier == "verdict" and one.failed]
    rows = [one for one in compared if one.tier == "row" and one.outcome in ("moved", "missing")]
    columns = (
        Column("what", "what"),
        Column("reference", "reference", "row"),
        Column("now", "this build", "row"),
        Column("low", "expected from", "row"),
        Column("high", "to", "row"),
        Column("outcome", "outcome"),
    )
    shown = [*watched, *verdicts, *rows[:_MOST]]
    # Numbers that moved may differ from the seventh digit on; to fewer they would read as the same.
    units = tuple("nine digits" if one.outcome == "moved" else "" for one in shown)
    table = Table("reference", columns, tuple(map(_row, shown)), units)
    return ReferenceSection(_summary(compared, rows), table)


def _summary(compared: Sequence[ComparedItem], moved: Sequence[ComparedItem]) -> str:
    if not compared:
        return (
            "This build is not compared with a [[reference]]. A quick build never is; any other build is, if its "
            "studies have one."
        )
    same = sum(one.tier == "row" and one.outcome == "same" for one in compared)
    strict = any(one.decides for one in compared if one.tier == "row")
    rule = (
        "libraries and processor are those of the reference, so each must agree"
        if strict
        else "libraries or processor differ from those of the reference, so that decides nothing"
    )
    failed = sum(one.failed for one in compared)
    outcome = f"{failed} of the deciding checks failed" if failed else "no deciding check failed"
    words = (
        f"Compared with the [[reference]], {outcome}. Of the observations with the same recipe and seed, {same} "
        f"are the same to a millionth and {len(moved)} are not: {rule}."
    )
    left = len(moved) - _MOST
    if left <= 0:
        return words
    return f"{words} The table leaves out {left} of these; results/comparison.parquet has all."


def _row(one: ComparedItem) -> tuple[Value, ...]:
    if one.tier == "verdict":
        link = Link(f"{one.metric}: {one.text}", address(CLAIMS, "claim", *one.metric.split(":", 1)))
        return Links((link,)), None, None, None, None, Status(one.outcome)
    return one.place, one.reference, one.now, one.low, one.high, Status(one.outcome)
