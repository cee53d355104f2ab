"""Turn a check into the single questions that it asks of the observations.

A list of numbers, an order, an equivalence of several runs and ``all`` ask several questions at once. The claim
holds if the answer to each of them is yes, so no other module needs to know the kinds of checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from seedbed.observations import Scalar, condition_text
from seedbed.statistics.claims import (
    AllCheck,
    BandCheck,
    BoundCheck,
    Check,
    EquivalentCheck,
    ExactCheck,
    ExistsCheck,
    NoiseCheck,
    Operand,
    OrderCheck,
)
from seedbed.statistics.decisions import (
    Decision,
    Limits,
    Outcome,
    StatedValue,
    decide_existence,
    decide_stated_value,
    decide_within_limits,
    possible_outcomes,
)
from seedbed.statistics.estimates import Estimate, Mean, RelativeMean, Share, Spread
from seedbed.statistics.intervals import Interval, Scale, scale_of
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
        limits: For a share of seeds: its limits.
        problem: Why nothing can be decided, in words; empty otherwise.
        diverged: The number of seeds whose training diverged.
    """

    subject: str
    expected: str
    evidence: tuple[ObservationKey, ...]
    n: int
    decide: Decide
    has_stated_value: bool = False
    chance: bool = False
    limits: Limits | None = None
    problem: str = ""
    diverged: int = 0

    def possible(self, parts: int) -> frozenset[Outcome]:
        """What its number of seeds could decide; only a share of seeds has few enough values to say so."""
        if self.limits is None or not self.n:
            return _EITHER
        return possible_outcomes(self.limits, self.n, parts)


@dataclass(frozen=True)
class _Reading:
    """A number that is asked about, with its value for each seed.

    Attributes:
        subject: The number, in words.
        evidence: The keys of its observations.
        values: Its value for each seed.
        groups: How far each group of shared items moves it, for each seed, or moves its logarithm if the scale is
            ``perplexity``; empty if items are not shared.
        scale: The range of the number.
        independent: The number of independent items of a share.
    """

    subject: str
    evidence: tuple[ObservationKey, ...]
    values: Series
    groups: Mapping[int | None, NDArray[np.float64]] = field(default_factory=dict)
    scale: Scale = "plain"
    independent: int = 0

    @property
    def seeds(self) -> int:
        return len(self.values.keys() - {None})

    @property
    def numbers(self) -> list[float]:
        return [_number(value) for value in self.values.values()]

    def mean(self) -> Mean:
        numbers = np.log(self.numbers).tolist() if self.scale == "perplexity" else self.numbers
        groups = [self.groups[seed] for seed in self.values] if self.groups else []
        return Mean.of(numbers, bool(self.seeds), self.scale, groups, self.independent)

    def minus(self, other: _Reading) -> _Reading:
        """The difference, seed by seed, on the seeds that both have."""
        own, others = _for_seeds_of(other, self), _for_seeds_of(self, other)
        shared = [seed for seed in own.values if seed in others.values]
        values: Series = {seed: _number(own.values[seed]) - _number(others.values[seed]) for seed in shared}
        known = own.groups and others.groups
        groups = {seed: own.linear(seed) - others.linear(seed) for seed in shared} if known else {}
        return _Reading(f"{self.subject} − {other.subject}", self.evidence + other.evidence, values, groups)

    def linear(self, seed: int | None) -> NDArray[np.float64]:
        """[groups], how far each group of items moves the value itself, also where the groups are of nats."""
        factor = _number(self.values[seed]) if self.scale == "perplexity" else 1.0
        return self.groups[seed] * factor


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
        case NoiseCheck():
            yield from _against_noise(check, observed)
        case ExistsCheck():
            yield _existence(check, observed)


def undecidable(check: Check, seeds: int) -> bool:
    """Whether this number of seeds can neither confirm nor contradict a check, whatever they do.

    Only shares of seeds have so few values that this can be known.
    """
    parts = list(_parts(check))
    statements = max(1, sum(count for _, count in parts))
    each = [possible_outcomes(limits, seeds, statements) if limits else _EITHER for limits, _ in parts]
    return "contradicted" not in frozenset().union(*each) and not all("reproduced" in one for one in each)


_EITHER: frozenset[Outcome] = frozenset({"reproduced", "contradicted"})


def _parts(check: Check) -> Iterator[tuple[Limits | None, int]]:
    """The limits of a share of seeds, or none, and the number of statements that chance may decide."""
    match check:
        case AllCheck():
            for part in check.of:
                yield from _parts(part)
        case BoundCheck() if check.of.passes:
            yield _limits(check.at_least, check.at_most), 1
        case ExactCheck() | ExistsCheck():
            yield None, 0
        case BandCheck() | BoundCheck():
            yield None, check.of.numbers
        case OrderCheck() | EquivalentCheck() | NoiseCheck():
            numbers = sum(operand.numbers for operand in check.of)
            yield None, numbers - 1 if isinstance(check, OrderCheck) else numbers * (numbers - 1) // 2


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
        passes = check.of.passes
        passing = _passing(check.of, _limits(passes.at_least, passes.at_most), passes.count, readings)
        yield replace(_limits_question(passing, limits, observed, partial(_share, passing)), limits=limits)
        return
    for reading in readings:
        yield _limits_question(reading, limits, observed, partial(_estimate, check.of, reading))


def _estimate(operand: Operand, reading: _Reading) -> Mean | Spread:
    return Spread.of(reading.numbers) if operand.seeds == "sd" else reading.mean()


def _share(passing: _Reading) -> Share:
    return Share(passing.numbers.count(1.0), passing.seeds)


