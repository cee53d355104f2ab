"""The garden study on the page: how close models come to a language that is known, and what they still lack.

Lecture ``objectives``, sections 5.1, 5.2 and the seed of 5.5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from statistics import fmean
from typing import Literal

from seedbed.reporting.figures import Curve, Curves, Dots, Mark, Row, Span
from seedbed.reporting.numbers import NON_FINITE, NOT_MEASURED, ends, number, spread
from seedbed.reporting.results import BEST_EPOCH, DIVERGED, Measure, Results, Run, finite
from seedbed.reporting.sections import Fact, Figure, Headline, Panel, deviation, measured_row, seeds_table
from seedbed.reporting.tables import Column, Table, Value

ALL, WITHHELD, OTHER = ({"sentences": name} for name in ("all", "withheld", "other"))

PERPLEXITY = Measure("perplexity", "perplexity", "loss", "perplexity", ALL, exponentiated=True)
FLOOR = Measure("floor", "exact floor", "language_loss", "perplexity", ALL, exponentiated=True)
LOSS = Measure("loss", "loss", "loss", "nat", ALL)
DIVERGENCE = Measure("divergence", "divergence", "divergence", "nat", ALL)
EXCESS = Measure("excess", "excess", "excess", "nat", ALL)
EXCESS_WITHHELD = Measure("excess_withheld", "excess, withheld sentences", "excess", "nat", WITHHELD)
EXCESS_OTHER = Measure("excess_other", "excess, other sentences", "excess", "nat", OTHER)
GAP_SHARE = Measure("gap_share", "gap in withheld sentences", "gap_share", "share")
TOKEN_SHARE = Measure("token_share", "tokens in withheld sentences", "token_share", "share")
SPECIAL_MASS = Measure("special_mass", "structural tokens", "special_mass", "share", ALL)

#: The rows of the page's table of variance across seeds.
MEASURES = (
    PERPLEXITY,
    DIVERGENCE,
    EXCESS,
    EXCESS_WITHHELD,
    EXCESS_OTHER,
    GAP_SHARE,
    SPECIAL_MASS,
    BEST_EPOCH,
)


def headline(results: Results) -> Headline:
    """What the first trained run reaches, what it could reach, and where the difference lies."""
    run = next(iter(results.trained), None)
    floor = _floor(results)
    if run is None or floor is None or not math.isfinite(results.interval(run, PERPLEXITY).mean):
        return Headline("The garden study has no finite result in this build.")
    reached, away, gap = (results.interval(run, measure) for measure in (PERPLEXITY, DIVERGENCE, GAP_SHARE))
    perplexity, best = number(reached.mean, "perplexity"), number(floor.value, "perplexity")
    held = number(gap.mean if gap.n else None, "share")
    seeds = f"95 % [[interval]] {ends(reached, 'perplexity')}" + (f", {reached.n} seeds" if reached.n > 1 else "")
    where = f" Of the gap, {held} lies in sentences with a [[withheld pair]]." if math.isfinite(gap.mean) else ""
    return Headline(
        f"{run.label} on the garden language: perplexity {perplexity}, where {best} is possible.{where}",
        (
            Fact(perplexity, f"[[perplexity]] of the run {run.name}; {seeds}"),
            Fact(best, "[[exact floor]]: the language itself on the same test set"),
            Fact(
                number(away.mean if away.n else None, "nat"),
                "[[divergence]] from the language in nats a token; 0 is perfect",
            ),
            Fact(held, f"of the [[gap]] lies in {_token_share(results)} of the tokens: beside a withheld pair"),
        ),
    )


def figures(results: Results) -> Iterator[Figure]:
    """The study's figures, in the order of the page."""
    yield closeness(results)
    yield gap(results)
    yield epochs(results)
    yield chance(results)


def closeness(results: Results) -> Figure:
    """Perplexity against the exact floor, and divergence, by run."""
    measures = (PERPLEXITY, FLOOR, DIVERGENCE, EXCESS, DIVERGED)
    return Figure(
        name="closeness",
        question="How close does training come to the language?",
        answer="[[Perplexity]] scores the words that the test set happens to hold, so it is read against what "
        "the language itself scores on them: the [[exact floor]]. The [[divergence]] compares the whole "
        "distribution of the next token with the true one and is 0 only for the language itself. "
        f"Mean divergence of the trained runs, in nats a token: {_means(results, DIVERGENCE)}.",
        panels=(
            Panel("Perplexity on the test set", Dots(_rows(results, PERPLEXITY), "perplexity", _floor(results))),
            Panel("Divergence from the language, nats a token", Dots(_rows(results, DIVERGENCE), "nat")),
        ),
        keys=("seed", "interval", "floor", "reference"),
        table=seeds_table(results, "closeness", results.study.runs, measures),
    )


