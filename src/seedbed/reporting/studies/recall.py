"""The recall study on the page: who carries a key past distractors, who never learns to, and why.

Lecture ``recurrence``, section 5.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product

from seedbed.reporting.drawing.marks import Mark, Shading
from seedbed.reporting.figures import Fact, Figure, Headline, PanelGroup, Part, figure
from seedbed.reporting.numbers import NOT_MEASURED, number
from seedbed.reporting.panels.lines import lines, lines_beside
from seedbed.reporting.panels.strips import contrast, matrix, strip
from seedbed.reporting.results import Measure, Results, ShownRun, finite
from seedbed.reporting.sentences import common, lowest, lowest_and_highest, means

#: The distances that the sentences speak of; the last is the longest of training.
NEAR, LEAST, MIDDLE, FAR = 1, 10, 50, 100
KEYS = 8

RECALL = Measure("recall", "recall", "recall_accuracy", "share")
LOSS = Measure("loss", "loss", "recall_loss", "nat")
BITS = Measure("bits", "bits remembered", "recall_information", "bit")
MOVED = Measure("moved", "recall of a moved key", "moved_accuracy", "share", {"distractors": FAR})
GRADIENT = Measure("gradient", "gradient before training", "initial_gradient", "")
RATIO = Measure("ratio", "gradient, as a multiple", "initial_gradient_ratio", "ratio", {"distance": FAR})
EXPONENT = Measure("exponent", "exponent of the gradient", "initial_gradient_exponent", "exponent")
PERSISTENCE = Measure("persistence", "late over early decay", "initial_gradient_persistence", "ratio")
UNTRAINED = Measure("untrained", "attention before training, over uniform", "initial_key_attention", "ratio")
FINDER = Measure("finder", "attention on the key", "finder_attention", "share")
FINDER_LAYER = Measure("finder_layer", "layer of that head", "finder_layer", "count")
ATTENTION = Measure("attention", "attention", "query_attention", "share")
UNIFORM = Measure("uniform", "uniform attention on the key", "uniform_attention", "share", {"group": "key"})
GATE = Measure("gate", "gate", "gate", "share")
KEEPING = Measure("keeping", "keeping cells", "keeping_cells", "count")
EXPLAINED = Measure("explained", "explained", "written_explained", "share", {"cells": "keeping"})

FARTHEST = RECALL.at({"distance": FAR})

#: Endings of the runs by the distances that training shows → those distances.
SEEN = {
    "short": Shading(1, 20, "distances in training"),
    "wide": Shading(1, 100, "distances in training"),
    "long": Shading(50, 100, "distances in training"),
}
MODELS = ("rnn", "lstm", "lstm-bias-3", "gru", "transformer")
CORE = tuple(f"{model}-{seen}" for seen in SEEN for model in MODELS)
WIDE = tuple(f"{model}-wide" for model in MODELS)
#: The ways to tell positions that are trained on the same distances.
POSITIONS = (
    "transformer-wide",
    "transformer-sinusoidal",
    "transformer-nope",
    "transformer-rope",
    "transformer-alibi",
)
#: What the lecture sets against each other: a network on other distances, and another network on the same.
TOLD = ("rnn-short", "rnn-wide", "lstm-wide", "lstm-long", "transformer-long")
#: Who recalls at least so many has learnt to; guessing is right in one of the keys.
LEARNT = 0.99
#: A cell keeps where its forget gate is above this, as the evaluation has it.
OPEN = 0.99
GUESSING = Mark(1 / KEYS, "guessing", "guessing among the keys")

#: The rows of the page's table of variance across seeds.
MEASURES = (
    FARTHEST,
    LOSS.at({"distance": FAR}),
    BITS.at({"distance": FAR}),
    MOVED.at({"before": MIDDLE}),
    FINDER.at({"distance": FAR}),
    KEEPING,
)


def headline(results: Results) -> Headline:
    """How many seeds learn to recall, of the runs that the lecture sets against each other."""
    runs = _finished(results, TOLD) or _finished(results, CORE)
    if not runs:
        return Headline("The recall study has no finite result in this build.")
    return Headline(
        f"So many seeds learn to recall the key at all distances up to {FAR}, which is to be right in at least "
        f"{number(LEARNT, 'share')} of cases at each. {_told(results, runs)}.",
        tuple(_fact(results, run) for run in runs),
        recall(results),
        "From how far a key is recalled",
    )


def _fact(results: Results, run: ShownRun) -> Fact:
    n = len(finite(results.values(run, FARTHEST)))
    return Fact(
        number(results.mean(run, FARTHEST), "share"),
        f"{run.label}: mean recall of {n} [[seed]]s after {FAR} distractors",
    )


def parts(results: Results) -> Iterator[Part]:
    """The study's figures, in the order of the page; those that this build has nothing for are left out."""
    for part in _parts(results):
        drawn = tuple(one for one in part.figures if one.grids)
        if drawn:
            yield replace(part, figures=drawn)


