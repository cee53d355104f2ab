"""Differences between runs compared with those between seeds: what a change of structure is worth.

Runs are compared seed by seed, since a seed has the same corpus and order in all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from seedbed.reporting.drawing.dots import Dots, Group, Row, Span
from seedbed.reporting.drawing.marks import ZERO, Shading
from seedbed.reporting.figures import Figure, Panel
from seedbed.reporting.numbers import NON_FINITE, NOT_MEASURED, brackets, number
from seedbed.reporting.results import Measure, Reading, Results, ShownRun, finite
from seedbed.reporting.summaries import shown_deviation
from seedbed.reporting.tables import Column, Table, Value
from seedbed.statistics.estimates import Mean
from seedbed.statistics.intervals import Interval


def chance(results: Results, runs: Sequence[ShownRun], perplexity: Measure, excess: Measure) -> Figure:
    """Differences in perplexity from the first run, those between its seeds, and the error of one test set."""
    compared = AgainstFirst(results, runs, perplexity)
    panels = (
        Panel("Difference in perplexity, seed by seed", compared.panel()),
        Panel("Excess about its mean, nats a token", Dots(_noise_rows(results, runs, excess), "nat", ZERO)),
    )
    table = _table(compared, excess)
    results.lookups.assign("figure chance")
    return Figure(
        name="chance",
        question="Does changing the architecture matter more than changing the seed?",
        answer=f"{compared.words()} Another [[seed]] has another corpus, initialisation and order. Runs are "
        "compared seed by seed, with the same corpus and order, so much of the noise cancels. An interval that "
        "does not contain 0 shows a difference. These are 95 % intervals, not corrected for multiple comparisons. "
        "All runs share one test set, and another test set would move them together; the [[excess]] subtracts the "
        "language’s own loss, which removes most of this.",
        panels=panels,
        table=table,
        measures=(excess,),
    )


class AgainstFirst:
    """Runs of a study, each beside the first of them."""

    def __init__(self, results: Results, runs: Sequence[ShownRun], measure: Measure) -> None:
        """Compare ``runs`` by ``measure``."""
        self.results, self.runs, self.measure = results, runs, measure

    def panel(self) -> Dots:
        """The first run's seeds about their mean, and every other run's differences from it."""
        if not self.runs:
            return Dots((), self.measure.unit)
        base = self.runs[0]
        moved = _about_mean(self.results, base, self.measure)
        known = finite(moved)
        sd = shown_deviation(known)
        group = Group(moved, spans=_about_zero(sd, "deviation"), crossed=frozenset(self.results.diverged(base)))
        first = Row(f"{base.label}, seeds", f"sd {_size(sd, self.measure.unit)}, n = {len(known)}", (group,))
        band = Shading(min(known), max(known), "range of the first run’s seeds") if len(known) > 1 else None
        return Dots((first, *(self._row(run) for run in self.runs[1:])), self.measure.unit, ZERO, band)

    def words(self) -> str:
        """How far the first run's seeds lie apart, and how many mean differences exceed that."""
        values = finite(self.results.values(self.runs[0], self.measure)) if self.runs else []
        if len(values) < 2:
            return "One seed says nothing about this."
        apart = max(values) - min(values)
        means = [self._interval(run).mean for run in self.runs[1:]]
        more = sum(abs(mean) > apart for mean in means if math.isfinite(mean))
        return (
            f"{more} of the {len(means)} other runs differ from {self.runs[0].label} by more than its own seeds "
            f"differ from each other: its {len(values)} seeds span a perplexity of "
            f"{number(apart, self.measure.unit)}, the shaded band."
        )

    def difference(self, run: ShownRun) -> dict[int | None, float | None]:
        """The run less the first one, on the seeds that both have; none where one of them was not measured."""
        own, base = (self.results.values(one, self.measure) for one in (run, self.runs[0]))
        pairs = {seed: (own[seed], base[seed]) for seed in own if seed in base}
        return {seed: None if a is None or b is None else a - b for seed, (a, b) in pairs.items()}

    def _interval(self, run: ShownRun) -> Interval:
        values = [value for value in self.difference(run).values() if value is not None]
        if not values:
            return Interval(math.nan, math.nan, math.nan, 0)
        return Mean.of(values, groups=self._groups(run)).interval(0.95)

    def _groups(self, run: ShownRun) -> list[NDArray[np.float64]]:
        """[seeds][groups], how far the groups of shared items move the difference of each seed; empty without."""
        own, base = (self.results.readings(one, self.measure) for one in (run, self.runs[0]))
        pairs = [(own[seed], base[seed]) for seed in own if seed in base]
        return [self._linear(a) - self._linear(b) for a, b in pairs if a and b and a.item_groups and b.item_groups]

    def _linear(self, cell: Reading) -> NDArray[np.float64]:
        factor = math.exp(cell.value) if self.measure.exponentiated else 1.0
        return factor * np.array(cell.item_groups)

    def _row(self, run: ShownRun) -> Row:
        interval, unit = self._interval(run), self.measure.unit
        note = f"{number(interval.mean, unit)} {brackets(interval, unit)}, n = {interval.n}"
        spans = (Span(interval.low, interval.high),)
        crossed = frozenset(self.results.diverged(run))
        group = Group(self.difference(run), interval.mean, spans, crossed=crossed)
        return Row(run.label, note if interval.n else NOT_MEASURED, (group,))


