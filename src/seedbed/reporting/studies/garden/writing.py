"""What models write from nothing: a part of the garden study (lecture ``objectives``, sections 5.3 and 6.4)."""

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
DISTINCT = Measure("distinct", "different", "distinct", "share")
STOPPED = Measure("stopped", "<eos> first", "stopped_first", "share")
WRITTEN = Measure("written", "tokens before the end", "written", "")

_SEEDS = ("one seed, sampled", "one seed, top-p 0.95")
#: The networks of 5.3, and what can be read beside them: the others differ in their positions or layers.
NETWORKS = ("flm", "window", "rnn", "gru", "lstm", "exact-window-5", "ngram")
#: The two that the lecture compares.
TOLD = ("window", "flm")


def writing_part(results: Results, runs: Iterable[ShownRun]) -> Iterator[Part]:
    """The part on runs that predict the next word, where a build has measured it."""
    chosen = _having(results, runs)
    if chosen:
        yield Part(
            "What a network writes from nothing",
            "Tokens are chosen one after another up to the first period or <eos>, and what was written is read by "
            "the grammar. Either each is drawn as it is predicted (sampled), or only from the most probable ones, "
            "as few as have 95 % of probability together ([[top-p]] 0.95).",
            (legality(results, chosen), first_errors(results, chosen)),
        )


def legality(results: Results, runs: tuple[ShownRun, ...]) -> Figure:
    """The share of legal sentences and of different ones, by both decodings."""
    sampled, top_p = (lowest_and_highest(results, LEGAL.at(way), trained(runs)) for way in (SAMPLED, TOP_P))
    return figure(
        results,
        "legality",
        "Are the sentences that a network writes legal?",
        "A sentence is legal where the language can say it: every word fits, and agrees with its subject. Means "
        f"of the trained runs, sampled: {sampled or NOT_MEASURED}. With top-p 0.95: {top_p or NOT_MEASURED}. A "
        "model that wrote the same sentence again and again could be legal too, so that the share of different "
        "ones stands beside it.",
        _both(results, LEGAL, "Legal sentences, sampled · top-p 0.95", runs),
        _both(results, DISTINCT, "Different sentences, sampled · top-p 0.95", runs),
        also=_both_ways(STOPPED, WRITTEN),
    )


def first_errors(results: Results, runs: tuple[ShownRun, ...]) -> Figure:
    """Of what kind the first error is, and how much of it is a possessive whose subject is far."""
    shown = [run for run in runs if run.name in NETWORKS]
    far = _told(results, FAR_ERRORS)
    return figure(
        results,
        "first-errors",
        "Where does a sentence leave the grammar?",
        "An illegal sentence is counted by the slot of the grammar that its first error is in; the bars end at "
        "the share of illegal ones. A model that sees a [[window]] only has to guess a possessive whose subject "
        "is outside of it. Such errors are this share of the illegal sentences, sampled and with top-p 0.95: "
        f"{far or NOT_MEASURED}. The largest share that any one slot has, means of the trained runs, sampled: "
        f"{means(results, COMMONEST.at(SAMPLED), trained(runs))}.",
        stacks(results, ILLEGAL.at(SAMPLED), "error", "Illegal sentences by first error, sampled", shown),
        _both(results, FAR_ERRORS, "Of the illegal ones, possessive outside the window, sampled · top-p", shown),
        PanelGroup((), runs, ()),  # the table has the other runs too
        also=[*_errors(results), *_both_ways(COMMONEST)],
    )


def writing_by_objective(
    results: Results, runs: Iterable[ShownRun], compared: Iterable[ShownRun]
) -> Iterator[Figure]:
    """What each objective writes: ``compared`` are shown more closely."""
    chosen, told = _having(results, runs), _having(results, compared)
    if not chosen:
        return
    legal = "; ".join(f"{run.label}, {_mean(results, run, LEGAL.at(SAMPLED))}" for run in told)
    stopped = "; ".join(f"{run.label}, {_mean(results, run, STOPPED.at(SAMPLED))}" for run in told)
    yield figure(
        results,
        "writing",
        "Which objective can write a sentence from nothing?",
        "Each model writes in the way in which it continues a text, from nothing. Share of legal sentences, "
        f"sampled: {legal}. Where <eos> comes first there is no sentence, which counts as illegal; its share: "
        f"{stopped}. How many tokens come before the end, the period included, is shown as well.",
        _both(results, LEGAL, "Legal sentences, sampled · top-p 0.95", chosen),
        stacks(results, ILLEGAL.at(SAMPLED), "error", "Illegal sentences by first error, sampled", told),
        _both(results, STOPPED, "Nothing but <eos>, sampled · top-p 0.95", told),
        _both(results, WRITTEN, "Tokens before the end, sampled · top-p 0.95", told),
        also=[*_errors(results), *_both_ways(DISTINCT, COMMONEST, FAR_ERRORS)],
    )


def _both(results: Results, measure: Measure, title: str, runs: Iterable[ShownRun]) -> PanelGroup:
    both = (measure.at(SAMPLED), measure.at(TOP_P))
    having = results.having(both)
    return contrast(results, both, title, _SEEDS, [run for run in runs if run in having])


def _both_ways(*measures: Measure) -> list[Measure]:
    return [measure.at(way) for measure in measures for way in (SAMPLED, TOP_P)]


def _errors(results: Results) -> Iterator[Measure]:
    """All that is told of errors by slot, for the table."""
    for way in (SAMPLED, TOP_P):
        yield from results.over(ILLEGAL.at(way), "error").values()
        yield from (ILLEGAL.at({**way, **place}) for place in (INSIDE, OUTSIDE))


def _told(results: Results, measure: Measure) -> str:
    """A measure of the two runs of the lecture by both decodings."""
    having = results.having(_both_ways(measure))
    runs = [run for run in results.named(TOLD) if run in having]
    return "; ".join(
        f"{run.label}, {' and '.join(_mean(results, run, one) for one in _both_ways(measure))}" for run in runs
    )


def _mean(results: Results, run: ShownRun, measure: Measure) -> str:
    return number(results.mean(run, measure), measure.unit)


def _having(results: Results, runs: Iterable[ShownRun]) -> tuple[ShownRun, ...]:
    having = results.having([LEGAL.at(SAMPLED)])
    return tuple(run for run in runs if run in having)