def _passing(operand: Operand, limits: Limits, count: int | None, readings: Sequence[_Reading]) -> _Reading:
    """Success (1) or failure (0) of each seed: it succeeds if enough of its numbers lie within the limits.

    A number that is not finite, as those of a training that diverged, lies within no limits.
    """
    needed = count or len(readings)
    evidence = tuple(key for reading in readings for key in reading.evidence)
    values: Series = {}
    for seed in readings[0].values if all(reading.values for reading in readings) else ():
        numbers = [_number(reading.values.get(seed, math.nan)) for reading in readings]
        within = [math.isfinite(one) and limits.low <= one <= limits.high for one in numbers]
        values[seed] = float(sum(within) >= needed)
    whole = _subject(operand, condition_text(_listed(operand)))
    subject = f"{f'{needed} or more of ' if count else ''}{readings[0].subject if operand.reduce else whole}"
    return _Reading(f"share of seeds with {subject} {_limits_text(limits)}", evidence, values)


def _existence(check: ExistsCheck, observed: ObservationTable) -> Question:
    """Whether at least one seed has all its numbers within the limits."""
    limits = _limits(check.at_least, check.at_most)
    reading = _passing(check.of, limits, check.count, list(_readings(check.of, observed)))

    def decide(parts: int, n: int | None) -> Decision:
        share = _share(reading)
        seeds = share.n if n is None else n
        return decide_existence(round(share.value * max(seeds, 1)), seeds, check.lecture_runs, parts)

    return _question(
        reading, "at least one seed", observed, decide, chance=bool(reading.seeds) and not any(reading.numbers)
    )


def _comparisons(check: OrderCheck | EquivalentCheck, observed: ObservationTable) -> Iterator[Question]:
    readings = [reading for operand in check.of for reading in _readings(operand, observed)]
    ordered = isinstance(check, OrderCheck)
    limits = Limits(check.margin, math.inf) if ordered else Limits(-check.margin, check.margin)
    for first, second in pairwise(readings) if ordered else combinations(readings, 2):
        both = first.minus(second)
        yield _limits_question(both, limits, observed, both.mean)


def _against_noise(check: NoiseCheck, observed: ObservationTable) -> Iterator[Question]:
    readings = [reading for operand in check.of for reading in _readings(operand, observed)]
    (noise,) = _readings(check.to, observed)
    limits = Limits(-check.at_most, check.at_most)
    for first, second in combinations(readings, 2):
        both = first.minus(second)
        relative = replace(
            both,
            subject=f"({both.subject}) as a multiple of the seed noise of {noise.subject}",
            evidence=tuple(dict.fromkeys(both.evidence + noise.evidence)),
        )
        yield _limits_question(relative, limits, observed, partial(_relative, both, noise))


def _relative(difference: _Reading, noise: _Reading) -> RelativeMean:
    return RelativeMean(difference.mean(), Spread.of(noise.numbers))


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
    diverged = len({seed for key in reading.evidence for seed in observed.diverged(key)})
    common = (reading.subject, expected, reading.evidence, reading.seeds)
    if outcome:
        nothing = Decision(outcome, Interval(math.nan, math.nan, math.nan, reading.seeds), math.nan)
        return Question(*common, lambda parts, n: nothing, problem=problem, diverged=diverged)
    return Question(*common, decide, has_stated_value, chance, diverged=diverged)


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
    """The numbers of an operand: one for each of its conditions, or their range."""
    each = [_under(operand, condition, observed) for condition in operand.conditions]
    if operand.reduce is None:
        yield from each
        return
    seeds = each[0].values if all(one.values for one in each) else {}
    by_seed = {seed: [_number(one.values.get(seed, math.nan)) for one in each] for seed in seeds}
    values: Series = {seed: float(np.ptp(numbers)) for seed, numbers in by_seed.items()}
    evidence = tuple(key for one in each for key in one.evidence)
    yield _Reading(f"range of {_subject(operand, condition_text(_listed(operand)))}", evidence, values)


def _under(operand: Operand, condition: Mapping[str, Scalar], observed: ObservationTable) -> _Reading:
    where = condition_text(condition)
    keys = [ObservationKey(operand.study, run, operand.metric, where) for run in operand.runs]
    readings = [_reading(key, operand, observed) for key in keys]
    found = readings[0].minus(readings[1]) if operand.minus else readings[0]
    return replace(found, subject=_subject(operand, where))


def _listed(operand: Operand) -> dict[str, Scalar]:
    """The whole condition of an operand, with all of its values in words."""
    return {
        key: " and ".join(map(str, one)) if isinstance(one, list) else one for key, one in operand.where.items()
    }


def _reading(key: ObservationKey, operand: Operand, observed: ObservationTable) -> _Reading:
    values = _in_scale(observed.series(key), operand)
    groups = {seed: np.array(each) for seed, each in observed.groups(key).items() if each}
    known = groups if groups.keys() == values.keys() else {}
    scale = operand.scale or scale_of(observed.unit(key), map(_number, values.values()))
    return _Reading("", (key,), values, known, scale, observed.independent(key))


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


def _for_seeds_of(other: _Reading, reading: _Reading) -> _Reading:
    """The reading; the one value of a reference run is repeated for every seed of the other reading."""
    if None not in reading.values:
        return reading
    groups = dict.fromkeys(other.values, reading.groups[None]) if reading.groups else {}
    return replace(reading, values=dict.fromkeys(other.values, reading.values[None]), groups=groups)


def _number(value: float | str) -> float:
    return math.nan if isinstance(value, str) else value


def _each(to: float | str | list[float] | list[float | str], operand: Operand) -> Sequence[float | str]:
    return to if isinstance(to, list) else [to] * operand.numbers


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
