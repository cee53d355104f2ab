"""The numbers of a demonstration as figures: heat maps, curves over a number, and one table of everything else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from seedbed.observations import DEMONSTRATIONS
from seedbed.reporting.figures import Figure, PanelGroup, figure
from seedbed.reporting.others import runs_over
from seedbed.reporting.panels.heat_maps import heat_maps
from seedbed.reporting.panels.lines import Scale, lines
from seedbed.reporting.results import (
    Measure,
    Results,
    ShownDemonstration,
    ShownRun,
    ShownStudy,
    condition_words,
    finite,
)
from seedbed.reporting.tables import Column, Strip, Table, Value

#: A metric under these two conditions is a heat map: what a position asks for, by what it finds there.
_QUERY, _KEY = "query", "key"
#: Curves whose highest number is this many times the lowest have a logarithmic axis.
_WIDE = 1000


def results_of(observations: pd.DataFrame, demonstrations: Iterable[ShownDemonstration]) -> Results:
    """The observations of demonstrations, each as a run; the number of a stream is its seed."""
    runs = tuple(
        ShownRun(one.name, one.title, "trained" if one.seeds else "reference", one.seeds) for one in demonstrations
    )
    return Results(observations, ShownStudy(DEMONSTRATIONS, "Demonstrations", "", "", False, runs))


def demonstration_figures(observations: pd.DataFrame, one: ShownDemonstration) -> tuple[Figure, ...]:
    """A figure for each metric over a number or over queries and keys, and a table of all other numbers."""
    results = results_of(observations, [one])
    drawn: list[Figure] = []
    left: list[Measure] = []
    for metric in results.metrics:
        measures = results.measures(metric)
        groups = tuple(_panels(results, one.name, measures))
        if groups:
            drawn.append(_figure(results, one.name, measures, groups))
        else:
            left += measures
    return (*drawn, *_table(results, one.name, left))


def _panels(results: Results, name: str, measures: Sequence[Measure]) -> Iterator[PanelGroup]:
    """Heat maps or curves, a panel for each value of the only other condition; none for any other metric."""
    conditions = {frozenset(one.condition) for one in measures}
    if len(conditions) != 1:
        return
    keys = sorted(next(iter(conditions)))
    heated = {_QUERY, _KEY} <= set(keys)
    axes = [_QUERY, _KEY] if heated else [key for key in keys if runs_over(measures, key)]
    words = [key for key in keys if key not in axes]
    if len(axes) != 1 + heated or len(words) > 1:
        return
    metric = measures[0].metric
    plain = Measure(metric, metric.replace("_", " "), metric, measures[0].unit)
    shown = results.of_demonstration(name, words[0], {}) if words else results
    if heated:
        yield heat_maps(shown, plain, [_QUERY], _KEY)
    else:
        yield lines(shown, plain, axes[0], scales=("linear", _scale(shown, plain, axes[0])))


def _scale(results: Results, measure: Measure, over: str) -> Scale:
    found = results.over(measure, over).values()
    values = [value for run in results.study.runs for one in found for value in finite(results.values(run, one))]
    return "log" if values and min(values) > 0 and max(values) > _WIDE * min(values) else "linear"


def _figure(results: Results, name: str, measures: Sequence[Measure], groups: Sequence[PanelGroup]) -> Figure:
    metric = measures[0].metric
    keys = " and ".join(key.replace("_", " ") for key in measures[0].condition)
    made = figure(
        results, f"{name}-{metric}", f"{metric.replace('_', ' ')}, by {keys}", _unit(measures[0]), *groups
    )
    table = _number_table(results, f"{name}-{metric}", measures)
    return Figure(made.name, made.question, made.answer, made.panels, table, tuple(measures))


def _unit(measure: Measure) -> str:
    unit = f" Unit: {measure.unit}." if measure.unit else ""
    return f"The metric {measure.metric} of the table of observations.{unit}"


def _table(results: Results, name: str, measures: Sequence[Measure]) -> Iterator[Figure]:
    if measures:
        table = _number_table(results, f"{name}-numbers", measures)
        words = "Every other number of this demonstration." if len(results.metrics) > len(measures) else ""
        yield Figure(
            f"{name}-numbers", f"The numbers of {name.replace('-', ' ')}", words, (), table, tuple(measures)
        )


def _number_table(results: Results, name: str, measures: Sequence[Measure]) -> Table:
    """A row for each metric and condition: its value, or the values of all streams with mean and interval."""
    (run,) = results.study.runs
    streams = (
        Column("strip", "streams"),
        Column("n", "n", "count"),
        Column("mean", "mean", "row"),
        Column("interval", "95 % interval", "row"),
    )
    columns = (
        Column("metric", "metric"),
        Column("condition", "condition"),
        *(streams if run.seeds else (Column("value", "value", "row"),)),
        Column("unit", "unit"),
    )
    rows = tuple(_row(results, run, one) for one in measures)
    return Table(f"{DEMONSTRATIONS}-{name}", columns, rows, tuple(one.unit for one in measures))


def _row(results: Results, run: ShownRun, one: Measure) -> tuple[Value, ...]:
    words = one.metric.replace("_", " "), condition_words(one.condition)
    if not run.seeds:
        reading = results.readings(run, one)[None]
        return (*words, None if reading is None else reading.text or reading.value, one.unit)
    interval = results.interval(run, one)
    return (*words, Strip(results.values(run, one), one.unit), interval.n, interval.mean, interval, one.unit)
