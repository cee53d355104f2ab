"""Verdicts: what the observations say of every claim, one for each.

Nothing here is typed in: an outcome is computed from the table, and so are the sentence that explains it and the
places of its evidence.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace

from seedbed.statistics.claims import Check, Claim, Settings
from seedbed.statistics.decisions import ALPHA, Decision, Outcome, seeds_needed
from seedbed.statistics.explanations import explanation
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
        level: The level of that interval; 1 where every seed must agree, and it spans all of them.
        n: The number of seeds; 0 where the number belongs to none.
        expected: What the number should be, with its margin, in words.
        seeds_needed: Of an undecided claim: about how many seeds would decide it; 101 stands for more than 100.
        by_construction: Whether it holds because it was built so, and is no evidence.
        chance: Whether other seeds could have decided it otherwise.
        compatible: Whether it is reproduced by a figure that lies where further runs are expected: one that is
            somewhat off may lie there too, and no level says how often.
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
    compatible: bool = False
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
        rebuilt: The studies whose language is a reconstruction, and demonstrations, as ``demonstrations/NAME``.

    Raises:
        ValueError: a claim repeats one that has no check of its own.
    """
    found: dict[str, Verdict] = {}
    for name, claim in claims.items():
        if claim.setting is not None:
            found[name] = _setting(name, claim.setting, settings.get(name), rebuilt)
        elif claim.check is not None:
            found[name] = _judged(name, claim, judge(claim.check, observed, rebuilt))
    for name, claim in claims.items():
        if claim.same_as is not None:
            found[name] = _repeated(name, claim, found, claims)
    return [found[name] for name in claims]


def expected_wrong(found: Iterable[Verdict]) -> float:
    """How many of the decided verdicts chance alone would get wrong, at most; of the compatible nobody knows."""
    return ALPHA * sum(one.decided and one.chance and not one.compatible for one in found)


@dataclass(frozen=True)
class Judgement:
    """A check and the observations: the conjunction of what it asks.

    Attributes:
        asked: Its questions, at least one.
        decisions: The decision of each.
        outcomes: The outcome of each, with ``differs`` where a rebuilt language misses a figure.
        parts: How many of the questions chance can decide.
    """

    asked: tuple[Question, ...]
    decisions: tuple[Decision, ...]
    outcomes: tuple[Outcome, ...]
    parts: int

    @property
    def outcome(self) -> Outcome:
        """The gravest of the outcomes."""
        return min(self.outcomes, key=SEVERITY.index)

    @property
    def question(self) -> Question:
        """The first question with that outcome."""
        return self.asked[self.outcomes.index(self.outcome)]

    @property
    def decision(self) -> Decision:
        """Its decision."""
        return self.decisions[self.outcomes.index(self.outcome)]

    @property
    def seeds_needed(self) -> int:
        """About how many seeds would decide what is undecided: as many as the question that needs most."""
        pairs = zip(self.asked, self.outcomes, strict=True)
        return max(_seeds_needed(one, self.parts) for one, outcome in pairs if outcome == "undecided")


def judge(check: Check, observed: Observed, rebuilt: Collection[str]) -> Judgement:
    """Decide every question of a check together."""
    asked = tuple(questions(check, observed))
    parts = max(1, sum(question.chance for question in asked))
    decisions = tuple(question.decide(parts, None) for question in asked)
    outcomes = tuple(_outcome(*pair, rebuilt) for pair in zip(asked, decisions, strict=True))
    return Judgement(asked, decisions, outcomes, parts)


def _outcome(question: Question, decision: Decision, rebuilt: Collection[str]) -> Outcome:
    missed = decision.outcome == "contradicted" and question.figure
    cell = question.cells[0]
    return "differs" if missed and {cell.study, f"{cell.study}/{cell.run}"} & set(rebuilt) else decision.outcome


def _seeds_needed(question: Question, parts: int) -> int:
    return seeds_needed(lambda n: question.decide(parts, n), question.n)


def _judged(name: str, claim: Claim, judgement: Judgement) -> Verdict:
    asked, decision = judgement.asked, judgement.decision
    needed = judgement.seeds_needed if judgement.outcome == "undecided" else None
    return Verdict(
        id=name,
        outcome=judgement.outcome,
        explanation=explanation(judgement.question, decision, judgement.outcomes, needed),
        estimate=_finite(decision.interval.mean),
        low=_finite(decision.interval.low),
        high=_finite(decision.interval.high),
        level=_finite(decision.level),
        n=judgement.question.n,
        expected=judgement.question.expected,
        seeds_needed=needed,
        by_construction=claim.by_construction,
        chance=any(one.chance for one in asked),
        compatible=judgement.outcome == "reproduced" and any(one.chance and one.figure for one in asked),
        evidence=tuple(dict.fromkeys(cell for one in asked for cell in one.cells)),
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _setting(
    name: str, setting: Settings, found: Mapping[str, object] | None, rebuilt: Collection[str]
) -> Verdict:
    expected = ", ".join(f"{path} = {value}" for path, value in setting.values.items())
    if found is None:
        nothing = f"{setting.study} is no part of this build; expected {expected}."
        return Verdict(name, "not run", nothing, expected=expected, by_construction=True)
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
        compatible=False,
        same_as=tuple(one.id for one in targets),
        evidence=tuple(dict.fromkeys(cell for one in targets for cell in one.evidence)),
    )
