"""The sentence that explains a verdict: what was found, with how many seeds, and what was expected."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from seedbed.statistics.decisions import MOST_SEEDS, NO_SEEDS, Decision, Outcome
from seedbed.statistics.numbers import number_text, seeds_text
from seedbed.statistics.questions import Question


def explanation(question: Question, decision: Decision, outcomes: Sequence[Outcome], needed: int | None) -> str:
    """The explanation of a verdict in one line.

    Args:
        question: The question that decided the claim.
        decision: Its decision.
        outcomes: The outcomes of all questions of the claim.
        needed: About how many seeds an undecided claim needs; None for any other.
    """
    if question.problem:
        sentence = f"{question.subject}: {question.problem}; expected {question.expected}."
    else:
        sentence = f"{question.subject} is {_estimate(question, decision)}; expected {question.expected}."
    return _count(outcomes) + sentence + _diverged(question) + _plan(needed)


def recipes_words(outcomes: Mapping[str, Outcome]) -> str:
    """In how many of the recipes that a lecture's text allows a claim holds, and in which it fails."""
    count = len(outcomes)
    failed = [run for run, outcome in outcomes.items() if outcome in ("contradicted", "differs")]
    held = sum(outcome == "reproduced" for outcome in outcomes.values())
    if failed:
        return f"Fails in {len(failed)} of {count} recipes that the lecture’s text allows ({', '.join(failed)}): "
    return f"Holds in {held} of {count} recipes that the lecture’s text allows: "


def possible_words(possible: Collection[Outcome] | None) -> str:
    """What the present seeds can decide about a share of seeds; nothing where no share is asked about."""
    if possible is None:
        return ""
    if len(possible) == 2:
        return "These seeds can confirm it and can contradict it."
    if not possible:
        return "These seeds are too few to confirm it or to contradict it."
    can, cannot = ("confirm", "contradict") if "reproduced" in possible else ("contradict", "confirm")
    return f"These seeds can {can} it, and are too few to {cannot} it."


def _diverged(question: Question) -> str:
    """How many trainings diverged; each of these seeds counts as one that fails."""
    if not question.diverged:
        return ""
    return f" The training of {seeds_text(question.diverged)} diverged and counts as a failure."


def _count(outcomes: Sequence[Outcome]) -> str:
    if len(outcomes) == 1:
        return ""
    held = sum(outcome == "reproduced" for outcome in outcomes)
    return f"{held} of {len(outcomes)} statements hold, {'such as' if held == len(outcomes) else 'but not'} this: "


def _estimate(question: Question, decision: Decision) -> str:
    interval = decision.interval
    if decision.level == 1:
        return _exact(question, decision)
    if question.n == 0 and interval.low == interval.high:
        return number_text(interval.mean)
    words = number_text(interval.mean) + (f" over {seeds_text(question.n)}" if question.n else "")
    if not interval.defined:
        return f"{words}, too few for an interval"
    what = "prediction interval" if question.has_stated_value else "interval"
    ends = f"{number_text(interval.low)} to {number_text(interval.high)}"
    off = "" if decision.off is None else f", off by {number_text(decision.off)}, which is within the margin"
    return f"{words} ({100 * decision.level:.3g} % {what} {ends}){off}"


def _exact(question: Question, decision: Decision) -> str:
    """What an exact check found; it has no confidence interval, only the range of all seeds."""
    interval = decision.interval
    if not interval.defined:
        return "that text" if decision.outcome == "reproduced" else "another text"
    ends = (
        ""
        if interval.low == interval.high
        else f", from {number_text(interval.low)} to {number_text(interval.high)}"
    )
    return number_text(interval.mean) + (f" over {seeds_text(question.n)}" if question.n else "") + ends


def _plan(needed: int | None) -> str:
    if needed is None:
        return ""
    if needed == NO_SEEDS:
        return " No number of seeds would decide this."
    if needed > MOST_SEEDS:
        return f" More than {MOST_SEEDS} seeds would be needed to decide."
    return (
        f" About {seeds_text(needed)} would decide." if needed > 2 else " At least 2 seeds are needed to decide."
    )
