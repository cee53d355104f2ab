"""What a study hands to the page: a headline, figures with their tables, and the measures of its seeds.

Also the tables that every study has: its runs, its variance across seeds, its cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
import pandas as pd

from seedbed.observations import condition_text, read_condition
from seedbed.reporting.figures import Curves, Dots, Group, Row, Span
from seedbed.reporting.numbers import number, spread
from seedbed.reporting.results import BEST_EPOCH, DIVERGED, PARAMETERS, TOKENS, Measure, Results, Run, finite
from seedbed.reporting.tables import Column, Strip, Table, Value, anchor

#: What a reference run has of seeds and training.
NONE = "none"


@dataclass(frozen=True)
class Fact:
    """A number of the headline, as text, and what it is."""

    number: str
    words: str


@dataclass(frozen=True)
class Panel:
    """A drawing under a title."""

    title: str
    drawing: Dots | Curves


@dataclass(frozen=True)
class Figure:
    """A figure, titled by the question that it answers.

    Attributes:
        name: Its name within the study.
        question: The question.
        answer: What the numbers say; ``[[word]]`` links the glossary.
        panels: Its drawings.
        keys: The marks that its key explains, by their names in ``report/parts.html``.
        table: Every number that it shows.
        measures: What it shows, so that claims about it lead here.
    """

    name: str
    question: str
    answer: str
    panels: tuple[Panel, ...]
    keys: tuple[str, ...]
    table: Table
    measures: tuple[Measure, ...] = ()

    @property
    def small(self) -> bool:
        """Whether its panels are small ones."""
        return any(isinstance(panel.drawing, Curves) and panel.drawing.small for panel in self.panels)

    def shows(self, metric: str, condition: str) -> bool:
        """Whether it shows a metric under a condition."""
        return any((one.metric, condition_text(one.condition)) == (metric, condition) for one in self.measures)

    @property
    def marks(self) -> tuple[str, ...]:
        """The keys, with those of diverged seeds and of what lies beyond an axis where there are any."""
        drawings = [panel.drawing for panel in self.panels if isinstance(panel.drawing, Dots)]
        crossed = any(group.crossed for drawing in drawings for row in drawing.rows for group in row.groups)
        beyond = any(drawing.beyond for drawing in drawings)
        return self.keys + ("crossed",) * crossed + ("beyond",) * beyond


@dataclass(frozen=True)
class Headline:
    """A study's result in a sentence, the numbers that carry it, and the figure that shows it."""

    sentence: str
    facts: tuple[Fact, ...] = ()
    figure: Figure | None = None


def measured_row(results: Results, run: Run, measure: Measure) -> Row:
    """A run's row in a panel of dots: its seeds, their mean and interval."""
    return Row(run.label, results.note(run, measure), (_group(results, run, measure),))


def contrasted_row(results: Results, run: Run, measures: tuple[Measure, Measure]) -> Row:
    """A run's row with two measures of its seeds; the note gives both means, in this order."""
    first, second = (_group(results, run, measure) for measure in measures)
    means = " · ".join(number(results.mean(run, measure), measure.unit) for measure in measures)
    seeds = min(results.interval(run, measure).n for measure in measures)
    n = f", n = {seeds}" if run.kind == "trained" and seeds else ""
    return Row(run.label, means + n, (first, replace(second, contrast=True)))


def _group(results: Results, run: Run, measure: Measure) -> Group:
    values = results.values(run, measure)
    if run.kind == "reference":
        return Group(values, hollow=True)
    interval = results.interval(run, measure)
    spans = (Span(interval.low, interval.high),)
    return Group(values, interval.mean, spans, crossed=frozenset(results.diverged(run)))


def deviation(values: Sequence[float]) -> Value:
    """The standard deviation over seeds as a table shows it: a word where there are fewer than two."""
    if len(values) < 2:
        return "undefined, one seed" if values else None
    if not np.isfinite(values).all():
        return math.nan
    return 0.0 if min(values) == max(values) else float(np.std(values, ddof=1))


def seeds_table(results: Results, name: str, runs: Iterable[Run], measures: tuple[Measure, ...]) -> Table:
    """A row for each run and seed, a column for each measure."""
    columns = (
        Column("run", "run"),
        Column("seed", "seed", "count"),
        *(Column(measure.key, measure.label, measure.unit) for measure in measures),
    )
    rows: list[tuple[Value, ...]] = []
    for run in runs:
        for seed in run.seeds if run.kind == "trained" else (None,):
            values = (_seed_value(results, run, seed, measure) for measure in measures)
            rows.append((run.name, NONE if seed is None else seed, *values))
    return Table(f"{results.study.name}-{name}", columns, tuple(rows))