def gap(results: Results) -> Figure:
    """Excess in sentences with and without a withheld pair, and the former's share of the whole."""
    excess = tuple(row for run in results.trained for row in _gap_rows(results, run))
    share = tuple(measured_row(results, run, GAP_SHARE) for run in results.trained)
    tokens = _first(results, TOKEN_SHARE)
    mark = None if tokens is None else Mark(tokens, f"share of tokens {number(tokens, 'share')}")
    measures = (EXCESS_WITHHELD, EXCESS_OTHER, EXCESS, GAP_SHARE, TOKEN_SHARE)
    return Figure(
        name="gap",
        question="Where does the rest of the gap come from?",
        answer="Some pairs of a verb and a noun are taken out of every training corpus and left in the test set. "
        "If a model lacked the same everywhere, sentences with such a [[withheld pair]] would have the same "
        f"share of its [[excess]] as of the tokens. Share of the tokens: {_token_share(results)}. Share of "
        f"the excess, mean of each run: {_means(results, GAP_SHARE)}. What is above comes from what training "
        "never showed.",
        panels=(
            Panel("Excess, nats a token", Dots(excess, "nat")),
            Panel("Share of the total excess that the withheld pairs hold", Dots(share, "share", mark)),
        ),
        keys=("seed", "contrast", "interval", "tokens"),
        table=seeds_table(results, "gap", results.trained, measures),
    )


def epochs(results: Results) -> Figure:
    """Validation perplexity by epoch, every seed a curve, and the learning rate."""
    count = _epoch_count(results)
    validation = {run: _curves(results, run, "validation_loss", count) for run in results.trained}
    rates = tuple(curve for run in results.trained for curve in _curves(results, run, "learning_rate", count))
    floor = _floor(results)
    limits = _limits([curve for curves in validation.values() for curve in curves], floor)
    panels = [
        Panel(f"Validation perplexity by epoch: {run.label}", Curves(curves, "perplexity", floor, limits))
        for run, curves in validation.items()
        if curves
    ]
    panels += [Panel("Learning rate at the end of each epoch", Curves(rates, "rate"))] if rates else []
    return Figure(
        name="epochs",
        question="How does perplexity fall with training?",
        answer="One curve a seed, over the passes through its training corpus. The ring is its [[best epoch]], "
        "whose weights are tested. The floor is that of the test set; that of the validation set differs "
        "from it by chance.",
        panels=tuple(panels),
        keys=("curve", "ring", "floor"),
        table=_epochs_table(results, count),
    )


def chance(results: Results) -> Figure:
    """How far seeds lie apart, beside the error that one test set leaves."""
    moved = [finite(results.values(run, PERPLEXITY)) for run in results.trained]
    ranges = [max(values) - min(values) for values in moved if len(values) > 1]
    apart = number(max(ranges), "perplexity") if ranges else "undefined"
    return Figure(
        name="chance",
        question="How much of a difference is only chance?",
        answer="Another [[seed]] is another corpus, initialisation and order. Runs that differ by less than "
        "their seeds do cannot be told apart by one training each. Largest distance in perplexity between "
        f"two seeds of a run: {apart}. Another test set would also move the loss, but all runs and seeds "
        "together, since they share it. The [[excess]] takes the language’s own loss off, and with it most "
        "of that.",
        panels=(
            Panel("Loss: distance from the mean, nats a token", Dots(_noise_rows(results, LOSS), "nat")),
            Panel("Excess: distance from the mean, nats a token", Dots(_noise_rows(results, EXCESS), "nat")),
        ),
        keys=("seed", "deviation", "items"),
        table=_noise_table(results),
    )


# --- rows


def _rows(results: Results, measure: Measure) -> tuple[Row, ...]:
    return tuple(measured_row(results, run, measure) for run in results.study.runs)


def _gap_rows(results: Results, run: Run) -> tuple[Row, Row]:
    withheld = measured_row(results, run, EXCESS_WITHHELD, f"withheld: {run.label}")
    return replace(withheld, style="contrast"), measured_row(results, run, EXCESS_OTHER, f"other: {run.label}")


def _noise_rows(results: Results, measure: Measure) -> tuple[Row, ...]:
    return tuple(_noise_row(results, run, measure) for run in results.trained)


def _noise_row(results: Results, run: Run, measure: Measure) -> Row:
    """Seeds about their mean, with one standard deviation of the seeds and one standard error of the test set."""
    sd, error = _noise(results, run, measure)
    mean = results.interval(run, measure).mean
    moved = {seed: v if v is None else v - mean for seed, v in results.values(run, measure).items()}
    return Row(
        run.label,
        f"seeds {_plus_minus(sd)}, test set {_plus_minus(error)}",
        moved,
        spans=(*_about_zero(sd, "seeds"), *_about_zero(error, "items")),
        crossed=frozenset(results.diverged(run)),
    )


