"""Bars by the words of a condition: up to the mean, with a dot for each seed, or stacked, with a bar for each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import fmean

from seedbed.reporting.drawing.dots import Dots, Row
from seedbed.reporting.drawing.marks import Mark
from seedbed.reporting.drawing.stacks import KINDS, Stack, StackRow, Stacks
from seedbed.reporting.figures import Panel, PanelGroup, unique
from seedbed.reporting.panels.strips import group, shared_limits
from seedbed.reporting.results import Measure, Results, ShownRun


def bars(
    results: Results,
    measure: Measure,
    over: str,
    runs: Iterable[ShownRun] | None = None,
    mark: Mark | None = None,
    prefix: str = "",
) -> PanelGroup:
    """A measure by the values of a condition: one panel for each run, one row for each value, seeds as dots.

    Args:
        results: The study's results.
        measure: What is shown; its own condition is kept.
        over: The further condition key whose values are the rows.
        runs: The panels; none: every run that has it.
        mark: A value that all rows are read against.
        prefix: Opens the title of each panel.
    """
    places = {str(value): one for (value,), one in results.over(measure, over).items()}
    chosen = results.having(places.values()) if runs is None else tuple(runs)
    return _bars(results, dict.fromkeys(chosen, places), mark, prefix)


def named_bars(results: Results, places: Mapping[str, Measure], mark: Mark | None = None) -> PanelGroup:
    """Measures of one unit under names of their own: one panel for each run, one row for each that the run has."""
    having = {
        run: {label: one for label, one in places.items() if run in results.having([one])}
        for run in results.having(places.values())
    }
    return _bars(results, having, mark, "")


def _bars(
    results: Results, rows: Mapping[ShownRun, Mapping[str, Measure]], mark: Mark | None, prefix: str
) -> PanelGroup:
    """One panel for each run, with a row for each of its measures."""
    measures = unique(one for places in rows.values() for one in places.values())
    limits = _from_zero(shared_limits(results, tuple(rows), measures, mark))
    panels = []
    for run, places in rows.items():
        drawn = tuple(_bar_row(results, run, label, one) for label, one in places.items())
        unit = next((one.unit for one in places.values()), "")
        panels.append(Panel(prefix + run.label, Dots(drawn, unit, mark, limits=limits)))
    return PanelGroup(tuple(panels), tuple(rows), measures)


def stacks(
    results: Results, measure: Measure, over: str, title: str, runs: Iterable[ShownRun] | None = None
) -> PanelGroup:
    """The kinds that make up a whole, such as errors: one row for each run, with a thin bar for each seed.

    The values of the condition are the kinds. If there are more kinds than colours, the smallest ones are drawn as
    one; the table has each.
    """
    places = {str(value): one for (value,), one in results.over(measure, over).items()}
    chosen = results.having(places.values()) if runs is None else tuple(runs)
    kinds = _kinds(results, chosen, places)
    rows = tuple(_stack_row(results, run, kinds) for run in chosen)
    drawing = Stacks(rows, tuple(kinds), measure.unit)
    return PanelGroup((Panel(title, drawing),), chosen, tuple(places.values()))


def _bar_row(results: Results, run: ShownRun, label: str, measure: Measure) -> Row:
    return Row(label, results.note(run, measure), (replace(group(results, run, measure), bar=True),))


def _from_zero(limits: tuple[float, float] | None) -> tuple[float, float] | None:
    return (min(0.0, limits[0]), max(0.0, limits[1])) if limits else None


def _kinds(
    results: Results, runs: Iterable[ShownRun], places: dict[str, Measure]
) -> dict[str, tuple[Measure, ...]]:
    """Each kind's measures, in the order of the values; the smallest ones together if there are too many."""
    if len(places) <= len(KINDS):
        return {label: (one,) for label, one in places.items()}
    sizes = {label: _size(results, runs, one) for label, one in places.items()}
    large = sorted(sizes, key=lambda label: (-sizes[label], label))[: len(KINDS) - 1]
    kept = {label: (one,) for label, one in places.items() if label in large}
    rest = tuple(one for label, one in places.items() if label not in large)
    return {**kept, f"{len(rest)} other kinds": rest}


def _size(results: Results, runs: Iterable[ShownRun], measure: Measure) -> float:
    means = [results.mean(run, measure) or 0.0 for run in runs]
    return fmean(mean if math.isfinite(mean) else 0.0 for mean in means)


def _stack_row(results: Results, run: ShownRun, kinds: dict[str, tuple[Measure, ...]]) -> StackRow:
    seeds = run.seeds if run.kind == "trained" else (None,)
    columns = [[results.values(run, one) for one in measures] for measures in kinds.values()]
    stacks = tuple(
        Stack(seed, tuple(_total(values[seed] for values in column) for column in columns)) for seed in seeds
    )
    measured = sum(any(size is not None for size in stack.sizes) for stack in stacks)
    return StackRow(run.label, f"n = {measured}" if run.kind == "trained" else "reference", stacks)


def _total(sizes: Iterable[float | None]) -> float | None:
    known = [size for size in sizes if size is not None]
    return math.fsum(known) if known else None
