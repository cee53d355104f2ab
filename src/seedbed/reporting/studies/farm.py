"""The farm study on the page: who keeps track of the subject, how, and how far beyond what training showed.

Lecture ``recurrence``, section 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from seedbed.reporting.drawing.marks import ZERO, Mark, Shading
from seedbed.reporting.figures import Fact, Figure, Headline, PanelGroup, Part, figure
from seedbed.reporting.numbers import number, spread
from seedbed.reporting.panels.bars import bars
from seedbed.reporting.panels.heat_maps import heat_maps
from seedbed.reporting.panels.lines import lines
from seedbed.reporting.panels.strips import contrast, strip, trained_limits
from seedbed.reporting.results import BEST_EPOCH, DIVERGED, Measure, Results, ShownRun, trained
from seedbed.reporting.sentences import common, exact_floor, lowest, means

ALL, OPPOSITE, MIXED = {"sentences": "all"}, {"numbers": "opposite"}, {"numbers": "mixed"}

PERPLEXITY = Measure("perplexity", "perplexity", "loss", "perplexity", ALL, exponentiated=True)
FLOOR = Measure("floor", "exact floor", "language_loss", "perplexity", ALL, exponentiated=True)
DIVERGENCE = Measure("divergence", "divergence", "divergence", "nat", ALL)
EXCESS = Measure("excess", "excess", "excess", "nat", ALL)
AGREEMENT = Measure("agreement", "agreement", "agreement_accuracy", "share", OPPOSITE)
MIXED_AGREEMENT = Measure("mixed_agreement", "agreement, mixed", "agreement_accuracy", "share", MIXED)
ATTENTION = Measure("attention", "attention", "attention_share", "share")
LARGEST = Measure("largest", "largest attention", "largest_share", "share")
UNIFORM = Measure("uniform", "uniform attention", "uniform_share", "share", {"group": "subject"})
CUT = Measure("cut", "agreement", "cut_accuracy", "share")
WITHOUT_SUBJECT = CUT.at({"cut": "subject"})
SUBJECT_HEAD = LARGEST.at({"layer": 1, "group": "subject"})

#: The most attractors of training, and of the test.
SEEN, MOST = 3, 8
BEYOND = tuple(AGREEMENT.at({"attractors": attractors}) for attractors in range(SEEN + 1, MOST + 1))
IN_TRAINING, FARTHEST = AGREEMENT.at({"attractors": SEEN}), BEYOND[-1]
#: Guessing between two forms, and half way from there to right: a seed that falls below has failed.
CHANCE, FAILED = 0.5, 0.75
GUESSING = Mark(CHANCE, "guessing", "guessing between the two forms")

#: The runs that vary in how large the vectors of positions begin, by size, learned and sinusoidal.
SIZES = (
    "gpt",
    "gpt-sd-005",
    "gpt-sd-010",
    "gpt-sd-020",
    "gpt-sd-100",
    "gpt-sinusoidal-tenth",
    "gpt-sinusoidal",
)
#: Those of them that the other figures leave out.
VARIANTS = ("gpt-sd-", "gpt-sinusoidal-tenth")
#: The encodings that the lecture compares.
ENCODINGS = ("gpt", "gpt-sinusoidal", "gpt-nope")

#: The rows of the page's table of variance across seeds.
MEASURES = (PERPLEXITY, DIVERGENCE, EXCESS, IN_TRAINING, FARTHEST, WITHOUT_SUBJECT, BEST_EPOCH)


def headline(results: Results) -> Headline:
    """Agreement as far as training went, and how many seeds of each encoding fail beyond."""
    runs = _encodings(results)
    if not runs:
        return Headline("The farm study has no finite result in this build.")
    seen = means(results, IN_TRAINING, _models(results))
    failures = "; ".join(f"{run.label}, {_failures(results, run)}" for run in runs)
    return Headline(
        f"With {SEEN} nouns between subject and verb, the most of training, the networks find the right form of "
        f"the verb in {seen} of cases. With {SEEN + 1} to {MOST}, so many seeds fall below "
        f"{number(FAILED, 'share')}: {failures}.",
        tuple(_fact(results, run) for run in runs),
        agreement(results),
        "How far a subject is remembered",
    )


def _fact(results: Results, run: ShownRun) -> Fact:
    found = lowest(results, run, BEYOND).values()
    words = f"the lowest [[agreement]] of {len(found)} [[seed]]s with {SEEN + 1} to {MOST} [[attractor]]s"
    return Fact(number(min(found), "share"), f"{run.label}: {words}")


def parts(results: Results) -> Iterator[Part]:
    """The study's figures, in the order of the page."""
    yield Part(figures=(closeness(results), nearest(results)))
    yield Part(
        "What the verb hangs on",
        "A weight of attention is a correlation. What happens when attention is taken away is a cause.",
        (heads(results), cuts(results)),
    )
    yield Part("Positions that training never saw", "", (encodings(results), sizes(results)))


