"""Verdicts: for each claim, whether the observations confirm it.

The outcome, the sentence that explains it and the list of its evidence are all computed from the table of
observations.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal

from seedbed.statistics.claims import Check, Claim, StatedSettings
from seedbed.statistics.decisions import ALPHA, NO_SEEDS, Decision, Outcome, seeds_needed
from seedbed.statistics.explanations import explanation, recipes_words
from seedbed.statistics.observed import ObservationKey, ObservationTable
from seedbed.statistics.questions import Question, questions

#: The outcome of a claim with several statements is the first of these that occurs: one false statement makes the
#: whole claim false.
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
    """The outcome of a claim. If it asks several questions, the numbers are those of the question that decided.

    Attributes:
        id: The id of the claim.
        outcome: The outcome.
        explanation: The reason in one line, with the numbers.
        estimate: The number that was compared; None if there is none.
        low: The lower end of the interval that was compared; None if there is none.
        high: Its upper end.
        level: The level of that interval; 1 if every seed must agree, and the interval spans all seeds.
        n: The number of seeds; 0 if the number depends on no seed.
        expected: What the number should be, with its margin, in words.
        seeds_needed: For an undecided claim, about how many seeds would decide it, see `decisions.seeds_needed`.
        possible: What the present number of seeds could decide about a share of seeds; None for any other claim.
        by_construction: Whether the claim holds because of how we built it, and is no evidence.
        chance: Whether other seeds could have led to another decision.
        compatible: Whether it is reproduced because a stated value lies in our prediction interval. A value that
            is slightly off may lie there too, and how often is not known.
        reference: The outcome on the committed reference; empty if it was not asked.
        reference_n: The number of seeds there.
        same_as: The claims that this one repeats. They are counted, and this one is not.
        evidence: The keys of its observations.
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
    possible: tuple[Outcome, ...] | None = None
    by_construction: bool = False
    chance: bool = False
    compatible: bool = False
    reference: Outcome | Literal[""] = ""
    reference_n: int = 0
    same_as: tuple[str, ...] = ()
    evidence: tuple[ObservationKey, ...] = ()

    @property
    def decided(self) -> bool:
        """Whether the observations confirm or contradict the claim."""
        return self.outcome in ("reproduced", "contradicted", "differs")

    def row(self) -> dict[str, object]:
        """The verdict as a row of the table of verdicts; its evidence is a list of keys as mappings."""
        values: dict[str, object] = {field.name: getattr(self, field.name) for field in fields(self)}
        possible = None if self.possible is None else list(self.possible)
        lists = {"same_as": list(self.same_as), "evidence": [key._asdict() for key in self.evidence]}
        return values | lists | {"possible": possible}


def verdicts(
    claims: Mapping[str, Claim],
    observed: ObservationTable,
    settings: Mapping[str, Mapping[str, object]],
    rebuilt: Collection[str],
) -> list[Verdict]:
    """The verdict of every claim, in the order of the claims.

    Args:
        claims: The claims by id.
        observed: The observations of the build.
        settings: For each ``setting`` claim by id, the configuration's value at each of its paths; no entry if the
            build does not include its study.
        rebuilt: The studies whose language is a reconstruction, and demonstrations, as ``demonstrations/NAME``.

    Raises:
        ValueError: a claim repeats one that has no check of its own.
    """
    found: dict[str, Verdict] = {}
    for name, claim in claims.items():
        if claim.setting is not None:
            found[name] = _setting_verdict(name, claim.setting, settings.get(name), rebuilt)
        elif claim.check is not None:
            found[name] = _check_verdict(name, claim, [judge(one, observed, rebuilt) for one in claim.checks])
    for name, claim in claims.items():
        if claim.same_as is not None:
            found[name] = _repeated_verdict(name, claim, found, claims)
    return [found[name] for name in claims]


def unmeasured(claims: Mapping[str, Claim], observed: ObservationTable) -> dict[str, str]:
    """For each claim on observations that its run lacks, though it was measured: which, and the nearest ones."""
    found = {}
    for name, claim in claims.items():
        for check in claim.checks:
            keys = [key for question in questions(check, observed) for key in question.evidence]
            lacking = [key for key in keys if observed.has_run(key) and not observed.series(key)]
            if lacking:
                found[name] = observed.explain_missing(lacking[0])
    return found


def expected_wrong(found: Iterable[Verdict]) -> float:
    """The largest expected number of decisions that are wrong by chance, without those that are ``compatible``."""
    return ALPHA * sum(one.decided and one.chance and not one.compatible for one in found)


@dataclass(frozen=True)
class Judgement:
    """The decisions on all questions of a check; the check holds if each of them is reproduced.

    Attributes:
        questions: The questions, at least one.
        decisions: The decision of each.
        outcomes: The outcome of each; ``differs`` if a rebuilt language misses a stated value.
        parts: How many of the decisions depend on chance, at least 1.
    """

    questions: tuple[Question, ...]
    decisions: tuple[Decision, ...]
    outcomes: tuple[Outcome, ...]
    parts: int

    @property
    def outcome(self) -> Outcome:
        """The most severe of the outcomes."""
        return min(self.outcomes, key=SEVERITY.index)

    @property
    def question(self) -> Question:
        """The first question with that outcome."""
        return self.questions[self.outcomes.index(self.outcome)]

    @property
    def decision(self) -> Decision:
        """The decision of that question."""
        return self.decisions[self.outcomes.index(self.outcome)]

    @property
    def seeds_needed(self) -> int | None:
        """About how many seeds would decide every undecided question; None if the outcome is another one."""
        if self.outcome != "undecided":
            return None
        pairs = zip(self.questions, self.outcomes, strict=True)
        return max(_seeds_needed(one, self.parts) for one, outcome in pairs if outcome == "undecided")

    @property
    def possible(self) -> frozenset[Outcome]:
        """What the present number of seeds could decide: one question is enough to contradict a claim."""
        each = [one.possible(self.parts) for one in self.questions]
        could: set[Outcome] = {"reproduced"} if all("reproduced" in one for one in each) else set()
        return frozenset(could | {"contradicted"} if any("contradicted" in one for one in each) else could)


