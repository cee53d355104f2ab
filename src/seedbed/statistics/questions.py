"""From a check to the single questions that it asks of the observations.

A list of numbers, a chain, a comparison of several runs and `all` ask several questions at once, and the claim is
their conjunction; so nothing else needs to know the kinds of checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise

import numpy as np

from seedbed.observations import condition_text
from seedbed.statistics.claims import All, Band, Bound, Check, Equivalent, Exact, Operand, Order, Passes
from seedbed.statistics.decisions import Decision, Figure, Limits, Outcome, predicts, within
from seedbed.statistics.estimates import Estimate, Mean, Share, Spread
from seedbed.statistics.intervals import Interval
from seedbed.statistics.numbers import number
from seedbed.statistics.observed import Cell, Observed, Series

#: How a question is decided: of how many it is one, and with how many seeds (none: those that are there).
Decide = Callable[[int, int | None], Decision]


@dataclass(frozen=True)
class Question:
    """One thing that a claim asks.

    Attributes:
        subject: The number that is asked about, in words.
        expected: What it should be, in words.
        cells: Where it stands in the table.
        n: The number of seeds; 0 for what belongs to none.
        decide: Decides it.
        figure: Whether a figure is compared, which a rebuilt language may miss without harm to its meaning.
        chance: Whether other seeds could decide it otherwise.
        problem: Why there is nothing to decide, in words.
    """

    subject: str
    expected: str
    cells: tuple[Cell, ...]
    n: int
    decide: Decide
    figure: bool = False
    chance: bool = False
    problem: str = ""


@dataclass(frozen=True)
class _Reading:
    """Numbers that are asked about, one a seed."""

    subject: str
    cells: tuple[Cell, ...]
    values: Series

    @property
    def seeds(self) -> int:
        return len(self.values.keys() - {None})

    @property
    def numbers(self) -> list[float]:
        return [_number(value) for value in self.values.values()]

    def mean(self, logarithmic: bool = False) -> Mean:
        numbers = np.log(self.numbers).tolist() if logarithmic else self.numbers
        return Mean.of(numbers, bool(self.seeds), logarithmic)


def questions(check: Check, observed: Observed) -> Iterator[Question]:
    """Everything that a check asks, in its order."""
    match check:
        case All():
            for part in check.of:
                yield from questions(part, observed)
        case Exact():
            for reading, to in zip(_readings(check.of, observed), _each(check.to, check.of), strict=True):
                yield _exact(reading, to, observed)
        case Band():
            for reading, to in zip(_readings(check.of, observed), _each(check.to, check.of), strict=True):
                yield _band(check, reading, float(to), observed)
        case Bound():
            yield from _bounds(check, observed)
        case Order() | Equivalent():
            yield from _comparisons(check, observed)


def _exact(reading: _Reading, to: float | str, observed: Observed) -> Question:
    def decide(parts: int, n: int | None) -> Decision:
        held = all(_same(value, to) for value in reading.values.values())
        numbers = [math.nan] if isinstance(to, str) else reading.numbers
        interval = Interval(float(np.mean(numbers)), min(numbers), max(numbers), reading.seeds)
        return Decision("reproduced" if held else "contradicted", interval, 1.0)

    return _question(reading, _shown(to), observed, decide, figure=True, text=isinstance(to, str))


def _same(value: float | str, to: float | str) -> bool:
    """Equal as text, or as numbers up to what sums of floats lose."""
    if isinstance(value, str) or isinstance(to, str):
        return value == to
    return math.isclose(value, to, rel_tol=1e-9, abs_tol=1e-12)


def _band(check: Band, reading: _Reading, to: float, observed: Observed) -> Question:
    figure = Figure(to, check.margin, check.rounding, check.lecture_runs, check.noise)

    def decide(parts: int, n: int | None) -> Decision:
        return predicts(_estimate(check.of, reading), figure, parts, n)

    expected = f"{number(to)} (margin {number(check.margin)})"
    return _question(reading, expected, observed, decide, figure=True, chance=bool(reading.seeds))


def _bounds(check: Bound, observed: Observed) -> Iterator[Question]:
    limits = _limits(check.at_least, check.at_most)
    readings = list(_readings(check.of, observed))
    if check.of.passes:
        passing = _passing(check.of, check.of.passes, readings)
        yield _limited(passing, limits, observed, partial(_share, passing))
        return
    for reading in readings:
        yield _limited(reading, limits, observed, partial(_estimate, check.of, reading))


def _estimate(operand: Operand, reading: _Reading) -> Mean | Spread:
    if operand.seeds == "sd":
        return Spread.of(reading.numbers)
    return reading.mean(_logarithmic(operand))


def _share(passing: _Reading) -> Share:
    return Share(passing.numbers.count(1.0), passing.seeds)


def _passing(operand: Operand, passes: Passes, readings: Sequence[_Reading]) -> _Reading:
    """Success (1) or failure (0) of each seed; it succeeds where as many of its numbers do as must."""
    needed = passes.count or len(readings)
    cells = tuple(cell for reading in readings for cell in reading.cells)
    limits = _limits(passes.at_least, passes.at_most)
    values: Series = {}
    for seed in readings[0].values if all(reading.values for reading in readings) else ():
        numbers = [_number(reading.values.get(seed, math.nan)) for reading in readings]
        passed = float(sum(limits.low <= one <= limits.high for one in numbers) >= needed)
        values[seed] = passed if all(map(math.isfinite, numbers)) else math.nan
    listed = {
        key: " and ".join(map(str, one)) if isinstance(one, list) else one for key, one in operand.where.items()
    }
    subject = f"{f'{needed} or more of ' if passes.count else ''}{_subject(operand, condition_text(listed))}"
    return _Reading(f"share of seeds with {subject} {_limited_words(limits)}", cells, values)


def _comparisons(check: Order | Equivalent, observed: Observed) -> Iterator[Question]:
    readings = [reading for operand in check.of for reading in _readings(operand, observed)]
    ordered = isinstance(check, Order)
    limits = Limits(check.margin, math.inf) if ordered else Limits(-check.margin, check.margin)
    for first, second in pairwise(readings) if ordered else combinations(readings, 2):
        both = _Reading(
            f"{first.subject} − {second.subject}",
            first.cells + second.cells,
            _difference(first.values, second.values),
        )
        yield _limited(both, limits, observed, both.mean)


def _limited(reading: _Reading, limits: Limits, observed: Observed, estimate: Callable[[], Estimate]) -> Question:
    def decide(parts: int, n: int | None) -> Decision:
        return within(estimate(), limits, parts, n)

    return _question(reading, _limited_words(limits), observed, decide, chance=bool(reading.seeds))


def _question(
    reading: _Reading,
    expected: str,
    observed: Observed,
    decide: Decide,
    figure: bool = False,
    chance: bool = False,
    text: bool = False,
) -> Question:
    outcome, problem = _problem(reading, observed, text)
    if outcome:
        nothing = Decision(outcome, Interval(math.nan, math.nan, math.nan, reading.seeds), math.nan)
        return Question(
            reading.subject, expected, reading.cells, reading.seeds, lambda parts, n: nothing, problem=problem
        )
    return Question(reading.subject, expected, reading.cells, reading.seeds, decide, figure, chance)


def _problem(reading: _Reading, observed: Observed, text: bool) -> tuple[Outcome | None, str]:
    for cell in reading.cells:
        if not observed.series(cell):
            return "not run", observed.missing(cell)
    if not reading.values:
        return "not run", "the runs have no seed in common"
    odd = [seed for seed, value in reading.values.items() if not math.isfinite(_number(value))]
    if odd and not text:
        seeds = ", ".join("the reference" if seed is None else str(seed) for seed in odd)
        return "non-finite", f"no finite number in seed {seeds}"
    return None, ""


def _readings(operand: Operand, observed: Observed) -> Iterator[_Reading]:
    """The numbers of an operand, one reading a condition."""
    for condition in operand.conditions:
        where = condition_text(condition)
        cells = tuple(Cell(operand.study, run, operand.metric, where) for run in operand.runs)
        series = [_scaled(observed.series(cell), operand) for cell in cells]
        values = _difference(*series) if operand.minus else series[0]
        yield _Reading(_subject(operand, where), cells, values)


def _subject(operand: Operand, where: str) -> str:
    words = f"{' − '.join(operand.runs)} {operand.scale or operand.metric}" + (f" ({where})" if where else "")
    return f"seed noise (standard deviation) of {words}" if operand.seeds == "sd" else words


def _logarithmic(operand: Operand) -> bool:
    """Whether an interval is formed on nats: that of a perplexity, but not that of a difference of two."""
    return operand.scale == "perplexity" and operand.minus is None


def _scaled(series: Series, operand: Operand) -> Series:
    """A loss that is not finite is no perplexity either: minus infinity would become 0."""
    if operand.scale is None:
        return series
    nats = {seed: _number(value) for seed, value in series.items()}
    with np.errstate(over="ignore"):
        return {seed: float(np.exp(value)) if math.isfinite(value) else math.nan for seed, value in nats.items()}


def _difference(first: Series, second: Series) -> Series:
    """Seed by seed, on the seeds that both have."""
    one, other = _beside(first, second), _beside(second, first)
    return {seed: _number(value) - _number(other[seed]) for seed, value in one.items() if seed in other}


def _beside(series: Series, other: Series) -> Series:
    """A reference run's one value stands beside every seed of the other run."""
    return dict.fromkeys(other, series[None]) if None in series else series


def _number(value: float | str) -> float:
    return math.nan if isinstance(value, str) else value


def _each(to: float | str | list[float] | list[float | str], operand: Operand) -> Sequence[float | str]:
    return to if isinstance(to, list) else [to] * len(operand.conditions)


def _limits(at_least: float | None, at_most: float | None) -> Limits:
    return Limits(-math.inf if at_least is None else at_least, math.inf if at_most is None else at_most)


def _limited_words(limits: Limits) -> str:
    if limits.two_ended:
        return f"from {number(limits.low)} to {number(limits.high)}"
    return f"at least {number(limits.low)}" if math.isfinite(limits.low) else f"at most {number(limits.high)}"


def _shown(to: float | str) -> str:
    return f"“{to}”" if isinstance(to, str) else number(to)
