"""Every measure that no figure of a study shows, so that all measurements can be seen.

A study without a file of figures has only these; for a study with a file the page shows their tables. What the
figure of a metric looks like follows from its conditions: lines over a number, bars over words, a heat map over
several conditions, rows of dots otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from seedbed.observations import condition_text
from seedbed.reporting.drawing.heat import Heat
from seedbed.reporting.figures import Figure, PanelGroup, figure
from seedbed.reporting.panels.bars import bars
from seedbed.reporting.panels.heat_maps import heat_map_of_runs, heat_maps
from seedbed.reporting.panels.lines import lines
from seedbed.reporting.panels.strips import strip
from seedbed.reporting.results import (
    BEST_EPOCH,
    DIVERGED,
    PARAMETERS,
    TOKENS,
    Measure,
    Results,
    condition_words,
    rank,
)
from seedbed.reporting.tables import NONE, Column, Table, Value

#: What the table of a study's runs shows.
IN_THE_TABLE_OF_RUNS = {one.metric for one in (PARAMETERS, TOKENS, BEST_EPOCH, DIVERGED)}

#: A condition with more values than this, or several, are a heat map instead of a panel each.
MOST_PANELS = 4

#: Words of a condition are bars up to this number of rows, with a dot for each seed, and a heat map beyond.
MOST_ROWS = 60

#: A figure with more marks than this is a table only: the page stays small.
MOST_MARKS = 2000

#: Conditions whose numbers only tell things apart: no line leads from one to the next.
NAMES = {"head"}

#: Fewer different numbers than this are no line.
FEWEST_PLACES = 3


def other_figures(results: Results, shown: Iterable[Figure]) -> tuple[Figure, ...]:
    """A figure for each metric that ``shown`` and the table of runs leave out, and one table of single numbers."""
    left = {metric: _left(results, metric, tuple(shown)) for metric in results.metrics}
    left = {metric: measures for metric, measures in left.items() if measures}
    single = {metric for metric, measures in left.items() if _single(results, measures)}
    drawn = tuple(_figure(results, metric, left[metric]) for metric in left if metric not in single)
    return drawn + _numbers(results, [one for metric in left if metric in single for one in left[metric]])


def few(figures: Iterable[Figure]) -> tuple[Measure, ...]:
    """The measures of those figures that show no more than some panels of them."""
    chosen = (one for one in figures if one.panels and len(one.measures) <= MOST_PANELS)
    return tuple(measure for one in chosen for measure in one.measures)


def _left(results: Results, metric: str, shown: Sequence[Figure]) -> tuple[Measure, ...]:
    if metric in IN_THE_TABLE_OF_RUNS:
        return ()
    return tuple(
        one
        for one in results.measures(metric)
        if not any(figure.shows(metric, condition_text(one.condition)) for figure in shown)
    )


def _single(results: Results, measures: Sequence[Measure]) -> bool:
    """Whether these are numbers of one run that has no seed, or no numbers but texts."""
    runs = results.having(measures)
    cells = [cell for run in runs for one in measures for cell in results.readings(run, one).values() if cell]
    return (len(runs) == 1 and runs[0].kind == "reference") or all(cell.text for cell in cells)


def _figure(results: Results, metric: str, measures: Sequence[Measure]) -> Figure:
    keys = list(dict.fromkeys(key for one in measures for key in one.condition))
    words = metric.replace("_", " ")
    by = f", by {' and '.join(key.replace('_', ' ') for key in keys)}" if keys and len(measures) > 1 else ""
    unit = f" Unit: {measures[0].unit}." if measures[0].unit else ""
    return figure(
        results,
        f"metric-{metric}",
        f"{words}{by}",
        f"The metric {metric} of the table of observations.{unit}",
        *_bounded(results, measures, list(_groups(results, measures))),
    )


def _bounded(results: Results, measures: Sequence[Measure], groups: Sequence[PanelGroup]) -> Iterator[PanelGroup]:
    """The groups, or one without panels where there would be too many marks."""
    heat = any(isinstance(panel.drawing, Heat) for group in groups for panel in group.panels)
    runs = results.having(measures)
    marks = len(measures) * sum(1 if heat else max(1, len(run.seeds)) for run in runs)
    yield from groups if marks <= MOST_MARKS else [PanelGroup((), runs, tuple(measures))]


def _groups(results: Results, measures: Sequence[Measure]) -> Iterator[PanelGroup]:
    """Blocks of one metric, for each set of condition keys on its own."""
    kinds: dict[tuple[str, ...], list[Measure]] = {}
    for one in measures:
        kinds.setdefault(tuple(sorted(one.condition)), []).append(one)
    for keys, alike in kinds.items():
        yield from _alike(results, alike, keys)


def _alike(results: Results, measures: Sequence[Measure], keys: Sequence[str]) -> Iterator[PanelGroup]:
    """What suits measures of one metric whose conditions have the same keys."""
    metric = measures[0].metric
    plain = Measure(metric, metric.replace("_", " "), metric, measures[0].unit)
    number = next((key for key in keys if runs_over(measures, key)), "")
    rest = [{key: value for key, value in one.condition.items() if key != number} for one in measures]
    groups = {condition_text(one): one for one in rest}
    if number and len(groups) <= MOST_PANELS:
        for condition in groups.values():
            words = condition_words(condition)
            yield lines(results, plain.at(condition), number, prefix=f"{words}: " if words else "")
    elif len(measures) <= MOST_PANELS:
        for one in measures:
            yield strip(results, one, condition_words(one.condition) or one.label)
    elif len(keys) == 1 and len(measures) * len(results.having(measures)) <= MOST_ROWS:
        yield bars(results, plain, keys[0])
    elif len(keys) == 1:
        yield heat_map_of_runs(results, plain, keys[0], plain.label)
    else:
        *rows, columns = sorted(keys, key=lambda key: (key == number, len({m.condition[key] for m in measures})))
        yield heat_maps(results, plain, rows, columns)


def runs_over(measures: Sequence[Measure], key: str) -> bool:
    """Whether a condition's values are numbers that measure something, enough of them for a line."""
    values = {one.condition[key] for one in measures}
    measuring = key not in NAMES and not any(isinstance(value, str) for value in values)
    return measuring and len(values) >= FEWEST_PLACES


def _numbers(results: Results, measures: Sequence[Measure]) -> tuple[Figure, ...]:
    """Numbers of a run without seed, and texts, as one table without a drawing."""
    if not measures:
        return ()
    columns = (
        Column("run", "run"),
        Column("seed", "seed", "count"),
        Column("metric", "metric"),
        Column("condition", "condition"),
        Column("value", "value", "row"),
        Column("unit", "unit"),
    )
    ordered = sorted(
        measures, key=lambda one: (one.metric, [(key, rank(one.condition[key])) for key in one.condition])
    )
    rows: list[tuple[Value, ...]] = []
    for one in ordered:
        for run in results.having([one]):
            for seed, cell in results.readings(run, one).items():
                value = None if cell is None else cell.text or cell.value
                place = (run.name, NONE if seed is None else seed, one.metric, condition_words(one.condition))
                rows.append((*place, value, one.unit))
    units = tuple(str(row[-1]) for row in rows)
    return (
        Figure(
            "single-numbers",
            "Numbers without seeds",
            "Values of [[run]]s without a [[seed]], and values that are texts.",
            (),
            Table(f"{results.study.name}-single-numbers", columns, tuple(rows), units),
            tuple(measures),
        ),
    )
