"""Curves by epoch: how validation perplexity falls in every run, a small panel each, and the learning rates.

Every study with trained runs has these, since they come from the evaluation ``training``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from seedbed.reporting.drawing.canvas import padded
from seedbed.reporting.drawing.curves import Curve, Curves
from seedbed.reporting.drawing.marks import Axis, Mark
from seedbed.reporting.figures import Figure, Panel
from seedbed.reporting.numbers import spread
from seedbed.reporting.panels.lines import mean_curve
from seedbed.reporting.results import BEST_EPOCH, Measure, Results, ShownRun, finite
from seedbed.reporting.tables import Column, Table, Value, seed_words

METRICS = ("validation_loss", "training_loss", "learning_rate")
EPOCH = Axis("count", "epoch")


def epochs(results: Results, floor: Mark | None, runs: Sequence[ShownRun] | None = None) -> Figure:
    """Validation perplexity by epoch, every seed a curve and their mean another, and the learning rates.

    Args:
        results: The study's results.
        floor: The line that all curves are compared with.
        runs: The panels; none: all trained runs.
    """
    chosen = results.trained if runs is None else tuple(runs)
    count = _epoch_count(results, chosen)
    validation = {run: _curves(results, run, "validation_loss", count) for run in chosen}
    known = [y for curves in validation.values() for curve in curves for _, y in curve.points]
    y = Axis("perplexity", limits=padded([*known, *([floor.value] if floor else [])], Axis("perplexity")))
    panels = [
        Panel(run.label, Curves((*curves, *_mean(run, curves)), EPOCH, y, floor, rings="its best epoch"))
        for run, curves in validation.items()
        if curves
    ]
    rates = tuple(
        replace(one, label=run.label)
        for run in chosen
        for one in _curves(results, run, "learning_rate", count)[:1]
    )
    if rates:
        panels.append(Panel("Learning rate, every run", Curves(rates, EPOCH, Axis("rate"))))
    results.lookups.assign("figure epochs")
    return Figure(
        name="epochs",
        question="How does perplexity fall with training?",
        answer=f"The validation loss is lowest after {_best(results, chosen)}. This is the [[best epoch]] of a "
        "seed; it has a ring, and its weights are tested. Each panel shows one run after each pass through "
        "the training corpus, all on the same axes: a thin curve for each seed and a thick one for their "
        "mean. The dashed line is the exact floor of the test set; the floor of the validation set differs a "
        "little. The learning rate is the one at the end of each epoch.",
        panels=tuple(panels),
        table=_table(results, chosen, count),
        measures=(BEST_EPOCH, *(_at(metric, epoch) for metric in METRICS for epoch in range(1, count + 1))),
    )


def _at(metric: str, epoch: int) -> Measure:
    unit = "rate" if metric == "learning_rate" else "perplexity"
    return Measure(metric, metric, metric, unit, {"epoch": epoch}, exponentiated=unit == "perplexity")


def _epoch_count(results: Results, runs: Sequence[ShownRun]) -> int:
    """The last epoch that any seed has a validation loss of."""
    count = 0
    while any(finite(results.values(run, _at("validation_loss", count + 1))) for run in runs):
        count += 1
    return count


def _best(results: Results, runs: Sequence[ShownRun]) -> str:
    """The epochs that were best for some seed of some run."""
    chosen = (value for run in runs for value in results.values(run, BEST_EPOCH).values())
    return f"epoch {spread(chosen, 'count')}"


def _curves(results: Results, run: ShownRun, metric: str, count: int) -> tuple[Curve, ...]:
    """A curve for each seed that has points; the best epoch is ringed on that of the validation loss."""
    best = results.values(run, BEST_EPOCH) if metric == "validation_loss" else {}
    values = [results.values(run, _at(metric, epoch)) for epoch in range(1, count + 1)]
    curves = []
    for seed in run.seeds:
        points = tuple((float(e), v) for e, column in enumerate(values, 1) if (v := column[seed]) is not None)
        if points:
            curves.append(Curve(seed_words(seed), points, ring=best.get(seed)))
    return tuple(curves)


def _mean(run: ShownRun, curves: Sequence[Curve]) -> tuple[Curve, ...]:
    mean = mean_curve("", curves, exponentiated=True)
    return (mean,) if mean else ()


def _table(results: Results, runs: Sequence[ShownRun], count: int) -> Table:
    columns = (
        Column("run", "run"),
        Column("seed", "seed", "count"),
        Column("epoch", "epoch", "count"),
        Column("validation_perplexity", "validation perplexity", "perplexity"),
        Column("training_perplexity", "training perplexity", "perplexity"),
        Column("learning_rate", "learning rate", "rate"),
    )
    rows: list[tuple[Value, ...]] = []
    for run, epoch in product(runs, range(1, count + 1)):
        found = [results.values(run, _at(metric, epoch)) for metric in METRICS]
        rows += [(run.name, seed, epoch, *(values[seed] for values in found)) for seed in run.seeds]
    return Table(f"{results.study.name}-epochs", columns, tuple(rows))
