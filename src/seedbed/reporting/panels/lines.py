"""Lines over a number among the conditions, such as a distance or a layer: a small panel for each run.

Every seed is a thin line and their mean a thick one. The means of the other runs are behind them in grey, so runs
can be compared without a colour for each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from statistics import fmean
from typing import Literal

from seedbed.observations import Scalar
from seedbed.reporting.drawing.canvas import padded
from seedbed.reporting.drawing.curves import Curve, Curves
from seedbed.reporting.drawing.marks import Axis, Mark, Shading
from seedbed.reporting.figures import Panel, PanelGroup
from seedbed.reporting.results import Measure, Results, ShownRun
from seedbed.reporting.tables import seed_words

Scale = Literal["linear", "log"]


def lines(
    results: Results,
    measure: Measure,
    over: str,
    runs: Iterable[ShownRun] | None = None,
    scales: tuple[Scale, Scale] = ("linear", "linear"),
    band: Shading | None = None,
    mark: Mark | None = None,
    prefix: str = "",
) -> PanelGroup:
    """A measure over a condition's numbers.

    Args:
        results: The study's results.
        measure: What is shown; its own condition is kept.
        over: The further condition key whose numbers it runs over.
        runs: The panels; none: every run that has it.
        scales: The scales of the number and of the measure.
        band: A shaded range of the number, such as that of training.
        mark: A value that the measure is read against.
        prefix: Opens the title of each panel.
    """
    places = _places(results, measure, over)
    chosen = results.having(places.values()) if runs is None else tuple(runs)
    seeds = {run: tuple(_seed_curves(results, run, places, "")) for run in chosen}
    x, y = _axes(places, measure, over, seeds.values(), scales, mark)
    means = {run: mean_curve("", seeds[run], measure.exponentiated) for run in chosen}
    seeds = {run: curves if run.kind == "trained" else () for run, curves in seeds.items()}
    panels = []
    for run in chosen:
        others = [
            Curve(other.label, one.points, "other") for other in chosen if other != run and (one := means[other])
        ]
        own = [one for one in (*seeds[run], means[run]) if one]
        drawing = Curves((*others, *own) if own else (), x, y, mark, band)
        panels.append(Panel(prefix + run.label, drawing))
    return PanelGroup(tuple(panels), chosen, tuple(places.values()))


def lines_beside(
    results: Results,
    measure: Measure,
    over: str,
    pairs: Iterable[tuple[ShownRun, ShownRun]],
    seeds: tuple[str, str],
    scales: tuple[Scale, Scale] = ("linear", "linear"),
    band: Shading | None = None,
    mark: Mark | None = None,
) -> PanelGroup:
    """The same with two runs in a panel, such as adapted beside from scratch; it has the first run's label.

    ``seeds`` says what a plain line means, and what a dashed one means.
    """
    places, chosen = _places(results, measure, over), tuple(pairs)
    runs = tuple(dict.fromkeys(run for pair in chosen for run in pair))
    curves = {run: tuple(_seed_curves(results, run, places, run.label)) for run in runs}
    x, y = _axes(places, measure, over, curves.values(), scales, mark)
    panels = []
    for pair in chosen:
        drawn = [
            Curve(one.label, one.points, one.role, contrast=run is pair[1])
            for run in pair
            for one in (*curves[run], mean_curve(run.label, curves[run], measure.exponentiated))
            if one
        ]
        panels.append(Panel(pair[0].label, Curves(tuple(drawn), x, y, mark, band, seeds)))
    return PanelGroup(tuple(panels), runs, tuple(places.values()))


def mean_curve(label: str, curves: Iterable[Curve], exponentiated: bool) -> Curve | None:
    """The mean over the seeds wherever all of them have a point; none without a seed.

    A perplexity is averaged on its logarithm. ``label`` names the run where a panel shows several.
    """
    known = [curve.points for curve in curves]
    columns: dict[float, list[float]] = {}
    for x, y in (point for points in known for point in points):
        columns.setdefault(x, []).append(math.log(y) if exponentiated else y)
    means = ((x, fmean(column)) for x, column in sorted(columns.items()) if len(column) == len(known))
    points = tuple((x, math.exp(mean) if exponentiated else mean) for x, mean in means)
    words = ", ".join(filter(None, (label, f"mean of n = {len(known)}" if len(known) > 1 else "")))
    return Curve(words, points, "mean") if points else None


def _places(results: Results, measure: Measure, over: str) -> dict[float, Measure]:
    """The numbers of the condition → the measure there."""
    found = results.over(measure, over)
    return {float(value): one for (value,), one in found.items() if _number(value)}


def _number(value: Scalar) -> bool:
    return not isinstance(value, str)


def _seed_curves(results: Results, run: ShownRun, places: dict[float, Measure], label: str) -> Iterator[Curve]:
    """A curve for each seed that has points; a reference has one, without seed."""
    columns = {at: results.values(run, one) for at, one in places.items()}
    for seed in run.seeds if run.kind == "trained" else (None,):
        points = tuple((at, value) for at, column in columns.items() if (value := column[seed]) is not None)
        if points:
            words = "" if seed is None else seed_words(seed)
            yield Curve(", ".join(filter(None, (label, words))), points)


def _axes(
    places: dict[float, Measure],
    measure: Measure,
    over: str,
    curves: Iterable[Iterable[Curve]],
    scales: tuple[Scale, Scale],
    mark: Mark | None,
) -> tuple[Axis, Axis]:
    """The two axes that all panels share."""
    whole = all(at == round(at) for at in places)
    x = Axis("count" if whole else "", over.replace("_", " "), scales[0])
    values = [y for group in curves for curve in group for _, y in curve.points]
    plain = Axis(measure.unit, scale=scales[1])
    limits = padded([*values, *([mark.value] if mark else [])], plain)
    return x, Axis(measure.unit, scale=scales[1], limits=limits)
