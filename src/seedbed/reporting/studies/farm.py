"""The farm study on its page: which networks keep track of the subject, how, and how far beyond training.

Lecture ``recurrence``, section 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from seedbed.reporting.drawing.marks import ZERO, Mark, Shading
from seedbed.reporting.figures import Fact, Figure, Headline, PanelGroup, Part, figure
from seedbed.reporting.numbers import NOT_MEASURED, number, spread
from seedbed.reporting.panels.bars import bars
from seedbed.reporting.panels.heat_maps import heat_maps
from seedbed.reporting.panels.lines import lines
from seedbed.reporting.panels.strips import contrast, strip, trained_limits
from seedbed.reporting.results import BEST_EPOCH, DIVERGED, Measure, Results, ShownRun, trained
from seedbed.reporting.sentences import common, exact_floor, lowest, lowest_and_highest, means

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
#: Guessing between two forms, and half way from there to always right: a seed below this has failed.
CHANCE, FAILED = 0.5, 0.75
GUESSING = Mark(CHANCE, "guessing", "guessing between the two forms")

#: How the names begin of the runs that vary the initial size of the position vectors, learned and sinusoidal; they
#: are in the figure about it only.
LEARNED_VARIANTS, SINUSOIDAL_VARIANTS = "gpt-sd-", "gpt-sinusoidal-"
VARIANTS = (LEARNED_VARIANTS, SINUSOIDAL_VARIANTS)
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
    failures = "; ".join(f"{run.label}: {_failures(results, run)}" for run in runs)
    return Headline(
        f"With {SEEN} nouns between subject and verb, as many as training ever has, the networks find the right "
        f"form of the verb in {seen} of cases. With {SEEN + 1} to {MOST} nouns, the number of seeds that fall "
        f"below {number(FAILED, 'share')}: {failures}.",
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
        "What the verb depends on",
        "An attention weight is a correlation. What happens without the attention shows a cause.",
        (heads(results), cuts(results)),
    )
    yield Part("Positions that training never saw", "", (encodings(results), sizes(results)))


def agreement(results: Results) -> Figure:
    """The page's first figure of the study: agreement by the number of attractors, one panel for each run."""
    far = lowest_and_highest(results, FARTHEST, _models(results)) or NOT_MEASURED
    seen = Shading(0, SEEN, "attractors in training")
    return figure(
        results,
        "agreement",
        "Does agreement survive more nouns in between than training had?",
        f"With {MOST} nouns in between, mean agreement from the lowest network to the highest: {far}. In “The "
        "cow near the hens behind the dogs …” the verb has to agree with the cow. The lines show the "
        "[[agreement]] by the number of [[attractor]]s, all of the other number than the subject. Training has "
        f"at most {SEEN}.",
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
        f"Mean [[divergence]] of the networks, in nats a token: {means(results, DIVERGENCE, _models(results))}. "
        "It is 0 only for the language itself. Compare [[perplexity]] with the [[exact floor]], which the "
        "language itself scores on the same sentences. The test set has no more [[attractor]]s than training, "
        "so this says nothing about sentences with more.",
        strip(results, PERPLEXITY, "Perplexity on the test set", runs, floor, limits=perplexities),
        strip(results, DIVERGENCE, "Divergence from the language, nats a token", runs, ZERO, limits=divergences),
        also=(FLOOR, EXCESS, DIVERGED),
    )


def nearest(results: Results) -> Figure:
    """Agreement with attractors of mixed numbers, by whether the nearest has the subject's."""
    opposite = MIXED_AGREEMENT.at({"attractors": MOST, "nearest": "opposite"})
    misled = lowest_and_highest(results, opposite, _models(results)) or NOT_MEASURED
    return figure(
        results,
        "nearest",
        "Does the nearest noun mislead?",
        f"With {MOST} [[attractor]]s and the nearest noun of the other number, mean agreement from the lowest "
        f"network to the highest: {misled}. Here each attractor is singular or plural at random, as in "
        "training. A model that follows the nearest noun is right if that noun has the subject’s number and "
        "wrong otherwise. One that always picks the same form is right half the time.",
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
        "In layer 1, the head that looks at the subject most gives it this share of its attention, means of "
        f"the runs: {means(results, SUBJECT_HEAD, looking)}. With equal attention on all positions it would be "
        f"{uniform}. With {SEEN} [[attractor]]s the verb is predicted at the last of them. The first panel "
        "shows how much of its attention goes to each group of tokens up to there, head by head for one seed. "
        "The heads of two seeds do not correspond, so the other panels show, for each layer, the head that looks "
        "at a group most.",
        replace(one, runs=()),  # the table has every seed of the run from the panels below
        heat_maps(results, LARGEST, ("layer",), "group", looking, "Largest share, "),
    )


