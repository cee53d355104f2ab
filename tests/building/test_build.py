"""What a build says of the claims at its end."""

from __future__ import annotations

from typing import Any

from seedbed.building.build import _verdict_lines

FEW = "These seeds are too few to confirm it or to contradict it."


def row(outcome: str, **changes: object) -> dict[str, Any]:
    return {"same_as": [], "by_construction": False, "outcome": outcome, "possible": ""} | changes


def test_the_outcomes_that_count_are_told_and_what_the_seeds_are_too_few_for() -> None:
    rows = [row("reproduced"), row("reproduced"), row("undecided", possible=FEW), row("not run", possible=FEW)]
    apart = [row("contradicted", by_construction=True), row("contradicted", same_as=["a:b"])]
    assert list(_verdict_lines([*rows, *apart])) == [
        "Claims: 2 reproduced, 1 undecided.",
        "1 of these ask for a share of more seeds than were built; their rows say what can be decided.",
    ]


def test_without_a_judged_claim_nothing_is_told() -> None:
    assert list(_verdict_lines([row("not run")])) == []
