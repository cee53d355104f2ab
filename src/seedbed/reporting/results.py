"""What a page reads: the studies that it shows, and the observations by run, seed and measure.

Only planned seeds are looked up: one that was taken out of the configuration is never averaged in, and the value
of one that is missing from the table is None, not NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd

from seedbed.observations import DEMONSTRATIONS, Scalar, condition_text, read_condition
from seedbed.reporting.numbers import brackets, number
from seedbed.statistics.estimates import Mean
from seedbed.statistics.intervals import Interval, scale_of
from seedbed.statistics.observed import WITHOUT_WEIGHTS, canonical, independent_items


@dataclass(frozen=True)
class ShownRun:
    """A run as a page shows it.

    Attributes:
        name: Its name in the table.
        label: Its name in words.
        kind: Whether it is trained, or a reference that needs no training and has no seed.
        seeds: The planned seeds; none for a reference.
    """

    name: str
    label: str
    kind: Literal["trained", "reference"] = "trained"
    seeds: tuple[int, ...] = ()


@dataclass(frozen=True)
class ShownStudy:
    """A study as a page shows it.

    Attributes:
        name: Its name in the table; its figures are declared in ``reporting/studies/NAME.py``.
        title: Its title.
        lead: The paragraph that opens its section; ``[[word]]`` links the glossary.
        language: The name of its language or task.
        rebuilt: Whether that language is a reconstruction, which the page says.
        runs: Its runs, in the order of the page.
        full: Whether this build has all its runs and seeds; a partial one is marked as no evidence.
    """

    name: str
    title: str
    lead: str
    language: str
    rebuilt: bool
    runs: tuple[ShownRun, ...]
    full: bool = True


@dataclass(frozen=True)
class ShownDemonstration:
    """A demonstration as a page shows it: numbers that need no training and belong to no run.

    Attributes:
        name: Its name, which its rows have in the column ``run``.
        title: Its title, a question.
        lead: The paragraph below the title; ``[[word]]`` links the glossary.
        seeds: The numbers of its independent streams; none where it is exact.
        pages: The pages that show it.
    """

    name: str
    title: str
    lead: str
    seeds: tuple[int, ...] = ()
    pages: tuple[str, ...] = ()


_COLUMNS = ["run", "seed", "metric", "condition", "value", "n", "item_error", "unit", "text", "item_groups"]


@dataclass(frozen=True)
class Measure:
    """A number of a run that a page shows.

    Attributes:
        key: Its name in tables for machines.
        label: Its name in words.
        metric: The metric that it reads.
        unit: How `numbers.number` writes it.
        condition: The condition of the observation.
        exponentiated: Whether it is shown as exp of the metric: a perplexity, whose interval is computed on nats.
        training: Whether it is about training, so that reference runs do not have it.
    """

    key: str
    label: str
    metric: str
    unit: str
    condition: Mapping[str, Scalar] = field(default_factory=dict)
    exponentiated: bool = False
    training: bool = False

    def at(self, condition: Mapping[str, Scalar]) -> Measure:
        """The same under a further condition, which its key and its label name."""
        words = condition_words(condition)
        return replace(
            self,
            key=f"{self.key}({condition_text(condition)})" if condition else self.key,
            label=f"{self.label}, {words}" if words else self.label,
            condition={**self.condition, **condition},
        )

    @cached_property
    def place(self) -> tuple[str, str]:
        """Its metric and condition as the table has them."""
        return self.metric, condition_text(self.condition)

    def scaled(self, value: float | None) -> float | None:
        """The metric's value on the scale that is shown."""
        if value is None or not self.exponentiated:
            return value
        with np.errstate(over="ignore"):
            return float(np.exp(value))


@dataclass(frozen=True)
class Reading:
    """The part of an observation that the page reads."""

    value: float
    n: int | None
    item_error: float | None
    unit: str
    text: str = ""
    item_groups: tuple[float, ...] = ()


@dataclass(frozen=True)
class Lookup:
    """What a figure looked up: a metric, the words and keys of its condition, and the unit it is shown in."""

    metric: str
    condition: str
    keys: tuple[str, ...]
    unit: str


class Lookups:
    """What the figures of a study look up, so that a name that nothing has is found before a build."""

    def __init__(self) -> None:
        """Nothing was looked up yet."""
        self._open: dict[Lookup | str, None] = {}
        self.figures: dict[str, tuple[Lookup | str, ...]] = {}

    def add(self, lookup: Lookup | str) -> None:
        """Note a measure, or the name of a run."""
        self._open[lookup] = None

    def assign(self, figure: str) -> None:
        """What was looked up since the last call belongs to this figure."""
        self.figures[figure] = (*self.figures.get(figure, ()), *self._open)
        self._open = {}