def _parts(results: Results) -> Iterator[Part]:
    yield Part(figures=(bits(results), curriculum(results), positions(results)))
    yield Part(
        "Why long examples teach so little",
        "Before the first step of training, how much does the error at the query tell of a key far back?",
        (gradients(results),),
    )
    yield Part(
        "What training made of them",
        "Whoever recalls can do so in several ways. What they look at and what they keep tells these apart.",
        (moved(results), attention(results), heads(results), gates(results), keeping(results)),
    )


def recall(results: Results) -> Figure:
    """The page's first figure of the study: recall by distance, by model and distances of training."""
    return figure(
        results,
        "recall",
        "From how far does each network recall the key?",
        "Shown is how often the key that was read first is the most probable answer, by the number of "
        "distractors between it and the query. Where a line is low from the first distance on, the network "
        "has not forgotten the key but never learnt to keep it. So many [[seed]]s are right in at least "
        f"{number(LEARNT, 'share')} of cases at every distance up to {FAR}: "
        f"{_told(results, _finished(results, CORE))}. A line ends where the network has no vector for further "
        "positions.",
        *_by_range(results, RECALL, MODELS, GUESSING),
        also=results.over(LOSS, "distance").values(),
    )


def bits(results: Results) -> Figure:
    """Mutual information of key and answer: by distance for one range of training, near and far for every run."""
    near, far = (BITS.at({"distance": distance}) for distance in (NEAR, FAR))
    chosen = _measured(results, WIDE, BITS, "distance")
    told = "; ".join(
        f"{run.label}: {number(results.mean(run, near), 'bit')} at {NEAR} and "
        f"{number(results.mean(run, far), 'bit')} at {FAR}"
        for run in chosen
    )
    return figure(
        results,
        "bits",
        "How many bits of the key are remembered?",
        f"One of {KEYS} keys is {math.log2(KEYS):g} bits. The mutual information of key and answer says how many "
        "of these the answers hold: who tells apart two halves of the keys, and guesses within each, has 1. "
        "Forgetting shows as less at the far distance than at the near one, not learning as little at both. "
        f"Means of those trained on distances from {_ends(SEEN['wide'])}: {told or NOT_MEASURED}.",
        lines(results, BITS, "distance", chosen, band=SEEN["wide"]),
        contrast(
            results,
            (near, far),
            f"Bits remembered at a distance of {NEAR} · of {FAR}",
            (f"one seed at a distance of {NEAR}", f"one seed at a distance of {FAR}"),
            [run for run in results.having((near, far)) if run.kind == "trained"],
        ),
    )


def curriculum(results: Results) -> Figure:
    """Long examples alone beside long ones after short ones."""
    names = [(f"{model}-long", f"{model}-curriculum") for model in MODELS]
    runs = [(results.run(long), results.run(both)) for long, both in names]
    having = results.having(results.over(RECALL, "distance").values())
    pairs = [(long, both) for long, both in runs if long in having and both in having]
    told = _told(results, _finished(results, (name for _, name in names)))
    return figure(
        results,
        "curriculum",
        "Do short examples first make long ones learnable?",
        "Both lines of a panel end on the same distances, which are shaded. One network sees nothing else; "
        f"the other spends the first half of its steps on distances from {_ends(SEEN['short'])}. So many "
        f"[[seed]]s of the latter are right in at least {number(LEARNT, 'share')} of cases at every distance "
        f"up to {FAR}: {told}.",
        lines_beside(
            results,
            RECALL,
            "distance",
            pairs,
            (f"one seed, {_ends(SEEN['long'])} alone", f"one seed, after {_ends(SEEN['short'])}"),
            band=Shading(SEEN["long"].low, SEEN["long"].high, "distances at the end of training"),
            mark=GUESSING,
        ),
    )


