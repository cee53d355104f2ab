"""The garden study on the page: how close models come to a language that is known, and what they still lack.

Lecture ``objectives``, sections 5.1, 5.2 and the seed of 5.5.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import product

from seedbed.reporting.chance import ZERO, chance
from seedbed.reporting.epochs import epochs
from seedbed.reporting.figures import Dots, Mark, Row
from seedbed.reporting.numbers import ends, number, spread
from seedbed.reporting.results import BEST_EPOCH, DIVERGED, Measure, Results, Run, finite
from seedbed.reporting.sections import (
    Fact,
    Figure,
    Headline,
    Panel,
    contrasted_row,
    measured_row,
    seeds_table,
)

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

INSIDE, OUTSIDE = ({"window": name} for name in ("inside", "outside"))
KNOWN_INSIDE = Measure("probability_inside", "right possessive, inside", "pronoun_probability", "share", INSIDE)
KNOWN_OUTSIDE = Measure(
    "probability_outside", "right possessive, outside", "pronoun_probability", "share", OUTSIDE
)
CHOSEN_INSIDE = Measure("accuracy_inside", "right choice, inside", "pronoun_accuracy", "share", INSIDE)
CHOSEN_OUTSIDE = Measure("accuracy_outside", "right choice, outside", "pronoun_accuracy", "share", OUTSIDE)
COUNT_INSIDE = Measure("count_inside", "possessives, inside", "pronoun_count", "count", INSIDE)
COUNT_OUTSIDE = Measure("count_outside", "possessives, outside", "pronoun_count", "count", OUTSIDE)

#: The language as a predictor, and the best that sees no more than the window.
LANGUAGE, WINDOW = "exact", "exact-window-5"
#: Endings of the runs that differ from another run in their learning rate only, the smaller one first.
RATES = ("-lr-third", "-lr-triple")

#: The rows of the page's table of variance across seeds.
MEASURES = (
    PERPLEXITY,
    DIVERGENCE,
    EXCESS,
    EXCESS_WITHHELD,
    EXCESS_OTHER,
    GAP_SHARE,
    KNOWN_INSIDE,
    KNOWN_OUTSIDE,
    CHOSEN_OUTSIDE,
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
        f"{run.label} on the garden language: perplexity {perplexity}, where {best} is possible.{where}"
        f"{_far_words(results, run)}",
        (
            Fact(perplexity, f"[[perplexity]] of the run {run.name}; {seeds}"),
            Fact(best, "[[exact floor]]: the language itself on the same test set"),
            Fact(
                number(away.mean if away.n else None, "nat"),
                "[[divergence]] from the language in nats a token; 0 is perfect",
            ),
            Fact(held, f"of the [[gap]] lies in {_token_share(results)} of the tokens: beside a withheld pair"),
        ),
        _knowledge(results),
    )


def _far_words(results: Results, run: Run) -> str:
    """What the run knows of words that were decided outside the window, and what the window allows."""
    known = results.interval(run, KNOWN_OUTSIDE)
    if not math.isfinite(known.mean):
        return ""
    possible = number(_of(results, WINDOW, KNOWN_OUTSIDE), "share")
    return (
        f" A possessive whose subject lies outside a [[window]] of 5 words gets {number(known.mean, 'share')} of "
        f"probability; with the window alone {possible} would be possible."
    )


def _knowledge(results: Results) -> Figure:
    """The page's first figure: the right possessive inside and outside the window, by run."""
    return Figure(
        name="knowledge",
        question="What does each model know, inside and outside the window?",
        answer="“The children grow the fresh pumpkin from … own garden”: the subject decides that the word is "
        "“their”. Shown is the probability that a model gives "
        "the right word, where the subject is among the last 5 words, inside the [[window]], and where it is "
        f"further back. {_comparison(results, KNOWN_OUTSIDE)}",
        panels=(
            Panel(
                "Probability of the right possessive, inside · outside",
                Dots(
                    _pairs(results, (KNOWN_INSIDE, KNOWN_OUTSIDE), _structures(results)),
                    "share",
                    _window_mark(results, KNOWN_OUTSIDE),
                ),
            ),
        ),
        keys=("inside", "outside", "interval", "hollow", "window"),
        table=seeds_table(
            results, "knowledge", _structures(results), (KNOWN_INSIDE, KNOWN_OUTSIDE, COUNT_INSIDE, COUNT_OUTSIDE)
        ),
        measures=(KNOWN_INSIDE, KNOWN_OUTSIDE, COUNT_INSIDE, COUNT_OUTSIDE),
    )


