"""Rows of dots: a row for each run, a dot for each seed, the mean and its interval below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product

from seedbed.reporting.drawing.dots import Dots, Group, Row, Span
from seedbed.reporting.drawing.marks import Mark, Shading
from seedbed.reporting.figures import Panel, PanelGroup
from seedbed.reporting.numbers import number
from seedbed.reporting.results import Measure, Results, ShownRun, finite


def strip(
    results: Results,
    measure: Measure,
    title: str = "",
    runs: Iterable[ShownRun] | None = None,
    mark: Mark | None = None,
    band: Shading | None = None,
    limits: tuple[float, float] | None = None,
) -> PanelGroup:
    """One measure, with a row for each run.

    Args:
        results: The study's results.
        measure: What is shown.
        title: The title of the panel; the measure's label if it is empty.
        runs: The rows; none: every run that has it.
        mark: A value that all rows are read against.
        band: A shaded range.
        limits: The ends of the axis, such as `trained_limits`.
    """
    chosen = results.having([measure]) if runs is None else tuple(runs)
    rows = tuple(measured_row(results, run, measure) for run in chosen)
    drawing = Dots(rows, measure.unit, mark, band, limits)
    return PanelGroup((Panel(title or measure.label, drawing),), chosen, (measure,))


def matrix(results: Results, measures: Sequence[Measure], runs: Iterable[ShownRun] | None = None) -> PanelGroup:
    """Several measures of one unit, such as one for each task: a small panel for each, on one axis."""
    chosen = results.having(measures) if runs is None else tuple(runs)
    limits = shared_limits(results, chosen, measures)
    panels = tuple(
        Panel(
            one.label,
            Dots(tuple(_short_row(results, run, one) for run in chosen), one.unit, limits=limits, small=True),
        )
        for one in measures
    )
    return PanelGroup(panels, chosen, tuple(measures))


def contrast(
    results: Results,
    measures: tuple[Measure, Measure],
    title: str,
    seeds: tuple[str, str],
    runs: Iterable[ShownRun] | None = None,
    mark: Mark | None = None,
    limits: tuple[float, float] | None = None,
) -> PanelGroup:
    """Two measures of a run on one row, such as inside and outside of a window.

    ``seeds`` says what a dot means, and what a triangle means.
    """
    chosen = results.having(measures) if runs is None else tuple(runs)
    rows = tuple(_contrasted(results, run.label, ((run, measures[0]), (run, measures[1]))) for run in chosen)
    drawing = Dots(rows, measures[0].unit, mark, limits=limits, seeds=seeds)
    return PanelGroup((Panel(title, drawing),), chosen, measures)


def beside(
    results: Results,
    measure: Measure,
    title: str,
    pairs: Iterable[tuple[ShownRun, ShownRun]],
    seeds: tuple[str, str],
    mark: Mark | None = None,
) -> PanelGroup:
    """One measure of two runs on one row, such as adapted beside from scratch; a row has the first run's label."""
    chosen = tuple(pairs)
    rows = tuple(_contrasted(results, one.label, ((one, measure), (other, measure))) for one, other in chosen)
    drawing = Dots(rows, measure.unit, mark, seeds=seeds)
    return PanelGroup((Panel(title, drawing),), tuple(run for pair in chosen for run in pair), (measure,))


def measured_row(results: Results, run: ShownRun, measure: Measure) -> Row:
    """A run's row in a panel of dots: its seeds, their mean and interval."""
    return Row(run.label, results.note(run, measure), (group(results, run, measure),))


def group(results: Results, run: ShownRun, measure: Measure) -> Group:
    """A run's seeds with their mean and interval."""
    values = results.values(run, measure)
    if run.kind == "reference":
        return Group(values, hollow=True)
    interval = results.interval(run, measure)
    spans = (Span(interval.low, interval.high),)
    return Group(values, interval.mean, spans, crossed=frozenset(results.diverged(run)))


def trained_limits(
    results: Results, measures: Iterable[Measure], mark: Mark | None = None
) -> tuple[float, float] | None:
    """The ends of an axis that the trained runs fill: with a far reference they would be too close together."""
    return shared_limits(results, results.trained, measures, mark)


def shared_limits(
    results: Results, runs: Iterable[ShownRun], measures: Iterable[Measure], mark: Mark | None = None
) -> tuple[float, float] | None:
    """The ends of an axis that holds the runs' seeds and intervals, and the mark."""
    cells = list(product(runs, measures))
    values = [value for cell in cells for value in finite(results.values(*cell))]
    spans = [span for cell in cells for span in group(results, *cell).spans if span.finite]
    values += [end for span in spans for end in (span.low, span.high)]
    values += [mark.value] if mark else []
    pad = 0.05 * (max(values) - min(values)) if values else 0
    return (min(values) - pad, max(values) + pad) if pad else None


def _short_row(results: Results, run: ShownRun, measure: Measure) -> Row:
    """The same as `measured_row` with no more than the mean in its note."""
    return Row(run.label, number(results.mean(run, measure), measure.unit), (group(results, run, measure),))


def _contrasted(
    results: Results, label: str, cells: tuple[tuple[ShownRun, Measure], tuple[ShownRun, Measure]]
) -> Row:
    """A row with two groups of seeds; the note gives both means, in this order."""
    first, second = (group(results, *cell) for cell in cells)
    means = " · ".join(number(results.mean(*cell), cell[1].unit) for cell in cells)
    seeds = min(results.interval(*cell).n for cell in cells)
    n = f", n = {seeds}" if cells[0][0].kind == "trained" and seeds else ""
    return Row(label, means + n, (first, replace(second, contrast=True)))
