"""Impossible numbers: nothing predicts a language better than the language itself.

A run that is below this exact floor by more than chance allows has seen the answers, or is measured wrongly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real

from seedbed.observations import Scalar

Row = Mapping[str, Scalar | None]

#: Metrics and conditions whose true value is at least 0: the excess of a loss over that of the language itself on
#: the same items. A part of the test set that is chosen by what comes next, such as ``sentences=withheld``, may
#: have an excess below 0, so it is not listed.
_EXCESS = {("excess", "sentences=all"), ("continuation_excess", "")}
#: Metrics that are divergences, at least 0 under every condition.
_DIVERGENCES = ("divergence", "cloze_divergence")

#: An excess is a mean over items. By chance it is below 0 by more than this number of its standard errors once in
#: three million measurements.
_ERRORS = 5.0
#: The rounding error of a divergence, a sum of exact differences over the vocabulary.
_ROUNDING = 1e-5


@dataclass(frozen=True)
class FloorViolation:
    """A number below its floor of 0.

    Attributes:
        study: The study.
        run: The run.
        seed: The seed; None for a reference run.
        metric: The metric.
        condition: The condition, as text.
        value: The number.
        allowed: The least value that chance or rounding allows.
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
        """The violation in words."""
        seed = "" if self.seed is None else f", seed {self.seed}"
        where = f" ({self.condition})" if self.condition else ""
        return (
            f"{self.run}{seed}: {self.metric}{where} is {self.value:.4g}, below 0 by more than chance allows "
            f"({self.allowed:.2g})"
        )


def floor_violations(rows: Iterable[Row]) -> list[FloorViolation]:
    """The rows of the table of observations that are below their floor."""
    found = []
    for row in rows:
        value, allowed = _number(row["value"]), _least_allowed(row)
        if value < allowed:
            seed = int(row["seed"]) if isinstance(row["seed"], Integral) else None
            place = (str(row["study"]), str(row["run"]), seed, str(row["metric"]), str(row["condition"]))
            found.append(FloorViolation(*place, value, allowed))
    return found


def _least_allowed(row: Row) -> float:
    """The least value that chance or rounding allows in a row; minus infinity without a floor."""
    metric, condition = str(row["metric"]), str(row["condition"])
    if metric in _DIVERGENCES:
        return -_ROUNDING
    if (metric, condition) not in _EXCESS:
        return -math.inf
    if row["item_error"] is None:
        return -_ROUNDING
    error = _number(row["item_error"])  # NaN for a single document, whose value chance may put anywhere
    return -max(_ROUNDING, _ERRORS * error) if math.isfinite(error) else -math.inf


def _number(value: Scalar | None) -> float:
    return float(value) if isinstance(value, Real) else math.nan