def runs_table(results: Results) -> Table:
    """What each run is and how its training went."""
    columns = (
        Column("run", "run"),
        Column("label", "what it is"),
        Column("seeds", "seeds"),
        Column("parameters", "parameters"),
        Column("tokens", "training tokens"),
        Column("best_epoch", "best epoch"),
        Column("diverged", "diverged"),
    )
    rows = tuple(_run_row(results, run) for run in results.study.runs)
    anchors = tuple(anchor("run", results.study.name, run.name) for run in results.study.runs)
    return Table(f"{results.study.name}-runs", columns, rows, anchors=anchors)


def variance_table(studies: Iterable[tuple[Results, tuple[Measure, ...]]]) -> Table:
    """Seeds, mean, spread and interval of every trained run and measure."""
    columns = (
        Column("run", "run"),
        Column("measure", "measure"),
        Column("strip", "seeds"),
        Column("n", "n", "count"),
        Column("mean", "mean", "row"),
        Column("sd", "sd", "row"),
        Column("minimum", "min", "row"),
        Column("maximum", "max", "row"),
        Column("interval", "95 % interval", "row"),
    )
    cells = [(r, run, measure) for r, measures in studies for run in r.trained for measure in measures]
    rows = tuple(_variance_row(*cell) for cell in cells)
    return Table("seeds", columns, rows, tuple(measure.unit for _, _, measure in cells))


def cost_table(timings: pd.DataFrame) -> Table:
    """CPU seconds, wall seconds and peak memory of the jobs of each study, run and kind."""
    columns = (
        Column("run", "study or run"),
        Column("job", "job"),
        Column("strip", "CPU seconds"),
        Column("jobs", "jobs", "count"),
        Column("cpu_mean", "CPU mean", "second"),
        Column("cpu_maximum", "CPU max", "second"),
        Column("wall_mean", "wall mean, s", "second"),
        Column("memory_maximum", "memory max, MiB", "MiB"),
    )
    return Table("cost", columns, tuple(_cost_row(*group) for group in _jobs(timings)))


def _seed_value(results: Results, run: Run, seed: int | None, measure: Measure) -> Value:
    return NONE if measure.training and run.kind == "reference" else results.values(run, measure)[seed]


def _run_row(results: Results, run: Run) -> tuple[Value, ...]:
    if run.kind == "reference":
        return (run.name, run.label, *[NONE] * 5)
    diverged = results.values(run, DIVERGED)
    known = finite(diverged)
    return (
        run.name,
        run.label,
        str(len(run.seeds)),
        *(spread(results.values(run, measure).values(), "count") for measure in (PARAMETERS, TOKENS, BEST_EPOCH)),
        f"{number(sum(known), 'count')} of {len(known)}" if known else number(None, "count"),
    )


def _variance_row(results: Results, run: Run, measure: Measure) -> tuple[Value, ...]:
    values = results.values(run, measure)
    interval = results.interval(run, measure)
    name = f"{results.study.name}/{run.name}"
    measured = [value for value in values.values() if value is not None]
    numbers: tuple[Value, ...] = (None,) * 4
    if measured:  # NumPy's extremes of values with a NaN are NaN
        numbers = (interval.mean, deviation(measured), float(np.min(measured)), float(np.max(measured)))
    return (name, measure.label, Strip(values, measure.unit), interval.n, *numbers, interval)


#: Metric → seed → value.
Metrics = dict[str, dict[int | None, float]]


def _jobs(timings: pd.DataFrame) -> list[tuple[tuple[str, str], Metrics]]:
    """The metrics of each run's or study's kind of job; sorted, so that the order of the rows is free."""
    kinds: dict[tuple[str, str], Metrics] = {}
    columns = ["study", "run", "seed", "metric", "condition", "value"]
    for study, run, seed, metric, condition, value in timings[columns].itertuples(index=False, name=None):
        job = read_condition(condition)
        words = " ".join(str(job[name]) for name in sorted(job, key=lambda name: (name != "job", name)))
        name = str(study) if pd.isna(run) or not run else f"{study}/{run}"
        seeds = kinds.setdefault((name, words), {}).setdefault(str(metric), {})
        seeds[None if pd.isna(seed) else int(seed)] = float(value)
    return sorted(kinds.items())


def _cost_row(key: tuple[str, str], metrics: Metrics) -> tuple[Value, ...]:
    cpu, wall, memory = (metrics.get(name, {}) for name in ("cpu_seconds", "wall_seconds", "peak_memory"))
    return (
        *key,
        Strip({seed: cpu[seed] for seed in sorted(cpu, key=lambda seed: -1 if seed is None else seed)}, "second"),
        max(len(cpu), len(wall), len(memory)),
        fmean(cpu.values()) if cpu else None,
        max(cpu.values(), default=None),
        fmean(wall.values()) if wall else None,
        max(memory.values(), default=None),
    )