def agreement(results: Results) -> Figure:
    """The page's first figure of the study: agreement by the number of attractors, a panel a run."""
    far = means(results, FARTHEST, _models(results))
    seen = Shading(0, SEEN, "attractors in training")
    return figure(
        results,
        "agreement",
        "Does the verb still agree behind more nouns than training had?",
        "“The cow near the hens behind the dogs …”: the verb has to agree with the cow. Shown is the "
        "[[agreement]] by the number of [[attractor]]s, which are all opposite to the subject. Training has at "
        f"most {SEEN}. With {MOST}, means of the networks: {far}.",
        lines(results, AGREEMENT, "attractors", _compared(results), band=seen, mark=GUESSING),
    )


def closeness(results: Results) -> Figure:
    """Perplexity against the exact floor, and divergence, by run."""
    floor, runs = exact_floor(results, FLOOR), _compared(results)
    perplexities, divergences = (
        trained_limits(results, [measure], mark) for measure, mark in ((PERPLEXITY, floor), (DIVERGENCE, ZERO))
    )
    return figure(
        results,
        "closeness",
        "How close does training come to the language?",
        "[[Perplexity]] is read against what the language itself scores on the same sentences, the [[exact "
        "floor]]; the [[divergence]] is 0 only for the language itself. Mean divergence of the networks, in "
        f"nats a token: {means(results, DIVERGENCE, _models(results))}. The test set has no more [[attractor]]s "
        "than training, so that none of this tells what happens behind more.",
        strip(results, PERPLEXITY, "Perplexity on the test set", runs, floor, limits=perplexities),
        strip(results, DIVERGENCE, "Divergence from the language, nats a token", runs, ZERO, limits=divergences),
        also=(FLOOR, EXCESS, DIVERGED),
    )


def nearest(results: Results) -> Figure:
    """Agreement with attractors of mixed numbers, by whether the nearest has the subject's."""
    return figure(
        results,
        "nearest",
        "Does the nearest noun mislead?",
        "Here each [[attractor]] has a number of its own, as in training. Who takes the nearest noun for the "
        "subject is right where it has the same number, and wrong where it has the other one; who always "
        "prefers the same form is right in half of both.",
        *(_by_nearest(results, attractors) for attractors in (SEEN, MOST)),
    )


def _by_nearest(results: Results, attractors: int) -> PanelGroup:
    same, opposite = (
        MIXED_AGREEMENT.at({"attractors": attractors, "nearest": which}) for which in ("same", "opposite")
    )
    title = f"Agreement with {attractors} attractors, nearest of the same number · of the other"
    seeds = ("one seed, nearest of the same number", "one seed, nearest of the other")
    return contrast(results, (same, opposite), title, seeds, _compared(results), GUESSING)


def heads(results: Results) -> Figure:
    """Where heads look: one seed head by head, and the largest share of each layer over all seeds."""
    looking = results.having(results.over(LARGEST, "layer", "group").values())
    first = [replace(run, label=f"{run.label}, seed {run.seeds[0]}", seeds=run.seeds[:1]) for run in looking[:1]]
    one = heat_maps(results, ATTENTION, ("layer", "head"), "group", first)
    uniform = number(common(results, UNIFORM), "share")
    return figure(
        results,
        "heads",
        "Where do heads look when the verb has to come?",
        f"With {SEEN} [[attractor]]s the verb is predicted at the last of them. Shown is how much of its "
        "attention goes to each group of tokens up to there: head by head for one seed and, since no head is "
        "the same one in two seeds, the share of the head of each layer that looks there most. On the subject, "
        f"which would have {uniform} if all positions had the same, that is "
        f"{means(results, SUBJECT_HEAD, looking)} in layer 1, means of the runs.",
        replace(one, runs=()),  # the table has every seed of the run, from what stands below
        heat_maps(results, LARGEST, ("layer",), "group", looking, "Largest share, "),
    )