def cuts(results: Results) -> Figure:
    """Agreement when no later position may attend to a group, by run."""
    runs = results.having([WITHOUT_SUBJECT])
    return figure(
        results,
        "cuts",
        "What happens when no position may look at the subject?",
        f"Cut off from the subject, mean agreement of the runs: {means(results, WITHOUT_SUBJECT, runs)}. A "
        f"model below 50 % here follows the remaining nouns. The sentences have {SEEN} [[attractor]]s of the "
        "other number than the subject. No later position may attend to a group of tokens, in any layer or "
        "head; then the verb is predicted again.",
        bars(results, CUT, "cut", runs, GUESSING),
    )


def encodings(results: Results) -> Figure:
    """The spread of agreement over seeds, by encoding."""
    runs = "; ".join(_spread_words(results, run) for run in _encodings(results))
    return figure(
        results,
        "encodings",
        "How much does the result depend on the seed?",
        f"{runs or NOT_MEASURED}. A seed fails if its [[agreement]] is below {number(FAILED, 'share')}, half way "
        f"between guessing and always right, for any number of [[attractor]]s from {SEEN + 1} to {MOST}.",
        *(_at(results, one) for one in (BEYOND[0], FARTHEST)),
        also=BEYOND[1:-1],
    )


def _at(results: Results, measure: Measure) -> PanelGroup:
    title = f"Agreement with {measure.condition['attractors']} attractors"
    return strip(results, measure, title, _models(results), GUESSING)


def sizes(results: Results) -> Figure:
    """What the initial size of the position vectors changes."""
    runs = _sizes(results)
    failures = "; ".join(f"{run.label}: {_failures(results, run)}" for run in runs if lowest(results, run, BEYOND))
    return figure(
        results,
        "sizes",
        "Does the initial size of the position vectors matter?",
        f"Seeds below {number(FAILED, 'share')} with {SEEN + 1} to {MOST} [[attractor]]s: "
        f"{failures or NOT_MEASURED}. At positions beyond those of training, a learned vector still has its "
        "initial value, and a sinusoidal one is new to the network. “Learned, 0.02” are learned vectors that "
        "begin with a standard deviation of 0.02. Perplexity is measured on sentences as long as in training.",
        strip(results, FARTHEST, f"Agreement with {MOST} attractors", runs, GUESSING),
        strip(results, PERPLEXITY, "Perplexity on the test set", runs, exact_floor(results, FLOOR)),
        also=BEYOND[:-1],
    )


def _compared(results: Results) -> tuple[ShownRun, ...]:
    """Every run except the variants in size, those without training last."""
    return tuple(run for run in results.trained + results.references if not run.name.startswith(VARIANTS))


def _sizes(results: Results) -> tuple[ShownRun, ...]:
    """The runs that vary the initial size of the position vectors, with the two that they vary."""
    learned, sinusoidal = (
        tuple(run for run in results.trained if run.name.startswith(prefix)) for prefix in VARIANTS
    )
    return (*results.named(["gpt"]), *learned, *sinusoidal, *results.named(["gpt-sinusoidal"]))


def _models(results: Results) -> tuple[ShownRun, ...]:
    """The trained ones of these."""
    return trained(_compared(results))


def _encodings(results: Results) -> list[ShownRun]:
    """Those that the lecture compares, where they were measured."""
    return [run for run in results.named(ENCODINGS) if lowest(results, run, BEYOND)]


def _failures(results: Results, run: ShownRun) -> str:
    found = lowest(results, run, BEYOND).values()
    return f"{sum(value < FAILED for value in found)} of {len(found)}"


def _spread_words(results: Results, run: ShownRun) -> str:
    """How many seeds of a run fail, the lowest agreement, and the spread with the most attractors."""
    found, farthest = lowest(results, run, BEYOND).values(), results.values(run, FARTHEST).values()
    return (
        f"{run.label}: {_failures(results, run)} seeds fail, the lowest agreement is "
        f"{number(min(found), 'share')}, and with {MOST} [[attractor]]s it is {spread(farthest, 'share')}"
    )