def _noise(results: Results, run: Run, measure: Measure) -> tuple[Value, Value]:
    """The standard deviation over seeds, and the mean standard error over the items of the test set."""
    cells = [cell for cell in results.cells(run, measure).values() if cell]
    errors = [cell.item_error for cell in cells if cell.item_error is not None]
    return deviation([cell.value for cell in cells]), fmean(errors) if errors else None


def _about_zero(size: Value, kind: Literal["seeds", "items"]) -> tuple[Span, ...]:
    return (Span(-size, size, kind),) if isinstance(size, float) else ()


def _plus_minus(size: Value) -> str:
    if isinstance(size, float):
        return f"±{number(size, 'nat')}" if math.isfinite(size) else NON_FINITE
    return NOT_MEASURED if size is None else str(size)


def _noise_table(results: Results) -> Table:
    columns = (
        Column("run", "run"),
        Column("measure", "measure"),
        Column("seed", "seed", "count"),
        Column("value", "value", "nat"),
        Column("sd", "sd over seeds", "nat"),
        Column("item_error", "standard error of the test set", "nat"),
    )
    rows: list[tuple[Value, ...]] = []
    for run, measure in product(results.trained, (LOSS, EXCESS)):
        sd, _ = _noise(results, run, measure)
        for seed, cell in results.cells(run, measure).items():
            value, error = (cell.value, cell.item_error) if cell else (None, None)
            rows.append((run.name, measure.label, seed, value, sd, error))
    return Table(f"{results.study.name}-chance", columns, tuple(rows))


# --- the floor and the shares that all runs have in common


def _first(results: Results, measure: Measure) -> float | None:
    """The first measured value of what is the same for all runs: it belongs to the test set."""
    for run in results.study.runs:
        for value in finite(results.values(run, measure)):
            return value
    return None


def _floor(results: Results) -> Mark | None:
    value = _first(results, FLOOR)
    return None if value is None else Mark(value, f"exact floor {number(value, 'perplexity')}")


def _token_share(results: Results) -> str:
    return number(_first(results, TOKEN_SHARE), "share")


def _means(results: Results, measure: Measure) -> str:
    """The range of the trained runs' means."""
    intervals = (results.interval(run, measure) for run in results.trained)
    return spread((one.mean if one.n else None for one in intervals), measure.unit)


# --- epochs


def _epoch(metric: str, epoch: int) -> Measure:
    unit = "rate" if metric == "learning_rate" else "perplexity"
    return Measure(metric, metric, metric, unit, {"epoch": epoch}, exponentiated=unit == "perplexity")


def _epoch_count(results: Results) -> int:
    """The last epoch that any seed has a validation loss of."""
    count = 0
    while any(finite(results.values(run, _epoch("validation_loss", count + 1))) for run in results.trained):
        count += 1
    return count


def _curves(results: Results, run: Run, metric: str, count: int) -> tuple[Curve, ...]:
    """A curve for each seed that has points; the best epoch is ringed on that of the validation loss."""
    best = results.values(run, BEST_EPOCH) if metric == "validation_loss" else {}
    values = [results.values(run, _epoch(metric, epoch)) for epoch in range(1, count + 1)]
    curves = []
    for seed in run.seeds:
        points = tuple((float(e), v) for e, column in enumerate(values, 1) if (v := column[seed]) is not None)
        if points:
            curves.append(Curve(f"{run.name}, seed {seed}", points, best.get(seed)))
    return tuple(curves)


def _limits(curves: list[Curve], floor: Mark | None) -> tuple[float, float] | None:
    values = [y for curve in curves for _, y in curve.points if math.isfinite(y)] + (
        [floor.value] if floor else []
    )
    if not values:
        return None
    pad = 0.06 * (max(values) - min(values)) or 1.0
    return min(values) - pad, max(values) + pad


def _epochs_table(results: Results, count: int) -> Table:
    columns = (
        Column("run", "run"),
        Column("seed", "seed", "count"),
        Column("epoch", "epoch", "count"),
        Column("validation_perplexity", "validation perplexity", "perplexity"),
        Column("training_perplexity", "training perplexity", "perplexity"),
        Column("learning_rate", "learning rate", "rate"),
    )
    metrics = ("validation_loss", "training_loss", "learning_rate")
    rows: list[tuple[Value, ...]] = []
    for run, epoch in product(results.trained, range(1, count + 1)):
        found = [results.values(run, _epoch(metric, epoch)) for metric in metrics]
        rows += [(run.name, seed, epoch, *(values[seed] for values in found)) for seed in run.seeds]
    return Table(f"{results.study.name}-epochs", columns, tuple(rows))
