"""The tables that every study has, whatever its figures: its runs, its variance across seeds, its cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

import numpy as np
import pandas as pd

from seedbed.observations import read_condition
from seedbed.reporting.numbers import number, spread
from seedbed.reporting.results import BEST_EPOCH, DIVERGED, PARAMETERS, TOKENS, Measure, Results, ShownRun, finite
from seedbed.reporting.tables import NONE, Column, Strip, Table, Value, anchor
from seedbed.statistics.intervals import standard_deviation


def shown_deviation(values: Sequence[float]) -> Value:
    """The standard deviation over seeds as a table shows it: a word where there are fewer than two."""
    return standard_deviation(values) if len(values) > 1 else "undefined, one seed" if values else None


def runs_table(results: Results) -> Table:
    """What each run is and how its training went."""
    columns = (
        Column("run", "run"),
        Column("label", "what it is"),
        Column("seeds", "seeds"),
        Column("parameters", "parameters"),
        Column("tokens", "scored tokens"),
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


def _run_row(results: Results, run: ShownRun) -> tuple[Value, ...]:
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


def _variance_row(results: Results, run: ShownRun, measure: Measure) -> tuple[Value, ...]:
    values = results.values(run, measure)
    interval = results.interval(run, measure)
    name = f"{results.study.name}/{run.name}"
    measured = [value for value in values.values() if value is not None]
    numbers: tuple[Value, ...] = (None,) * 4
    if measured:  # NumPy's extremes of values with a NaN are NaN
        numbers = (interval.mean, shown_deviation(measured), float(np.min(measured)), float(np.max(measured)))
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
