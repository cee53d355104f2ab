"""Verdicts: what the observations say of every claim, one for each.

Nothing here is typed in: an outcome is computed from the table, and so are the sentence that explains it and the
places of its evidence.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from seedbed.statistics.claims import Check, Claim, Settings
from seedbed.statistics.decisions import ALPHA, MOST_SEEDS, Decision, Outcome, seeds_needed
from seedbed.statistics.numbers import number, seeds
from seedbed.statistics.observed import Cell, Observed
from seedbed.statistics.questions import Question, questions

#: Of several outcomes of a conjunction the first here is its own: one false statement makes the whole false.
SEVERITY: tuple[Outcome, ...] = (
    "contradicted",
    "differs",
    "non-finite",
    "not run",
    "undecided",
    "reproduced",
)


@dataclass(frozen=True)
class Verdict:
    """The outcome of a claim; where it asks several questions, the numbers are those of the one that decided.

    Attributes:
        id: The claim.
        outcome: What the observations say of it.
        explanation: Why, in one line with the numbers.
        estimate: The number that was compared; none where there is none.
        low: The lower end of the interval that was compared; none where there is none.
        high: Its upper end.
        level: The level of that interval.
        n: The number of seeds; 0 where the number belongs to none.
        expected: What the number should be, with its margin, in words.
        seeds_needed: Of an undecided claim: about how many seeds would decide it; 101 stands for more than 100.
        by_construction: Whether it holds because it was built so, and is no evidence.
        chance: Whether other seeds could have decided it otherwise.
        same_as: The claims that it repeats; they are counted, it is not.
        evidence: Where its numbers stand in the table of observations.
    """

    id: str
    outcome: Outcome
    explanation: str
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    n: int = 0
    expected: str = ""
    seeds_needed: int | None = None
    by_construction: bool = False
    chance: bool = False
    same_as: tuple[str, ...] = ()
    evidence: tuple[Cell, ...] = ()

    @property
    def decided(self) -> bool:
        """Whether the observations say yes or no."""
        return self.outcome in ("reproduced", "contradicted", "differs")

    def row(self) -> dict[str, object]:
        """The verdict as a row of the table of verdicts, its evidence as a list of cells by column."""
        values: dict[str, object] = {field.name: getattr(self, field.name) for field in fields(self)}
        return values | {"same_as": list(self.same_as), "evidence": [cell._asdict() for cell in self.evidence]}


def verdicts(
    claims: Mapping[str, Claim],
    observed: Observed,
    settings: Mapping[str, Mapping[str, object]],
    rebuilt: Collection[str],
) -> list[Verdict]:
    """A verdict for every claim, in their order.

    Args:
        claims: The claims by id.
        observed: The observations of the build.
        settings: What the configuration says at each path of a ``setting`` claim, by id; no entry where its study
            is not part of the build.
        rebuilt: The studies whose language is a reconstruction.

    Raises:
        ValueError: a claim repeats one that has no check of its own.
    """
    found: dict[str, Verdict] = {}
    for name, claim in claims.items():
        if claim.setting is not None:
            found[name] = _setting(name, claim.setting, settings.get(name), rebuilt)
        elif claim.check is not None:
            found[name] = _judged(name, claim, claim.check, observed, rebuilt)
    for name, claim in claims.items():
        if claim.same_as is not None:
            found[name] = _repeated(name, claim, found, claims)
    return [found[name] for name in claims]


def expected_wrong(found: Iterable[Verdict]) -> float:
    """How many of the decided verdicts chance alone would get wrong, at most."""
    return ALPHA * sum(one.decided and one.chance for one in found)


def _judged(name: str, claim: Claim, check: Check, observed: Observed, rebuilt: Collection[str]) -> Verdict:
    asked = list(questions(check, observed))
    parts = max(1, sum(question.chance for question in asked))
    decisions = [question.decide(parts, None) for question in asked]
    outcomes = [_outcome(*pair, rebuilt) for pair in zip(asked, decisions, strict=True)]
    outcome = min(outcomes, key=SEVERITY.index)
    chosen = outcomes.index(outcome)
    question, decision = asked[chosen], decisions[chosen]
    needed = _needed(asked, outcomes, parts) if outcome == "undecided" else None
    return Verdict(
        id=name,
        outcome=outcome,
        explanation=_count(outcomes) + _sentence(question, decision) + _plan(needed),
        estimate=_finite(decision.interval.mean),
        low=_finite(decision.interval.low),
        high=_finite(decision.interval.high),
        level=_finite(decision.level),
        n=question.n,
        expected=question.expected,
        seeds_needed=needed,
        by_construction=claim.by_construction,
        chance=any(one.chance for one in asked),
        evidence=tuple(dict.fromkeys(cell for one in asked for cell in one.cells)),
    )


def _outcome(question: Question, decision: Decision, rebuilt: Collection[str]) -> Outcome:
    missed = decision.outcome == "contradicted" and question.figure
    return "differs" if missed and question.cells[0].study in rebuilt else decision.outcome


def _needed(asked: Sequence[Question], outcomes: Sequence[Outcome], parts: int) -> int:
    """As many as the question that needs most."""
    return max(
        seeds_needed(lambda n, one=question: one.decide(parts, n), question.n)  # type: ignore[misc]
        for question, outcome in zip(asked, outcomes, strict=True)
        if outcome == "undecided"
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _count(outcomes: Sequence[Outcome]) -> str:
    if len(outcomes) == 1:
        return ""
    held = sum(outcome == "reproduced" for outcome in outcomes)
    which = "the first" if held == len(outcomes) else "another"
    return f"{held} of {len(outcomes)} statements hold; {which}: "


def _sentence(question: Question, decision: Decision) -> str:
    if question.problem:
        return f"{question.subject}: {question.problem}; expected {question.expected}."
    return f"{question.subject} is {_estimate(question, decision)}; expected {question.expected}."


def _estimate(question: Question, decision: Decision) -> str:
    interval = decision.interval
    if decision.level == 1:
        return _found(question, decision)
    if question.n == 0:
        return number(interval.mean)
    words = f"{number(interval.mean)} over {seeds(question.n)}"
    if not interval.defined:
        return f"{words}, too few for an interval"
    what = "of further figures" if question.figure else "interval"
    return f"{words} ({100 * decision.level:.3g} % {what} {number(interval.low)} to {number(interval.high)})"


def _found(question: Question, decision: Decision) -> str:
    """What an exact check found, which needs no interval."""
    interval = decision.interval
    if not interval.defined:
        return "that text" if decision.outcome == "reproduced" else "another text"
    ends = "" if interval.low == interval.high else f", from {number(interval.low)} to {number(interval.high)}"
    return number(interval.mean) + (f" over {seeds(question.n)}" if question.n else "") + ends


def _plan(needed: int | None) -> str:
    if needed is None:
        return ""
    if needed > MOST_SEEDS:
        return f" More than {MOST_SEEDS} seeds would be needed to decide."
    return f" About {seeds(needed)} would decide." if needed > 2 else " At least 2 seeds are needed to decide."


def _setting(
    name: str, setting: Settings, found: Mapping[str, object] | None, rebuilt: Collection[str]
) -> Verdict:
    expected = ", ".join(f"{path} = {value}" for path, value in setting.values.items())
    if found is None:
        return Verdict(name, "not run", f"{setting.study} is no part of this build; expected {expected}.")
    wrong = [path for path, value in setting.values.items() if not _equal(found[path], value)]
    outcome: Outcome = "differs" if setting.study in rebuilt else "contradicted"
    says = ", ".join(f"{path} = {found[path]}" for path in wrong or setting.values)
    return Verdict(
        id=name,
        outcome=outcome if wrong else "reproduced",
        explanation=f"{setting.study} has {says}" + (f"; expected {expected}." if wrong else ", as stated."),
        expected=expected,
        by_construction=True,
    )


def _equal(found: object, value: object) -> bool:
    """Equal, and not as ``True == 1`` is."""
    return found == value and isinstance(found, bool) == isinstance(value, bool)


def _repeated(name: str, claim: Claim, found: Mapping[str, Verdict], claims: Mapping[str, Claim]) -> Verdict:
    targets = []
    for target in claim.same_as or ():
        if target not in claims or claims[target].same_as is not None:
            raise ValueError(f"{name}: same_as: {target} is no claim with a check of its own")
        targets.append(found[target])
    chosen = min(targets, key=lambda one: SEVERITY.index(one.outcome))
    return replace(
        chosen,
        id=name,
        explanation=f"The same as {chosen.id}: {chosen.explanation}",
        by_construction=all(one.by_construction for one in targets),
        chance=False,
        same_as=tuple(one.id for one in targets),
        evidence=tuple(dict.fromkeys(cell for one in targets for cell in one.evidence)),
    )