def _comparison(results: Results, measure: Measure) -> str:
    """The lowest and the highest mean of the structures, and what the window allows."""
    means = {run: results.interval(run, measure).mean for run in _structures(results) if run.kind == "trained"}
    known = sorted((mean, run.label) for run, mean in means.items() if math.isfinite(mean))
    if not known:
        return "No run has a finite result in this build."
    low, high = (f"{number(mean, measure.unit)} ({label})" for mean, label in (known[0], known[-1]))
    found = low if len(known) == 1 else f"{low} to {high}"
    possible = number(_of(results, WINDOW, measure), measure.unit)
    return (
        f"Outside, the best possible with the window alone reaches {possible}; means of the trained runs: {found}."
    )


def figures(results: Results) -> Iterator[Figure]:
    """The study's figures, in the order of the page."""
    yield closeness(results)
    yield choices(results)
    yield gap(results)
    yield epochs(results, _floor(results))
    yield chance(results, [run for run in _structures(results) if run.kind == "trained"], PERPLEXITY, EXCESS)
    if _rated(results):
        yield rates(results)


def closeness(results: Results) -> Figure:
    """Perplexity against the exact floor, and divergence, by run."""
    measures = (PERPLEXITY, FLOOR, DIVERGENCE, EXCESS, SPECIAL_MASS, DIVERGED)
    return Figure(
        name="closeness",
        question="How close does training come to the language?",
        answer="[[Perplexity]] scores the words that the test set happens to hold, so it is read against what "
        "the language itself scores on them: the [[exact floor]]. The [[divergence]] compares the whole "
        "distribution of the next token with the true one and is 0 only for the language itself. "
        f"Mean divergence of the trained runs, in nats a token: {_means(results, DIVERGENCE)}.",
        panels=(
            Panel("Perplexity on the test set", _axis_of_trained(results, PERPLEXITY, _floor(results))),
            Panel("Divergence from the language, nats a token", _axis_of_trained(results, DIVERGENCE, ZERO)),
        ),
        keys=("seed", "interval", "floor", "reference"),
        table=seeds_table(results, "closeness", _all(results), measures),
        measures=measures,
    )


def choices(results: Results) -> Figure:
    """Accuracy of the possessive inside and outside the window."""
    measures = (CHOSEN_INSIDE, CHOSEN_OUTSIDE, KNOWN_INSIDE, KNOWN_OUTSIDE)
    inside, outside = (_rows(results, measure, _all(results)) for measure in (CHOSEN_INSIDE, CHOSEN_OUTSIDE))
    return Figure(
        name="choices",
        question="Is the right possessive also the first choice?",
        answer="The figure at the top of the page shows its probability. Here is the share of places where no "
        "token of the whole vocabulary is more probable; among k equally probable ones the right one counts 1/k. "
        "A model can choose well and be unsure. Inside the [[window]] the subject is among the last 5 words. "
        f"{_comparison(results, CHOSEN_OUTSIDE)}",
        panels=(
            Panel("Subject inside the window", Dots(inside, "share")),
            Panel("Subject outside the window", Dots(outside, "share", _window_mark(results, CHOSEN_OUTSIDE))),
        ),
        keys=("seed", "interval", "reference", "window"),
        table=seeds_table(results, "choices", _all(results), measures),
        measures=measures,
    )


def gap(results: Results) -> Figure:
    """Excess in sentences with and without a withheld pair, and the former's share of the whole."""
    runs = [run for run in _all(results) if run.name != LANGUAGE]
    split = (EXCESS_OTHER, EXCESS_WITHHELD)
    rows = tuple(contrasted_row(results, run, split) for run in runs)
    excess = Dots(rows, "nat", ZERO, limits=_limits(results, split, ZERO))
    share = tuple(measured_row(results, run, GAP_SHARE) for run in runs)
    tokens = _first(results, TOKEN_SHARE)
    mark = None if tokens is None else Mark(tokens, f"share of tokens {number(tokens, 'share')}")
    measures = (EXCESS_WITHHELD, EXCESS_OTHER, EXCESS, GAP_SHARE, TOKEN_SHARE)
    return Figure(
        name="gap",
        question="Where does the rest of the gap come from?",
        answer="Some pairs of a verb and a noun are taken out of every training corpus and left in the test set. "
        "If a model lacked the same everywhere, sentences with such a [[withheld pair]] would have the same "
        f"share of its [[excess]] as of the tokens. Share of the tokens: {_token_share(results)}. Share of "
        f"the excess, means of the trained runs: {_means(results, GAP_SHARE)}. What is above comes from what "
        "training never showed.",
        panels=(
            Panel("Excess, nats a token, in other · withheld sentences", excess),
            Panel("Share of the total excess that the withheld pairs hold", Dots(share, "share", mark)),
        ),
        keys=("other", "withheld", "interval", "hollow", "tokens"),
        table=seeds_table(results, "gap", runs, measures),
        measures=measures,
    )


