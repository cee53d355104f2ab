"""Numbers that no honest run can have: nothing predicts a language better than the language itself.

A run below such a floor, by more than chance allows, has seen what it is asked for, or is measured wrongly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real

from seedbed.observations import Scalar

Row = Mapping[str, Scalar | None]

#: Metrics and conditions whose true value is at least 0: a loss less the language's own on the same items, and a
#: divergence. In a part of the test set that is chosen by what comes next, such as ``sentences=withheld``, an
#: excess may be below 0, so these are not among them.
_EXCESS = {("excess", "sentences=all"), ("continuation_excess", "")}
_DIVERGENCES = ("divergence", "cloze_divergence")

#: An excess is a mean over items: below 0 by more than so many of its standard errors happens once in three
#: million measurements.
_ERRORS = 5.0
#: Rounding of a divergence, which is a sum over the vocabulary of exact differences.
_ROUNDING = 1e-5


@dataclass(frozen=True)
class Below:
    """A number below its floor of 0.

    Attributes:
        study: The study.
        run: The run.
        seed: The seed; none of a reference run.
        metric: The metric.
        condition: The condition, as text.
        value: The number.
        allowed: The least that chance or rounding allows.
    """

    study: str
    run: str
    seed: int | None
    metric: str
    condition: str
    value: float
    allowed: float

    @property
    def words(self) -> str:
        """It in words."""
        seed = "" if self.seed is None else f", seed {self.seed}"
        where = f" ({self.condition})" if self.condition else ""
        return (
            f"{self.run}{seed}: {self.metric}{where} is {self.value:.4g}, below 0 by more than chance allows "
            f"({self.allowed:.2g})"
        )


def below(rows: Iterable[Row]) -> list[Below]:
    """The rows of the table of observations that no honest run can have."""
    found = []
    for row in rows:
        value, allowed = _number(row["value"]), _least(row)
        if value < allowed:
            seed = int(row["seed"]) if isinstance(row["seed"], Integral) else None
            place = (str(row["study"]), str(row["run"]), seed, str(row["metric"]), str(row["condition"]))
            found.append(Below(*place, value, allowed))
    return found


def _least(row: Row) -> float:
    """The least that a row may hold."""
    metric, condition = str(row["metric"]), str(row["condition"])
    if metric in _DIVERGENCES:
        return -_ROUNDING
    if (metric, condition) not in _EXCESS:
        return -math.inf
    if row["item_error"] is None:
        return -_ROUNDING
    error = _number(row["item_error"])  # not known of a single document, which chance may put anywhere
    return -max(_ROUNDING, _ERRORS * error) if math.isfinite(error) else -math.inf


def _number(value: Scalar | None) -> float:
    return float(value) if isinstance(value, Real) else math.nan
