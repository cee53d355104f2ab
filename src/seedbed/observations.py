"""Observations: the rows of the one table of results.

Evaluations yield observations; statistics and the page read only them. This module defines what a row means, and
knows nothing about files.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: The columns of the table, in order; rows are sorted by the columns before ``value``.
COLUMNS = (
    "study",
    "run",
    "seed",
    "metric",
    "condition",
    "value",
    "text",
    "n",
    "item_error",
    "unit",
    "recipe",
    "fingerprint",
)

Scalar = str | int | float

#: The study of the rows of demonstrations, which belong to no study; their run is the name of the demonstration.
DEMONSTRATIONS = "demonstrations"


@dataclass(frozen=True)
class Observation:
    """One measured value.

    Attributes:
        metric: The name of the measured quantity, such as ``divergence``.
        value: The measured number; NaN if ``text`` is the result.
        condition: The condition of the measurement, such as ``{"distance": 50}``.
        unit: ``nat`` (likelihoods, per token), ``share``, ``count`` and so on.
        n: The number of items that ``value`` is the mean of; None if the metric is not additive.
        item_error: The standard error of that mean over its items.
        text: A result that is text: a token sequence, a shape, the name of an error.
    """

    metric: str
    value: float
    condition: Mapping[str, Scalar] = field(default_factory=dict)
    unit: str = ""
    n: int | None = None
    item_error: float | None = None
    text: str = ""


def condition_text(condition: Mapping[str, Scalar]) -> str:
    """A condition as text for its column: ``key=value`` with keys sorted, joined by ``;``.

    Raises:
        ValueError: a key is empty, or a key or value has ``=`` or ``;``, so it could not be read back.
    """
    parts = []
    for key in sorted(condition):
        value = str(condition[key])
        if set("=;") & set(key + value) or not key:
            raise ValueError(f"condition {key}={value}: neither may hold '=' or ';', and a key may not be empty")
        parts.append(f"{key}={value}")
    return ";".join(parts)


def read_condition(text: str) -> dict[str, Scalar]:
    """The inverse of `condition_text`. A value that looks like a finite number becomes a number."""
    pairs = (part.partition("=") for part in text.split(";") if part)
    return {key: _scalar(value) for key, _, value in pairs}


def _scalar(text: str) -> Scalar:
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if math.isfinite(number) else text
    return text


def mean(
    metric: str,
    values: ArrayLike,
    condition: Mapping[str, Scalar] | None = None,
    unit: str = "",
    clusters: ArrayLike | None = None,
) -> Observation:
    """The mean over items as an observation, with the standard error over items.

    The mean is a total divided once by a count, never a mean of means. A share is not certain even if all items
    are 0, or all are 1: its error is then half of Wilson's interval at one standard error.

    Args:
        metric: The metric's name.
        values: [items], one value for each item.
        condition: The condition of the observation.
        unit: The unit of the values.
        clusters: [items], the id of each item's group (document); items of a group are dependent. The standard
            error is then the linearised one of a ratio over groups. It equals the plain one if every group has one
            item.
    """
    array = np.asarray(values, dtype=np.float64)
    count = array.size
    value = float(array.sum() / count) if count else math.nan
    deviations: NDArray[np.float64] = array - value
    if clusters is not None and count:
        members = np.unique(np.asarray(clusters), return_inverse=True)[1]
        deviations = np.asarray(np.bincount(members, weights=deviations), dtype=np.float64)
    groups = deviations.size
    error = float(np.sqrt((deviations**2).sum() * groups / (groups - 1)) / count) if groups > 1 else math.nan
    if unit == "share" and value in (0.0, 1.0):
        error = 1 / (2 * (groups + 1))
    return Observation(metric, value, dict(condition or {}), unit, count, error)


def rows(observations: Iterable[Observation], **common: Scalar | None) -> list[dict[str, Scalar | None]]:
    """The observations as rows of the table, each with the columns of ``common`` (study, run, seed ...)."""
    return [
        common
        | {
            "metric": one.metric,
            "condition": condition_text(one.condition),
            "value": float(one.value),
            "text": one.text,
            "n": one.n,
            "item_error": one.item_error,
            "unit": one.unit,
        }
        for one in observations
    ]
