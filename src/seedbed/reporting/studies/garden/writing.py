"""What models write from an empty start: a part of the garden study.

Lecture ``objectives``, sections 5.3 and 6.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from seedbed.reporting.figures import Figure, PanelGroup, Part, figure
from seedbed.reporting.numbers import NOT_MEASURED, number
from seedbed.reporting.panels.bars import stacks
from seedbed.reporting.panels.strips import contrast
from seedbed.reporting.results import Measure, Results, ShownRun, trained
from seedbed.reporting.sentences import lowest_and_highest, means

SAMPLED, TOP_P = {"decoding": "sampling"}, {"decoding": "top-p 0.95"}
OUTSIDE = {"error": "tail possessive", "window": "outside"}
INSIDE = {"error": "tail possessive", "window": "inside"}

LEGAL = Measure("legal", "legal", "legal", "share")
ILLEGAL = Measure("illegal", "illegal", "illegal", "share")
FAR_ERRORS = Measure("far_errors", "of the illegal, far possessive", "outside_errors", "share")
COMMONEST = Measure("commonest", "of the illegal, commonest slot", "commonest_error", "share")
CUT_OFF = Measure("cut_off", "legal so far, cut off", "cut_off", "share")
DISTINCT = Measure("distinct", "different", "distinct", "share")
STOPPED = Measure("stopped", "<eos> first", "stopped_first", "share")
WRITTEN = Measure("written", "tokens before the end", "written", "")

_SEEDS = ("one seed, sampled", "one seed, top-p 0.95")
#: The networks of 5.3, and what can be read beside them: the others differ in their positions or layers.
NETWORKS = ("flm", "window", "rnn", "gru", "lstm", "exact-window-5", "ngram")
#: The two that the lecture compares.
COMPARED = ("window", "flm")


def writing_part(results: Results, runs: Iterable[ShownRun]) -> Iterator[Part]:
    """The part on runs that predict the next word, if a build has measured it."""
    chosen = _having(results, runs)
    if chosen:
        yield Part(
            "What a network writes from nothing",
            "Tokens are chosen one after another up to the first period or <eos>, and the grammar checks the "
            "result. Each token is drawn from the predicted distribution (sampled), or from the smallest set "
            "of words with 95 % of the probability ([[top-p]] 0.95).",
            (legality(results, chosen), first_errors(results, chosen)),
        )


def legality(results: Results, runs: tuple[ShownRun, ...]) -> Figure:
    """The share of legal sentences and of different ones, by both decodings."""
    sampled, top_p = (lowest_and_highest(results, LEGAL.at(way), trained(runs)) for way in (SAMPLED, TOP_P))
    return figure(
        results,
        "legality",
        "Are the sentences that a network writes legal?",
        "Legal sentences, means of the trained runs from the lowest to the highest, sampled: "
        f"{sampled or NOT_MEASURED}; with top-p 0.95: {top_p or NOT_MEASURED}. A sentence is legal if the "
        "language can produce it: every word fits, and agrees with its subject. One that is cut off because it is "
        "too long is legal if it has no error so far; the table has the share of these. A model that repeats one "
        "sentence could be legal too, so the second panel shows the share of different sentences.",
        _both(results, LEGAL, "Legal sentences, sampled · top-p 0.95", runs),
        _both(results, DISTINCT, "Different sentences, sampled · top-p 0.95", runs),
        also=_both_ways(CUT_OFF, STOPPED, WRITTEN),
    )


def first_errors(results: Results, runs: tuple[ShownRun, ...]) -> Figure:
    """The kind of the first error, and how often it is a possessive whose subject is far away."""
    shown = [run for run in runs if run.name in NETWORKS]
    far = _of_compared(results, FAR_ERRORS)
    return figure(
        results,
        "first-errors",
        "What is the first error of an illegal sentence?",
        "A possessive whose subject is outside the [[window]] is this share of the first errors, sampled and "
        f"with top-p 0.95: {far or NOT_MEASURED}. A model with a window can only guess such a possessive. The "
        "largest share of any one slot, means of the trained runs, sampled: "
        f"{means(results, COMMONEST.at(SAMPLED), trained(runs))}. Each illegal sentence counts for the slot of "
        "the grammar that has its first error. The length of a bar is the share of illegal sentences.",
        stacks(results, ILLEGAL.at(SAMPLED), "error", "Illegal sentences by first error, sampled", shown),
        _both(results, FAR_ERRORS, "Of the illegal ones, possessive outside the window, sampled · top-p", shown),
        PanelGroup((), runs, ()),  # the table has the other runs too
        also=[*_errors(results), *_both_ways(COMMONEST)],
    )


def writing_by_objective(
    results: Results, runs: Iterable[ShownRun], compared: Iterable[ShownRun]
) -> Iterator[Figure]:
    """What each objective writes; ``compared`` are shown in more detail."""
    chosen, closer = _having(results, runs), _having(results, compared)
    if not chosen:
        return
    legal = "; ".join(f"{run.label}, {_mean(results, run, LEGAL.at(SAMPLED))}" for run in closer)
    stopped = "; ".join(f"{run.label}, {_mean(results, run, STOPPED.at(SAMPLED))}" for run in closer)
    yield figure(
        results,
        "writing",
        "Which objective can write a sentence from nothing?",
        f"Share of legal sentences, sampled: {legal}. Each model writes from an empty start, in the way it "
        "continues a text. If <eos> comes first there is no sentence, which counts as illegal; share of these: "
        f"{stopped}. The last panel shows the number of tokens before the end, the period included.",
        _both(results, LEGAL, "Legal sentences, sampled · top-p 0.95", chosen),
        stacks(results, ILLEGAL.at(SAMPLED), "error", "Illegal sentences by first error, sampled", closer),
        _both(results, STOPPED, "Nothing but <eos>, sampled · top-p 0.95", closer),
        _both(results, WRITTEN, "Tokens before the end, sampled · top-p 0.95", closer),
        also=[*_errors(results), *_both_ways(CUT_OFF, DISTINCT, COMMONEST, FAR_ERRORS)],
    )


def _both(results: Results, measure: Measure, title: str, runs: Iterable[ShownRun]) -> PanelGroup:
    both = (measure.at(SAMPLED), measure.at(TOP_P))
    having = results.having(both)
    return contrast(results, both, title, _SEEDS, [run for run in runs if run in having])


def _both_ways(*measures: Measure) -> list[Measure]:
    return [measure.at(way) for measure in measures for way in (SAMPLED, TOP_P)]


def _errors(results: Results) -> Iterator[Measure]:
    """All measures of errors by slot, for the table."""
    for way in (SAMPLED, TOP_P):
        yield from results.over(ILLEGAL.at(way), "error").values()
        yield from (ILLEGAL.at({**way, **place}) for place in (INSIDE, OUTSIDE))


def _of_compared(results: Results, measure: Measure) -> str:
    """A measure of the two runs of the lecture by both decodings."""
    having = results.having(_both_ways(measure))
    runs = [run for run in results.named(COMPARED) if run in having]
    return "; ".join(
        f"{run.label}, {' and '.join(_mean(results, run, one) for one in _both_ways(measure))}" for run in runs
    )


def _mean(results: Results, run: ShownRun, measure: Measure) -> str:
    return number(results.mean(run, measure), measure.unit)


def _having(results: Results, runs: Iterable[ShownRun]) -> tuple[ShownRun, ...]:
    having = results.having([LEGAL.at(SAMPLED)])
    return tuple(run for run in runs if run in having)
