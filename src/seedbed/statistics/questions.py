"""Turn a check into the single questions that it asks of the observations.

A list of numbers, an order, an equivalence of several runs and ``all`` ask several questions at once. The claim
holds if the answer to each of them is yes, so no other module needs to know the kinds of checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise

import numpy as np

from seedbed.observations import condition_text
from seedbed.statistics.claims import (
    AllCheck,
    BandCheck,
    BoundCheck,
    Check,
    EquivalentCheck,
    ExactCheck,
    Operand,
    OrderCheck,
    Passes,
)
from seedbed.statistics.decisions import (
    Decision,
    Limits,
    Outcome,
    StatedValue,
    decide_stated_value,
    decide_within_limits,
)
from seedbed.statistics.estimates import Estimate, Mean, Share, Spread
from seedbed.statistics.intervals import Interval
from seedbed.statistics.numbers import number_text
from seedbed.statistics.observed import ObservationKey, ObservationTable, Series

#: Maps the number of questions of the claim, and the number of seeds (None for the present one), to a decision.
Decide = Callable[[int, int | None], Decision]


@dataclass(frozen=True)
class Question:
    """One number that a claim makes a statement about.

    Attributes:
        subject: The number, in words.
        expected: What it should be, in words.
        evidence: The keys of the observations that it is computed from.
        n: The number of seeds; 0 if the number depends on no seed.
        decide: Decides the question.
        has_stated_value: Whether the number is compared with a value that the lecture states. A rebuilt language
            may miss that value without making the lecture wrong.
        chance: Whether other seeds could lead to another decision.
        problem: Why nothing can be decided, in words; empty otherwise.
    """

    subject: str
    expected: str
    evidence: tuple[ObservationKey, ...]
    n: int
    decide: Decide
    has_stated_value: bool = False
    chance: bool = False
    problem: str = ""


@dataclass(frozen=True)
class _Reading:
    """A number that is asked about, with its value for each seed."""

    subject: str
    evidence: tuple[ObservationKey, ...]
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


def questions(check: Check, observed: ObservationTable) -> Iterator[Question]:
    """The questions of a check, in its order."""
    match check:
        case AllCheck():
            for part in check.of:
                yield from questions(part, observed)
        case ExactCheck():
            for reading, to in zip(_readings(check.of, observed), _each(check.to, check.of), strict=True):
                yield _exact(reading, to, observed)
        case BandCheck():
            for reading, to in zip(_readings(check.of, observed), _each(check.to, check.of), strict=True):
                yield _band(check, reading, float(to), observed)
        case BoundCheck():
            yield from _bounds(check, observed)
        case OrderCheck() | EquivalentCheck():
            yield from _comparisons(check, observed)


def _exact(reading: _Reading, to: float | str, observed: ObservationTable) -> Question:
    def decide(parts: int, n: int | None) -> Decision:
        held = all(_same(value, to) for value in reading.values.values())
        numbers = [math.nan] if isinstance(to, str) else reading.numbers
        interval = Interval(float(np.mean(numbers)), min(numbers), max(numbers), reading.seeds)
        return Decision("reproduced" if held else "contradicted", interval, 1.0)

    expected = f"“{to}”" if isinstance(to, str) else number_text(to)
    return _question(reading, expected, observed, decide, has_stated_value=True, text=isinstance(to, str))


def _same(value: float | str, to: float | str) -> bool:
    """Whether two texts are equal, or two numbers up to the rounding errors of sums."""
    if isinstance(value, str) or isinstance(to, str):
        return value == to
    return math.isclose(value, to, rel_tol=1e-9, abs_tol=1e-12)


def _band(check: BandCheck, reading: _Reading, to: float, observed: ObservationTable) -> Question:
    stated = StatedValue(to, check.margin, check.rounding, check.lecture_runs, check.noise)

    def decide(parts: int, n: int | None) -> Decision:
        return decide_stated_value(_estimate(check.of, reading), stated, parts, n)

    expected = f"{number_text(to)} (margin {number_text(check.margin)})"
    return _question(reading, expected, observed, decide, has_stated_value=True, chance=bool(reading.seeds))


def _bounds(check: BoundCheck, observed: ObservationTable) -> Iterator[Question]:
    limits = _limits(check.at_least, check.at_most)
    readings = list(_readings(check.of, observed))
    if check.of.passes:
        passing = _passing(check.of, check.of.passes, readings)
        yield _limits_question(passing, limits, observed, partial(_share, passing))
        return
    for reading in readings:
        yield _limits_question(reading, limits, observed, partial(_estimate, check.of, reading))


def _estimate(operand: Operand, reading: _Reading) -> Mean | Spread:
    if operand.seeds == "sd":
        return Spread.of(reading.numbers)
    # The interval of a perplexity is computed on nats, but not that of a difference of two perplexities.
    return reading.mean(logarithmic=operand.scale == "perplexity" and operand.minus is None)


def _share(passing: _Reading) -> Share:
    return Share(passing.numbers.count(1.0), passing.seeds)


def _passing(operand: Operand, passes: Passes, readings: Sequence[_Reading]) -> _Reading:
    """Success (1) or failure (0) of each seed: it succeeds if enough of its numbers lie within the limits."""
    needed = passes.count or len(readings)
    evidence = tuple(key for reading in readings for key in reading.evidence)
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
    return _Reading(f"share of seeds with {subject} {_limits_text(limits)}", evidence, values)


def _comparisons(check: OrderCheck | EquivalentCheck, observed: ObservationTable) -> Iterator[Question]:
    readings = [reading for operand in check.of for reading in _readings(operand, observed)]
    ordered = isinstance(check, OrderCheck)
    limits = Limits(check.margin, math.inf) if ordered else Limits(-check.margin, check.margin)
    for first, second in pairwise(readings) if ordered else combinations(readings, 2):
        both = _Reading(
            f"{first.subject} − {second.subject}",
            first.evidence + second.evidence,
            _difference(first.values, second.values),
        )
        yield _limits_question(both, limits, observed, both.mean)


def _limits_question(
    reading: _Reading, limits: Limits, observed: ObservationTable, estimate: Callable[[], Estimate]
) -> Question:
    def decide(parts: int, n: int | None) -> Decision:
        return decide_within_limits(estimate(), limits, parts, n)

    return _question(reading, _limits_text(limits), observed, decide, chance=bool(reading.seeds))


def _question(
    reading: _Reading,
    expected: str,
    observed: ObservationTable,
    decide: Decide,
    has_stated_value: bool = False,
    chance: bool = False,
    text: bool = False,
) -> Question:
    outcome, problem = _problem(reading, observed, text)
    if outcome:
        nothing = Decision(outcome, Interval(math.nan, math.nan, math.nan, reading.seeds), math.nan)
        return Question(
            reading.subject, expected, reading.evidence, reading.seeds, lambda parts, n: nothing, problem=problem
        )
    return Question(reading.subject, expected, reading.evidence, reading.seeds, decide, has_stated_value, chance)


def _problem(reading: _Reading, observed: ObservationTable, text: bool) -> tuple[Outcome | None, str]:
    for key in reading.evidence:
        if not observed.series(key):
            return "not run", observed.explain_missing(key)
    if not reading.values:
        return "not run", "the runs have no seed in common"
    odd = [seed for seed, value in reading.values.items() if not math.isfinite(_number(value))]
    if odd and not text:
        seeds = ", ".join("the reference" if seed is None else str(seed) for seed in odd)
        return "non-finite", f"no finite number in seed {seeds}"
    return None, ""


def _readings(operand: Operand, observed: ObservationTable) -> Iterator[_Reading]:
    """The numbers of an operand, one for each of its conditions."""
    for condition in operand.conditions:
        where = condition_text(condition)
        evidence = tuple(ObservationKey(operand.study, run, operand.metric, where) for run in operand.runs)
        series = [_in_scale(observed.series(key), operand) for key in evidence]
        values = _difference(*series) if operand.minus else series[0]
        yield _Reading(_subject(operand, where), evidence, values)


def _subject(operand: Operand, where: str) -> str:
    words = f"{' − '.join(operand.runs)} {operand.scale or operand.metric}" + (f" ({where})" if where else "")
    return f"seed noise (standard deviation) of {words}" if operand.seeds == "sd" else words


def _in_scale(series: Series, operand: Operand) -> Series:
    """The series in the operand's scale. A loss that is not finite becomes NaN, since exp(-inf) would be 0."""
    if operand.scale is None:
        return series
    nats = {seed: _number(value) for seed, value in series.items()}
    with np.errstate(over="ignore"):
        return {seed: float(np.exp(value)) if math.isfinite(value) else math.nan for seed, value in nats.items()}


def _difference(first: Series, second: Series) -> Series:
    """The first minus the second, for each seed that both have."""
    one, other = _for_seeds_of(second, first), _for_seeds_of(first, second)
    return {seed: _number(value) - _number(other[seed]) for seed, value in one.items() if seed in other}


def _for_seeds_of(other: Series, series: Series) -> Series:
    """The series; the one value of a reference run is repeated for every seed of the other series."""
    return dict.fromkeys(other, series[None]) if None in series else series


def _number(value: float | str) -> float:
    return math.nan if isinstance(value, str) else value


def _each(to: float | str | list[float] | list[float | str], operand: Operand) -> Sequence[float | str]:
    return to if isinstance(to, list) else [to] * len(operand.conditions)


def _limits(at_least: float | None, at_most: float | None) -> Limits:
    return Limits(-math.inf if at_least is None else at_least, math.inf if at_most is None else at_most)


def _limits_text(limits: Limits) -> str:
    if limits.two_ended:
        return f"from {number_text(limits.low)} to {number_text(limits.high)}"
    return (
        f"at least {number_text(limits.low)}"
        if math.isfinite(limits.low)
        else f"at most {number_text(limits.high)}"
    )
