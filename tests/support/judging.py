"""Tables of observations and claims as tests write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seedbed.observations import Row, Scalar, condition_text
from seedbed.statistics.claims import Claim
from seedbed.statistics.observed import ObservationTable
from seedbed.statistics.verdicts import Verdict, verdicts
from seedbed.statistics.verdicts import judge as judgement


def cell(
    run: str,
    values: Sequence[float] | float,
    metric: str = "loss",
    *,
    text: str = "",
    study: str = "garden",
    unit: str = "",
    groups: Sequence[Sequence[float]] = (),
    **condition: Scalar,
) -> list[Row]:
    """The rows of a cell: one a seed for a list, the one of a reference run for a number.

    Shared items are given by [values][groups], see `observations.mean`.
    """
    seeded = list(enumerate(values)) if isinstance(values, Sequence) else [(None, values)]
    common = {"study": study, "run": run, "metric": metric, "condition": condition_text(condition), "text": text}
    common |= {"unit": unit}
    items = groups or [()] * len(seeded)
    return [
        common | {"seed": seed, "value": value, "item_groups": list(each)}
        for (seed, value), each in zip(seeded, items, strict=True)
    ]


def of(run: str, metric: str = "loss", **more: object) -> dict[str, Any]:
    """An operand."""
    return {"study": "garden", "run": run, "metric": metric, **more}


def claim(check: dict[str, Any], **more: object) -> Claim:
    """A claim with this check."""
    return Claim.model_validate({"says": "It is so.", "section": "1", "check": check} | more)


def outcome(check: dict[str, Any], *cells: list[Row]) -> str:
    """The outcome alone, without planning for more seeds."""
    read = claim(check).check
    assert read is not None
    return judgement(read, ObservationTable(row for one in cells for row in one), ()).outcome


def judge(check: dict[str, Any], *cells: list[Row], rebuilt: tuple[str, ...] = ()) -> Verdict:
    """The verdict of one claim over some cells."""
    rows = [row for one in cells for row in one]
    (found,) = verdicts({"lecture:it": claim(check)}, ObservationTable(rows), {}, rebuilt)
    return found