def positions(results: Results) -> Figure:
    """Recall by distance of Transformers that differ in how they tell positions."""
    runs = _measured(results, POSITIONS, RECALL, "distance")
    told = lowest_and_highest(results, FARTHEST, runs) or NOT_MEASURED
    return figure(
        results,
        "positions",
        "Does a Transformer need positions to recall?",
        "The key is one of few tokens that no distractor is, so that it can be found without knowing where it "
        f"stands. All are trained on the same distances. After {FAR} distractors, means of the runs: {told}. "
        "Learned positions end where their table does; the others can be asked further.",
        lines(results, RECALL, "distance", runs, band=SEEN["wide"], mark=GUESSING),
    )


def gradients(results: Results) -> Figure:
    """The gradient of the query's loss by the key’s vector, before training."""
    runs = results.having(results.over(GRADIENT, "distance").values())
    told = "; ".join(f"{run.label}: {number(results.mean(run, RATIO), RATIO.unit)}" for run in runs)
    power = number((LEAST + 2) / (FAR + 2), RATIO.unit)
    return figure(
        results,
        "gradients",
        "How much does the error teach about a key far back, before training?",
        "Shown is the mean size of the gradient of the error at the query by the key’s vector, each network "
        "as it was initialised; the distances in its name are those that it is trained on afterwards. An "
        "exponential decay is a straight line here, a power of the distance one that flattens. From a "
        f"distance of {LEAST} to {FAR}, 1 / (distance + 2), which is what uniform attention leaves to the key, "
        f"falls to {power} of what it was. The gradients fall to these multiples, means of the runs. {told}.",
        lines(results, GRADIENT, "distance", runs, ("linear", "log")),
        also=(RATIO, EXPONENT, PERSISTENCE, *results.over(UNTRAINED, "distance").values()),
    )


def moved(results: Results) -> Figure:
    """Recall of a key that stands among the distractors."""
    runs = _measured(results, [*CORE, *POSITIONS[1:]], MOVED, "before")
    told = lowest_and_highest(results, MOVED.at({"before": MIDDLE}), runs) or NOT_MEASURED
    return figure(
        results,
        "moved",
        "Is the key found where training never had one?",
        f"In training the key is always read first. Here some of the {FAR} distractors come before it: none at "
        "the left end of a panel, all of them at the right, where the query follows at once. Who looks for "
        f"what is a key finds it anywhere; who looks at the first place does not. With {MIDDLE} before it, the "
        f"lowest and the highest mean: {told}.",
        lines(results, MOVED, "before", runs, mark=GUESSING),
    )


def attention(results: Results) -> Figure:
    """The key's share of attention in the head that looks there most, by distance."""
    far = FINDER.at({"distance": FAR})
    uniform = number(common(results, UNIFORM.at({"distance": FAR})), "share")
    told = lowest_and_highest(results, far, results.having([far])) or NOT_MEASURED
    return figure(
        results,
        "attention",
        "Does attention find the key at any distance?",
        "Of each network the head that gives the key most of the query’s attention on average over the "
        f"distances; shown is that share. With {FAR} distractors the key would have {uniform} if all tokens "
        f"had the same. Means of the runs there: {told}.",
        *_by_range(results, FINDER, ("transformer",), more={"wide": POSITIONS[1:]}),
        also=(FINDER_LAYER, *results.over(UNIFORM, "distance").values()),
    )


def heads(results: Results) -> Figure:
    """The key's share of attention, head by head."""
    key = ATTENTION.at({"distance": FAR, "group": "key"})
    others = product((LEAST, MIDDLE, FAR), ("key", "distractors"))
    shown = results.over(key, "layer", "head")
    also = (ATTENTION.at({"distance": distance, "group": group}) for distance, group in others)
    return figure(
        results,
        "heads",
        "Which heads look at the key?",
        f"Every head's attention from the query to the key, with {FAR} distractors between. Which head it is "
        "that looks for the key is left to chance in training. The table has the distractors’ share as well.",
        matrix(results, [key.at({"layer": at[0], "head": at[1]}) for at in shown]),
        also=[one for measure in also for one in results.over(measure, "layer", "head").values()],
    )


