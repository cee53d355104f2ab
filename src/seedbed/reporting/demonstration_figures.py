"""The numbers of a demonstration as figures: curves over a number, and one table of everything else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from seedbed.observations import DEMONSTRATIONS
from seedbed.reporting.figures import Figure, PanelGroup, figure
from seedbed.reporting.others import runs_over
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

#: Curves whose highest number is this many times the lowest have a logarithmic axis.
_WIDE = 1000


def results_of(observations: pd.DataFrame, demonstrations: Iterable[ShownDemonstration]) -> Results:
    """The observations of demonstrations, each as a run; the number of a stream is its seed."""
    runs = tuple(
        ShownRun(one.name, one.title, "trained" if one.seeds else "reference", one.seeds) for one in demonstrations
    )
    return Results(observations, ShownStudy(DEMONSTRATIONS, "Demonstrations", "", "", False, runs))


def demonstration_figures(observations: pd.DataFrame, one: ShownDemonstration) -> tuple[Figure, ...]:
    """A figure for each metric that is measured over a number, and a table of all other numbers."""
    results = results_of(observations, [one])
    curves: list[Figure] = []
    left: list[Measure] = []
    for metric in results.metrics:
        measures = results.measures(metric)
        groups = tuple(_curves(results, one.name, measures))
        if groups:
            curves.append(_figure(results, one.name, measures, groups))
        else:
            left += measures
    return (*curves, *_table(results, one.name, left))


def _curves(results: Results, name: str, measures: Sequence[Measure]) -> Iterator[PanelGroup]:
    """Curves over the only number of the conditions, a panel for each value of the only word."""
    keys = {tuple(sorted(one.condition)) for one in measures}
    if len(keys) != 1:
        return
    numbers = [key for key in next(iter(keys)) if runs_over(measures, key)]
    words = [key for key in next(iter(keys)) if key not in numbers]
    if len(numbers) == 1 and len(words) <= 1:
        plain = Measure(
            measures[0].metric, measures[0].metric.replace("_", " "), measures[0].metric, measures[0].unit
        )
        shown = results.of_demonstration(name, words[0], {}) if words else results
        yield lines(shown, plain, numbers[0], scales=("linear", _scale(shown, plain, numbers[0])))


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
