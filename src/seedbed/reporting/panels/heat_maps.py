"""Heat maps: the means over two conditions of a run, or over the runs and one condition."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from seedbed.observations import Scalar
from seedbed.reporting.drawing.heat import Heat, HeatRow, Tile
from seedbed.reporting.figures import Panel, PanelGroup
from seedbed.reporting.numbers import number
from seedbed.reporting.results import Measure, Results, ShownRun, condition_words, rank


def heat_maps(
    results: Results,
    measure: Measure,
    rows: Sequence[str],
    columns: str,
    runs: Iterable[ShownRun] | None = None,
    prefix: str = "",
) -> PanelGroup:
    """A measure over two or more conditions, such as layer and head by position: one grid of means for each run.

    Args:
        results: The study's results.
        measure: What is shown; its own condition is kept.
        rows: The further condition keys whose values, together, are the rows.
        columns: The further condition key whose values are the columns.
        runs: The panels; none: every run that has it.
        prefix: Opens the title of each panel.
    """
    places = results.over(measure, *rows, columns)
    chosen = results.having(places.values()) if runs is None else tuple(runs)
    across = sorted({place[-1] for place in places}, key=rank)
    down = sorted({place[:-1] for place in places}, key=lambda place: [rank(value) for value in place])
    limits = _limits(results, chosen, places.values())
    panels = []
    for run in chosen:
        grid = tuple(
            HeatRow(
                ", ".join(condition_words({key: value}) for key, value in zip(rows, place, strict=True)),
                tuple(_cell(results, run, places.get((*place, value))) for value in across),
            )
            for place in down
        )
        numbers = "mean over seeds" if len(run.seeds) > 1 else "one seed" if run.seeds else "reference"
        drawing = Heat(grid, tuple(map(str, across)), measure.unit, limits, columns.replace("_", " "), numbers)
        panels.append(Panel(prefix + run.label, drawing))
    return PanelGroup(tuple(panels), chosen, tuple(places.values()))


def heat_map_of_runs(
    results: Results, measure: Measure, columns: str, title: str, runs: Iterable[ShownRun] | None = None
) -> PanelGroup:
    """A measure over the runs and one condition: one grid of means, with a row for each run."""
    places: Mapping[Scalar, Measure] = {value: one for (value,), one in results.over(measure, columns).items()}
    chosen = results.having(places.values()) if runs is None else tuple(runs)
    grid = tuple(HeatRow(run.label, tuple(_cell(results, run, one) for one in places.values())) for run in chosen)
    limits = _limits(results, chosen, places.values())
    drawing = Heat(grid, tuple(map(str, places)), measure.unit, limits, columns.replace("_", " "))
    return PanelGroup((Panel(title, drawing),), chosen, tuple(places.values()))


def _cell(results: Results, run: ShownRun, measure: Measure | None) -> Tile:
    """The mean over the seeds, with words that name every seed."""
    if measure is None:
        return Tile(None, "")
    values = [value for value in results.values(run, measure).values() if value is not None]
    mean = results.mean(run, measure)
    seeds = ", ".join(number(value, measure.unit) for value in values)
    return Tile(mean, f"{number(mean, measure.unit)} ({seeds})" if len(values) > 1 else seeds)


def _limits(results: Results, runs: Iterable[ShownRun], measures: Iterable[Measure]) -> tuple[float, float]:
    """The palest and the darkest number; 0 and 1 for a share if all lie between."""
    known = list(measures)
    means = [results.mean(run, one) for run in runs for one in known]
    finite = [mean for mean in means if mean is not None and math.isfinite(mean)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    if known and known[0].unit == "share" and low >= 0 and high <= 1:
        return 0.0, 1.0
    return low, high