def judge(check: Check, observed: ObservationTable, rebuilt: Collection[str]) -> Judgement:
    """Decide all questions of a check together."""
    asked = tuple(questions(check, observed))
    parts = max(1, sum(question.chance for question in asked))
    decisions = tuple(question.decide(parts, None) for question in asked)
    outcomes = tuple(_outcome(*pair, rebuilt) for pair in zip(asked, decisions, strict=True))
    return Judgement(asked, decisions, outcomes, parts)


def _outcome(question: Question, decision: Decision, rebuilt: Collection[str]) -> Outcome:
    missed = decision.outcome == "contradicted" and question.has_stated_value
    key = question.evidence[0]
    return "differs" if missed and {key.study, f"{key.study}/{key.run}"} & set(rebuilt) else decision.outcome


def _seeds_needed(question: Question, parts: int) -> int:
    return seeds_needed(lambda n: question.decide(parts, n), question.n)


def _check_verdict(name: str, claim: Claim, judged: Sequence[Judgement]) -> Verdict:
    """The verdict on a claim, from the judgement on its check in each of its recipes."""
    judgement = min(judged, key=lambda one: SEVERITY.index(one.outcome))
    asked, decision = judgement.questions, judgement.decision
    outcome, needed = judgement.outcome, judgement.seeds_needed
    words = explanation(judgement.question, decision, judgement.outcomes, needed)
    if claim.recipes:
        outcomes = [one.outcome for one in judged]
        outcome, needed = _of_all_recipes(judged)
        words = recipes_words(dict(zip(claim.recipes, outcomes, strict=True))) + words
    every = [one for part in judged for one in part.questions]
    return Verdict(
        id=name,
        outcome=outcome,
        explanation=words,
        estimate=_finite(decision.interval.mean),
        low=_finite(decision.interval.low),
        high=_finite(decision.interval.high),
        level=_finite(decision.level),
        n=judgement.question.n,
        expected=judgement.question.expected,
        seeds_needed=needed,
        possible=tuple(sorted(judgement.possible)) if any(one.limits for one in asked) else None,
        by_construction=claim.by_construction,
        chance=any(one.chance for one in asked),
        compatible=outcome == "reproduced" and any(one.chance and one.has_stated_value for one in asked),
        evidence=tuple(dict.fromkeys(key for one in every for key in one.evidence)),
    )


def _of_all_recipes(judged: Sequence[Judgement]) -> tuple[Outcome, int | None]:
    """The outcome of a claim that was asked of several recipes, and the seeds that an undecided one needs.

    The lecture may have used any of them. So the claim is decided only if all decide it alike; if two decide it
    otherwise, no number of seeds will.
    """
    outcomes = {one.outcome for one in judged}
    missing = [one for one in SEVERITY if one in outcomes and one in ("non-finite", "not run")]
    if missing:
        return missing[0], None
    if len(outcomes) == 1 and "undecided" not in outcomes:
        return outcomes.pop(), None
    if len(outcomes - {"undecided"}) > 1:
        return "undecided", NO_SEEDS
    return "undecided", max(one.seeds_needed or 0 for one in judged)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _setting_verdict(
    name: str, setting: StatedSettings, found: Mapping[str, object] | None, rebuilt: Collection[str]
) -> Verdict:
    expected = ", ".join(f"{path} = {value}" for path, value in setting.values.items())
    if found is None:
        problem = f"{setting.study} is no part of this build; expected {expected}."
        return Verdict(name, "not run", problem, expected=expected, by_construction=True)
    wrong = [path for path, value in setting.values.items() if not _equal(found[path], value)]
    outcome: Outcome = "differs" if setting.study in rebuilt else "contradicted"
    texts = any(isinstance(found[path], str) != isinstance(value, str) for path, value in setting.values.items())
    shown = repr if texts else str  # a text that looks like a number is not that number
    expected = ", ".join(f"{path} = {shown(value)}" for path, value in setting.values.items())
    says = ", ".join(f"{path} = {shown(found[path])}" for path in wrong or setting.values)
    return Verdict(
        id=name,
        outcome=outcome if wrong else "reproduced",
        explanation=f"{setting.study} has {says}" + (f"; expected {expected}." if wrong else ", as stated."),
        expected=expected,
        by_construction=True,
    )


def _equal(found: object, value: object) -> bool:
    """Whether two values are equal; a bool never equals a number, although ``True == 1``."""
    return found == value and isinstance(found, bool) == isinstance(value, bool)


def _repeated_verdict(
    name: str, claim: Claim, found: Mapping[str, Verdict], claims: Mapping[str, Claim]
) -> Verdict:
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
        compatible=False,
        same_as=tuple(one.id for one in targets),
        evidence=tuple(dict.fromkeys(key for one in targets for key in one.evidence)),
    )
