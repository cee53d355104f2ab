"""Observations: the rows of the one table of results.

Evaluations yield observations; statistics and the page read only them. This module defines what a row means, and
knows nothing about files.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

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
    "item_groups",
    "unit",
    "recipe",
    "fingerprint",
)

Scalar = str | int | float
#: A row of the table, by column.
Row = dict[str, Any]

#: The number of groups that items are dealt into, see `mean`; a power of two.
GROUPS = 16

#: The study of the rows of demonstrations, which belong to no study; their run is the name of the demonstration.
DEMONSTRATIONS = "demonstrations"
#: What verdicts on times are called: they are kept apart, since no other build has the same.
TIMINGS = "timings"


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
        item_groups: How far each group of items moves that mean, see `mean`; empty if every seed draws its own
            items.
        text: A result that is text: a token sequence, a shape, the name of an error.
    """

    metric: str
    value: float
    condition: Mapping[str, Scalar] = field(default_factory=dict)
    unit: str = ""
    n: int | None = None
    item_error: float | None = None
    item_groups: tuple[float, ...] = ()
    text: str = ""


def condition_text(condition: Mapping[str, Scalar]) -> str:
    """A condition as text for its column: ``key=value`` with keys sorted, joined by ``;``.

    A number has one form only, so 1.0 is the same as 1.

    Raises:
        ValueError: a key is empty; a key or value has ``=`` or ``;``; or a word would be read back as a number of
            another form, as ``07`` would.
    """
    parts = []
    for key in sorted(condition):
        value = _text(condition[key])
        if isinstance(condition[key], str) and value != _text(_scalar(value)):
            raise ValueError(f"condition {key}={value}: it would be read as the number {_text(_scalar(value))}")
        if set("=;") & set(key + value) or not key:
            raise ValueError(f"condition {key}={value}: neither may hold '=' or ';', and a key may not be empty")
        parts.append(f"{key}={value}")
    return ";".join(parts)


def _text(value: Scalar) -> str:
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value)


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
    shared: bool = True,
) -> Observation:
    """The mean over items as an observation, with the standard error over items.

    The mean is a total divided once by a count, never a mean of means. A share is not certain even if all items
    are 0, or all are 1: its error is then half of Wilson's interval at one standard error.

    Shared items are dealt into random groups (Wolter 2007, chapter 2), each with the sum of its items' deviations
    from the mean, divided by the number of items. Two observations on the same items have the same groups, so the
    item error of their difference follows from the differences of their groups.

    Args:
        metric: The metric's name.
        values: [items], one value for each item.
        condition: The condition of the observation.
        unit: The unit of the values.
        clusters: [items], the number of each item's cluster (document); items of a cluster are dependent. The
            standard error is then the linearised one of a ratio over clusters. It equals the plain one if every
            cluster has one item.
        shared: Whether the items are the same for all seeds and all runs, in the same order or with the same
            numbers of clusters. If every seed draws its own, the spread over seeds has their error already.
    """
    array = np.asarray(values, dtype=np.float64)
    count = array.size
    value = float(array.sum() / count) if count else math.nan
    known, members = np.unique(np.arange(count) if clusters is None else np.asarray(clusters), return_inverse=True)
    size = known.size
    deviations = np.bincount(members, weights=array - value).astype(np.float64) if count else array
    error = float(np.sqrt((deviations**2).sum() * size / (size - 1)) / count) if size > 1 else math.nan
    if unit == "share" and value in (0.0, 1.0):
        error = 1 / (2 * (size + 1))
    groups: tuple[float, ...] = ()
    if shared and size > 1:
        groups = _short(np.bincount(_group(known), weights=deviations, minlength=GROUPS) / count)
    return Observation(metric, value, dict(condition or {}), unit, count, error, groups)


def _short(values: NDArray[np.float64]) -> tuple[float, ...]:
    """The values with 8 significant bits: enough for an error, and a third of the space in a file."""
    bits = values.astype(np.float32).view(np.uint32) + np.uint32(1 << 15)
    return tuple((bits & np.uint32(0xFFFF0000)).view(np.float32).tolist())


def _group(clusters: NDArray[np.int64]) -> NDArray[np.int64]:
    """[clusters], the group of each: a multiplicative hash, which fills all groups with even numbers alone too."""
    return np.asarray((clusters.astype(np.uint64) * 0x9E3779B1 % 2**32) * GROUPS // 2**32, dtype=np.int64)


def rows(observations: Iterable[Observation], **common: Scalar | None) -> list[Row]:
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
            "item_groups": list(one.item_groups),
            "unit": one.unit,
        }
        for one in observations
    ]