class Results:
    """One study's observations, looked up by run, seed and measure.

    Attributes:
        study: The study.
        lookups: What was looked up so far.

    Raises:
        ValueError: the table has two observations of one run, seed, metric and condition.
    """

    def __init__(self, observations: pd.DataFrame, study: ShownStudy) -> None:
        """Index the rows of ``study``; those of demonstrations are kept for `of_demonstration`."""
        self.study = study
        self.lookups = Lookups()
        self.demonstrations: dict[tuple[str, str, tuple[tuple[str, str], ...]], Results] = {}
        self._demonstrated = observations.loc[observations["study"] == DEMONSTRATIONS]
        self._readings: dict[tuple[str, int | None, str, str], Reading] = {}
        chosen = observations.loc[observations["study"] == study.name, _COLUMNS]
        for run, seed, metric, condition, *reading in chosen.itertuples(index=False, name=None):
            key = (str(run), _integer(seed), str(metric), canonical(str(condition)))
            if key in self._readings:
                raise ValueError(f"study {study.name}: two observations of run, seed, metric, condition = {key}")
            self._readings[key] = _reading(*reading)
        self._metrics = self._planned()

    def of_demonstration(self, name: str, over: str, labels: Mapping[str, str]) -> Results:
        """The observations of a demonstration as those of a study, so that a figure of this study can show them.

        Args:
            name: The demonstration.
            over: The condition key whose values are taken for the runs; rows without it are left out.
            labels: The value of that key → what the page calls it, in the order of the page; others follow.
        """
        key = (name, over, tuple(labels.items()))
        if key not in self.demonstrations:
            rows = self._demonstrated[self._demonstrated["run"] == name]
            rows = rows[rows["condition"].map(lambda one: over in read_condition(one)).astype(bool)]
            conditions = [dict(read_condition(one)) for one in rows["condition"]]
            values = [str(one.pop(over)) for one in conditions]
            known = dict.fromkeys([*(one for one in labels if one in values), *values])
            seeds = tuple(sorted({int(seed) for seed in rows["seed"] if not pd.isna(seed)}))
            kind: Literal["trained", "reference"] = "trained" if seeds else "reference"
            runs = tuple(ShownRun(one, labels.get(one, one), kind, seeds) for one in known)
            own = {"study": self.study.name, "run": values, "condition": list(map(condition_text, conditions))}
            self.demonstrations[key] = Results(rows.assign(**own), replace(self.study, runs=runs))
        return self.demonstrations[key]

    def _planned(self) -> dict[str, dict[str, str]]:
        """Metric → condition → unit, of the planned cells, in the order of the page."""
        planned = {(run.name, seed) for run in self.study.runs for seed in run.seeds or (None,)}
        found: dict[str, dict[str, str]] = {}
        for (run, seed, metric, condition), cell in sorted(self._readings.items(), key=_place):
            if (run, seed) in planned:
                found.setdefault(metric, {}).setdefault(condition, cell.unit)
        return found

    @property
    def trained(self) -> tuple[ShownRun, ...]:
        """The runs that were trained."""
        return trained(self.study.runs)

    @property
    def references(self) -> tuple[ShownRun, ...]:
        """The runs without training."""
        return tuple(run for run in self.study.runs if run.kind == "reference")

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric that was measured, by name."""
        return tuple(self._metrics)

    def measures(self, metric: str) -> tuple[Measure, ...]:
        """A metric under every condition that it was measured under; numbers among these sort as numbers."""
        plain = Measure(metric, metric.replace("_", " "), metric, "")
        found = self._metrics.get(metric, {}).items()
        return tuple(replace(plain, unit=unit).at(read_condition(condition)) for condition, unit in found)

    def over(self, measure: Measure, *keys: str) -> dict[tuple[Scalar, ...], Measure]:
        """The values of further condition keys → the measure there, for all that was measured."""
        self.lookups.add(Lookup(*measure.place, keys, measure.unit))
        found = {}
        for one in self.measures(measure.metric):
            rest = {key: value for key, value in one.condition.items() if key not in measure.condition}
            if set(rest) == set(keys) and measure.condition.items() <= one.condition.items():
                found[tuple(rest[key] for key in keys)] = measure.at(rest)
        return found

    def having(self, measures: Iterable[Measure]) -> tuple[ShownRun, ...]:
        """The runs that have at least one of the measures, in the order of the page."""
        known = tuple(measures)
        return tuple(
            run
            for run in self.study.runs
            if any(cell for one in known for cell in self.readings(run, one).values())
        )

    def run(self, name: str) -> ShownRun | None:
        """The run of that name, if it is part of this build."""
        self.lookups.add(name)
        return next((run for run in self.study.runs if run.name == name), None)

    def named(self, names: Iterable[str]) -> tuple[ShownRun, ...]:
        """The runs of these names that a build has, in this order."""
        return tuple(run for name in names if (run := self.run(name)))

    def readings(self, run: ShownRun, measure: Measure) -> dict[int | None, Reading | None]:
        """The reading of each planned seed (none for a reference), or none where nothing was measured."""
        seeds = run.seeds if run.kind == "trained" else (None,)
        self.lookups.add(Lookup(*measure.place, (), measure.unit))
        return {seed: self._readings.get((run.name, seed, *measure.place)) for seed in seeds}

    def values(self, run: ShownRun, measure: Measure) -> dict[int | None, float | None]:
        """The value of each planned seed on the scale that is shown; none where nothing was measured."""
        return {
            seed: measure.scaled(cell.value if cell else None)
            for seed, cell in self.readings(run, measure).items()
        }

    def interval(self, run: ShownRun, measure: Measure) -> Interval:
        """The 95 % interval over the measured seeds and the items that they share, as verdicts have it.

        One seed has none.
        """
        found = self.estimate(run, measure)
        return found.interval(0.95) if found else Interval(math.nan, math.nan, math.nan, 0)

    def estimate(self, run: ShownRun, measure: Measure) -> Mean | None:
        """The mean over the measured seeds with its two sources of noise; none without a measured seed."""
        found = {seed: cell for seed, cell in self.readings(run, measure).items() if cell}
        if not found:
            return None
        lost = set() if measure.metric in WITHOUT_WEIGHTS else self.diverged(run)
        values = [math.nan if seed in lost else cell.value for seed, cell in found.items()]
        cells = list(found.values())
        groups = [cell.item_groups for cell in cells]
        return Mean.of(
            values,
            scale="perplexity" if measure.exponentiated else scale_of(cells[0].unit, values),
            groups=groups if all(groups) else (),
            independent=min(independent_items(cell.n, cell.item_error) for cell in cells),
        )

    def mean(self, run: ShownRun, measure: Measure) -> float | None:
        """The mean over the measured seeds, or none without one."""
        interval = self.interval(run, measure)
        return interval.mean if interval.n else None

    def diverged(self, run: ShownRun) -> set[int | None]:
        """The seeds whose training diverged."""
        return {seed for seed, value in self.values(run, DIVERGED).items() if value}

    def note(self, run: ShownRun, measure: Measure) -> str:
        """The measure in a few words: ``3.868 [3.842, 3.894], n = 5``, or what is wrong with it."""
        interval = self.interval(run, measure)
        mean = number(self.mean(run, measure), measure.unit)
        if run.kind == "reference" or not interval.n:
            return mean
        if interval.n == 1:
            return f"{mean} {brackets(interval, measure.unit)}"
        planned = f" of {len(run.seeds)}" if interval.n < len(run.seeds) else ""
        diverged = len(self.diverged(run))
        parts = [f"{mean} {brackets(interval, measure.unit)}" if interval.defined else "a seed is non-finite"]
        parts += [f"n = {interval.n}{planned}"] + [f"{diverged} diverged"] * bool(diverged)
        return ", ".join(parts)


#: Metrics that every trained run has, whatever its study.
PARAMETERS = Measure("parameters", "parameters", "parameters", "count", training=True)
TOKENS = Measure("tokens", "scored tokens", "tokens", "count", training=True)
BEST_EPOCH = Measure("best_epoch", "best epoch", "best_epoch", "count", training=True)
DIVERGED = Measure("diverged", "diverged", "diverged", "count", training=True)


def trained(runs: Iterable[ShownRun]) -> tuple[ShownRun, ...]:
    """Those of the runs that were trained."""
    return tuple(run for run in runs if run.kind == "trained")


def finite(values: Mapping[int | None, float | None]) -> list[float]:
    """The values that are numbers."""
    return [value for value in values.values() if value is not None and math.isfinite(value)]


def condition_words(condition: Mapping[str, Scalar]) -> str:
    """A condition in words: ``distance 50, layer 2``."""
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in sorted(condition.items()))


def rank(value: Scalar) -> tuple[bool, float, str]:
    """What a condition's value sorts by: numbers first, by size."""
    return (True, 0.0, value) if isinstance(value, str) else (False, float(value), "")


def _place(item: tuple[tuple[str, int | None, str, str], Reading]) -> tuple[object, ...]:
    (run, seed, metric, condition), _ = item
    read = read_condition(condition)
    return (metric, [(key, rank(read[key])) for key in sorted(read)], run, -1 if seed is None else seed)


def _reading(
    value: float, n: object, error: object, unit: object, text: object, groups: Iterable[float] | None
) -> Reading:
    known = None if pd.isna(error) else float(error)  # type: ignore[call-overload, arg-type]
    words = "" if pd.isna(text) else str(text)  # type: ignore[call-overload]
    return Reading(float(value), _integer(n), known, str(unit), words, () if groups is None else tuple(groups))


def _integer(value: object) -> int | None:
    return None if pd.isna(value) else int(value)  # type: ignore[call-overload]