def _about_mean(results: Results, run: ShownRun, measure: Measure) -> dict[int | None, float | None]:
    mean = results.mean(run, measure)
    values = results.values(run, measure)
    return {seed: None if v is None or mean is None else v - mean for seed, v in values.items()}


def _noise_rows(results: Results, runs: Sequence[ShownRun], measure: Measure) -> tuple[Row, ...]:
    return tuple(_noise_row(results, run, measure) for run in runs)


def _noise_row(results: Results, run: ShownRun, measure: Measure) -> Row:
    """Seeds about their mean, with one standard deviation of the seeds and one standard error of the test set."""
    sd, error = _noise(results, run, measure)
    spans = (*_about_zero(sd, "deviation"), *_about_zero(error, "items"))
    group = Group(_about_mean(results, run, measure), spans=spans, crossed=frozenset(results.diverged(run)))
    return Row(run.label, f"seeds {_size(sd, measure.unit)}, test set {_size(error, measure.unit)}", (group,))


def _noise(results: Results, run: ShownRun, measure: Measure) -> tuple[Value, Value]:
    """The standard deviation over seeds, and the mean standard error over the items of the test set."""
    cells = [cell for cell in results.readings(run, measure).values() if cell]
    errors = [cell.item_error for cell in cells if cell.item_error is not None]
    return shown_deviation([cell.value for cell in cells]), fmean(errors) if errors else None


def _about_zero(size: Value, kind: Literal["deviation", "items"]) -> tuple[Span, ...]:
    return (Span(-size, size, kind),) if isinstance(size, float) else ()


def _size(size: Value, unit: str) -> str:
    if isinstance(size, float):
        return f"±{number(size, unit)}" if math.isfinite(size) else NON_FINITE
    return NOT_MEASURED if size is None else str(size)


def _table(compared: AgainstFirst, excess: Measure) -> Table:
    columns = (
        Column("run", "run"),
        Column("seed", "seed", "count"),
        Column("perplexity", "perplexity", "perplexity"),
        Column("difference", "difference from the first run", "perplexity"),
        Column("excess", "excess", "nat"),
        Column("sd", "sd of the excess over seeds", "nat"),
        Column("item_error", "standard error of the test set", "nat"),
    )
    rows = tuple(row for run in compared.runs for row in _table_rows(compared, run, excess))
    return Table(f"{compared.results.study.name}-chance", columns, rows)


def _table_rows(compared: AgainstFirst, run: ShownRun, excess: Measure) -> Iterator[tuple[Value, ...]]:
    results = compared.results
    differences, (sd, _) = compared.difference(run), _noise(results, run, excess)
    values = results.values(run, compared.measure)
    for seed, cell in results.readings(run, excess).items():
        found = (cell.value, cell.item_error) if cell else (None, None)
        yield (run.name, seed, values[seed], differences.get(seed), found[0], sd, found[1])