def rates(results: Results) -> Figure:
    """What a third and three times the learning rate change."""
    runs = [run for group in _rated(results) for run in group]
    floor, window = _floor(results), _window_mark(results, KNOWN_OUTSIDE)
    return Figure(
        name="rates",
        question="How much hangs on the learning rate?",
        answer="The learning rate is the same for all runs, which may suit one model better than another. "
        f"{_rate_words(results)} Where a model’s three rates lie further apart than two models do at "
        "one rate, their order says little about the models.",
        panels=(
            Panel("Perplexity on the test set", Dots(_rows(results, PERPLEXITY, runs), "perplexity", floor)),
            Panel(
                "Probability of the right possessive, outside the window",
                Dots(_rows(results, KNOWN_OUTSIDE, runs), "share", window),
            ),
        ),
        keys=("seed", "interval", "floor", "window"),
        table=seeds_table(results, "rates", runs, (PERPLEXITY, DIVERGENCE, KNOWN_OUTSIDE, DIVERGED)),
        measures=(),
    )


# --- runs


def _all(results: Results) -> tuple[Run, ...]:
    """Every run, those without training last."""
    return results.trained + results.references


def _structures(results: Results) -> tuple[Run, ...]:
    """The same without those that differ from another in the learning rate only."""
    return tuple(run for run in _all(results) if not run.name.endswith(RATES))


def _rated(results: Results) -> list[tuple[Run, Run, Run]]:
    """The runs that have such variants, each between its variants."""
    groups = []
    for run in results.trained:
        lower, higher = (results.run(run.name + ending) for ending in RATES)
        if lower and higher:
            groups.append((lower, run, higher))
    return groups


def _rate_words(results: Results) -> str:
    """The range of each group's mean perplexities."""
    told = []
    for group in _rated(results):
        means = (results.mean(run, PERPLEXITY) for run in group)
        told.append(f"{group[1].label}, {spread(means, 'perplexity')}")
    return f"Mean perplexities with a third of it, with it and with three times as much: {'; '.join(told)}."


# --- rows


def _rows(results: Results, measure: Measure, runs: Iterable[Run]) -> tuple[Row, ...]:
    return tuple(measured_row(results, run, measure) for run in runs)


def _pairs(results: Results, measures: tuple[Measure, Measure], runs: Iterable[Run]) -> tuple[Row, ...]:
    return tuple(contrasted_row(results, run, measures) for run in runs)


def _axis_of_trained(results: Results, measure: Measure, mark: Mark | None) -> Dots:
    """All runs over an axis that the trained ones fill: a far reference would press them together."""
    limits = _limits(results, (measure,), mark)
    return Dots(_rows(results, measure, _all(results)), measure.unit, mark, limits=limits)


def _limits(results: Results, measures: Iterable[Measure], mark: Mark | None) -> tuple[float, float] | None:
    """The ends of an axis that holds the trained runs' seeds and intervals, and the mark."""
    cells = list(product(results.trained, measures))
    values = [value for cell in cells for value in finite(results.values(*cell))]
    intervals = [results.interval(*cell) for cell in cells]
    values += [end for one in intervals if one.defined for end in (one.low, one.high)]
    values += [mark.value] if mark else []
    pad = 0.05 * (max(values) - min(values)) if values else 0
    return (min(values) - pad, max(values) + pad) if pad else None


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


def _of(results: Results, name: str, measure: Measure) -> float | None:
    """A measure of a reference run."""
    run = results.run(name)
    return results.values(run, measure).get(None) if run else None


def _window_mark(results: Results, measure: Measure) -> Mark | None:
    value = _of(results, WINDOW, measure)
    return None if value is None else Mark(value, f"best outside with 5 words {number(value, measure.unit)}")


def _token_share(results: Results) -> str:
    return number(_first(results, TOKEN_SHARE), "share")


def _means(results: Results, measure: Measure) -> str:
    """The range of the trained runs' means."""
    return spread((results.mean(run, measure) for run in results.trained), measure.unit)
