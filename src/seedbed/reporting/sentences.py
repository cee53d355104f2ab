"""Numbers for the sentences of figures and for their lines of reference: looked up, never typed."""

from __future__ import annotations

import math
from collections.abc import Iterable

from seedbed.reporting.drawing.marks import Mark
from seedbed.reporting.numbers import number, spread
from seedbed.reporting.results import Measure, Results, ShownRun, finite


def common(results: Results, measure: Measure) -> float | None:
    """A measure that is the same for all runs, since it belongs to the test set: the first measured value."""
    for run in results.study.runs:
        for value in finite(results.values(run, measure)):
            return value
    return None


def of_reference(results: Results, name: str, measure: Measure) -> float | None:
    """A measure of the reference run of that name."""
    run = results.run(name)
    return results.values(run, measure).get(None) if run else None


def mark(value: float | None, unit: str, words: str, key: str = "") -> Mark | None:
    """A line at a value, labelled by words and the number; the key says ``key``, or else the words."""
    return None if value is None else Mark(value, f"{words} {number(value, unit)}", key or words)


def exact_floor(results: Results, measure: Measure) -> Mark | None:
    """The line of what the language itself scores on the test set."""
    return mark(common(results, measure), measure.unit, "exact floor")


def lowest(results: Results, run: ShownRun, measures: Iterable[Measure]) -> dict[int | None, float]:
    """The lowest of several measures by seed, of the seeds that have a finite number of each of them."""
    columns = [results.values(run, one) for one in measures]
    rows = {seed: finite(dict(enumerate(column[seed] for column in columns))) for seed in run.seeds}
    return {seed: min(row) for seed, row in rows.items() if row and len(row) == len(columns)}


def means(results: Results, measure: Measure, runs: Iterable[ShownRun] | None = None) -> str:
    """The range of the means of runs, of all trained ones where none are given."""
    chosen = results.trained if runs is None else runs
    return spread((results.mean(run, measure) for run in chosen), measure.unit)


def lowest_and_highest(results: Results, measure: Measure, runs: Iterable[ShownRun]) -> str:
    """The same with the runs that they belong to; nothing where no mean is finite."""
    found = {run.label: results.interval(run, measure).mean for run in runs}
    known = sorted((mean, label) for label, mean in found.items() if math.isfinite(mean))
    ends = dict.fromkeys(f"{number(mean, measure.unit)} ({label})" for mean, label in [*known[:1], *known[-1:]])
    return " to ".join(ends)
