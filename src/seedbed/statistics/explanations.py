"""The sentence that explains a verdict: what was found, with how many seeds, and what was expected."""

from __future__ import annotations

from collections.abc import Sequence

from seedbed.statistics.decisions import MOST_SEEDS, Decision, Outcome
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
    return _count(outcomes) + sentence + _plan(needed)


def _count(outcomes: Sequence[Outcome]) -> str:
    if len(outcomes) == 1:
        return ""
    held = sum(outcome == "reproduced" for outcome in outcomes)
    return f"{held} of {len(outcomes)} statements hold, {'such as' if held == len(outcomes) else 'but not'} this: "


def _estimate(question: Question, decision: Decision) -> str:
    interval = decision.interval
    if decision.level == 1:
        return _exact(question, decision)
    if question.n == 0:
        return number_text(interval.mean)
    words = f"{number_text(interval.mean)} over {seeds_text(question.n)}"
    if not interval.defined:
        return f"{words}, too few for an interval"
    what = "prediction interval" if question.has_stated_value else "interval"
    ends = f"{number_text(interval.low)} to {number_text(interval.high)}"
    return f"{words} ({100 * decision.level:.3g} % {what} {ends})"


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
    if needed > MOST_SEEDS:
        return f" More than {MOST_SEEDS} seeds would be needed to decide."
    return (
        f" About {seeds_text(needed)} would decide." if needed > 2 else " At least 2 seeds are needed to decide."
    )