def cuts(results: Results) -> Figure:
    """Agreement when no later position may attend to a group, by run."""
    runs = results.having([WITHOUT_SUBJECT])
    return figure(
        results,
        "cuts",
        "What happens when nobody may look at the subject?",
        f"Sentences with {SEEN} [[attractor]]s, opposite to the subject. No later position may attend to a group "
        "of tokens, in any layer or head; then the verb is asked for again. Cut off from the subject, means of "
        f"the runs: {means(results, WITHOUT_SUBJECT, runs)}. Who then falls below guessing follows the nouns "
        "that are left.",
        bars(results, CUT, "cut", runs, GUESSING),
    )


def encodings(results: Results) -> Figure:
    """The spread of agreement over seeds, by encoding."""
    told = "; ".join(_told(results, run) for run in _encodings(results))
    return figure(
        results,
        "encodings",
        "How much of it is the seed?",
        f"A seed fails where its [[agreement]] falls below {number(FAILED, 'share')}, half way from guessing to "
        f"right, with any number of [[attractor]]s from {SEEN + 1} to {MOST}. {told}.",
        *(_at(results, one) for one in (BEYOND[0], FARTHEST)),
        also=BEYOND[1:-1],
    )


def _at(results: Results, measure: Measure) -> PanelGroup:
    title = f"Agreement with {measure.condition['attractors']} attractors"
    return strip(results, measure, title, _models(results), GUESSING)


def sizes(results: Results) -> Figure:
    """What hangs on how large the vectors of positions begin."""
    runs = results.named(SIZES)
    told = "; ".join(f"{run.label}, {_failures(results, run)}" for run in runs if lowest(results, run, BEYOND))
    return figure(
        results,
        "sizes",
        "Does it hang on how large the vectors of positions begin?",
        "Beyond the length of training a learned vector is what it was at the beginning, and a sinusoidal one "
        f"is new to the network. So many seeds fall below {number(FAILED, 'share')} with {SEEN + 1} to {MOST} "
        f"[[attractor]]s: {told}. The number of a learned table is the standard deviation of its first entries. "
        "Perplexity is that of sentences as long as in training.",
        strip(results, FARTHEST, f"Agreement with {MOST} attractors", runs, GUESSING),
        strip(results, PERPLEXITY, "Perplexity on the test set", runs, exact_floor(results, FLOOR)),
        also=BEYOND[:-1],
    )


def _compared(results: Results) -> tuple[ShownRun, ...]:
    """Every run but the variants in size, those without training last."""
    return tuple(run for run in results.trained + results.references if not run.name.startswith(VARIANTS))


def _models(results: Results) -> tuple[ShownRun, ...]:
    """The trained ones of these."""
    return trained(_compared(results))


def _encodings(results: Results) -> list[ShownRun]:
    """Those that the lecture compares, where they were measured."""
    return [run for run in results.named(ENCODINGS) if lowest(results, run, BEYOND)]


def _failures(results: Results, run: ShownRun) -> str:
    found = lowest(results, run, BEYOND).values()
    return f"{sum(value < FAILED for value in found)} of {len(found)}"


def _told(results: Results, run: ShownRun) -> str:
    """How many seeds of a run fail, the lowest agreement, and the spread with the most attractors."""
    found, farthest = lowest(results, run, BEYOND).values(), results.values(run, FARTHEST).values()
    return (
        f"{run.label}: {_failures(results, run)} seeds fail, the lowest agreement is "
        f"{number(min(found), 'share')}, and with {MOST} [[attractor]]s it is {spread(farthest, 'share')}"
    )