def gates(results: Results) -> Figure:
    """The gates of all cells, at the key and at the distractors."""
    return figure(
        results,
        "gates",
        "What do the gates of an LSTM do at the key, and what at the distractors?",
        f"Means over all cells, for a key and the {MIDDLE} distractors after it. A gate lets everything pass "
        f"at {number(1, 'share')} and nothing at 0. What is to be kept asks for a forget gate that stays open "
        "at the distractors. A memory that is written once, at the key, would have an input gate that is open "
        "there and closed afterwards.",
        *(_at_both(results, kind, "all", f"{kind.capitalize()} gate") for kind in ("forget", "input", "output")),
    )


def keeping(results: Results) -> Figure:
    """The cells whose forget gate stays open: how many, their input gate, and what they write."""
    by = (EXPLAINED.at({"by": "key"}), EXPLAINED.at({"by": "distractor"}))
    count = means(results, KEEPING, results.having([KEEPING]))
    return figure(
        results,
        "keeping",
        "Which cells keep the key, and what do they write?",
        f"A cell keeps where its forget gate is above {number(OPEN, 'share')} on average over the distractors; "
        f"there are {count} of them, means of the runs. What they write at a distractor differs from case to "
        "case: the share of this that the key explains, and the share that the distractor does, tell whether "
        "they write the memory once more or what they just read. Where no cell of a seed keeps, nothing can "
        "be said of such cells, and its run has no mean.",
        strip(results, KEEPING, "Cells that keep"),
        _at_both(results, "forget", "keeping", "Their forget gate"),
        _at_both(results, "input", "keeping", "Their input gate"),
        contrast(
            results,
            by,
            "Of what they write, explained by the key · by the distractor",
            ("one seed, by the key", "one seed, by the distractor"),
            _finite(results, by),
        ),
    )


def _at_both(results: Results, kind: str, cells: str, title: str) -> PanelGroup:
    """A gate of some cells at the key and at the distractors, a row a run."""
    key, distractor = (GATE.at({"gate": kind, "cells": cells, "token": token}) for token in ("key", "distractor"))
    seeds = ("one seed at the key", "one seed at the distractors")
    runs = _finite(results, (key, distractor))
    return contrast(results, (key, distractor), f"{title}, at the key · at the distractors", seeds, runs)


def _by_range(
    results: Results,
    measure: Measure,
    models: Iterable[str],
    line: Mark | None = None,
    more: dict[str, tuple[str, ...]] | None = None,
) -> Iterator[PanelGroup]:
    """A block for the distances that training shows, which are shaded; ``more`` names further runs of them."""
    for seen, band in SEEN.items():
        names = [*(f"{model}-{seen}" for model in models), *(more or {}).get(seen, ())]
        runs = _measured(results, names, measure, "distance")
        yield lines(results, measure, "distance", runs, band=band, mark=line)


def _measured(results: Results, names: Iterable[str], measure: Measure, over: str) -> list[ShownRun]:
    """The runs of these names that have the measure at any value of a condition."""
    having = results.having(results.over(measure, over).values())
    return [run for run in results.named(names) if run in having]


def _finished(results: Results, names: Iterable[str]) -> list[ShownRun]:
    """The runs of these names with a seed of which can be said whether it learnt."""
    return [run for run in results.named(names) if lowest(results, run, _in_training(results))]


def _finite(results: Results, measures: Iterable[Measure]) -> list[ShownRun]:
    """The runs with at least one seed that has a finite number of one of the measures."""
    known = tuple(measures)
    return [run for run in results.trained if any(finite(results.values(run, one)) for one in known)]


def _ends(band: Shading) -> str:
    return f"{band.low:g} to {band.high:g}"


def _in_training(results: Results) -> list[Measure]:
    """Recall at all distances up to `FAR` that were measured."""
    places = results.over(RECALL, "distance").items()
    return [one for (at,), one in places if not isinstance(at, str) and at <= FAR]


def _told(results: Results, runs: Iterable[ShownRun]) -> str:
    """How many seeds of each run learnt."""
    return "; ".join(f"{run.label}: {_learnt(results, run)}" for run in runs) or "none was measured"


def _learnt(results: Results, run: ShownRun) -> str:
    recalls = lowest(results, run, _in_training(results)).values()
    return f"{sum(value >= LEARNT for value in recalls)} of {len(recalls)}"
