"""The one line that explains a verdict: what was found, over how many seeds, and what was expected."""

from __future__ import annotations

from collections.abc import Sequence

from seedbed.statistics.decisions import MOST_SEEDS, Decision, Outcome
from seedbed.statistics.numbers import number, seeds
from seedbed.statistics.questions import Question


def explanation(question: Question, decision: Decision, outcomes: Sequence[Outcome], needed: int | None) -> str:
    """The question that decided a claim, how many others it asks, and how many seeds an undecided one needs."""
    return _count(outcomes) + _sentence(question, decision) + _plan(needed)


def _count(outcomes: Sequence[Outcome]) -> str:
    if len(outcomes) == 1:
        return ""
    held = sum(outcome == "reproduced" for outcome in outcomes)
    return f"{held} of {len(outcomes)} statements hold, {'such as' if held == len(outcomes) else 'but not'} this: "


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
