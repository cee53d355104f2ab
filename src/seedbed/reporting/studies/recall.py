"""The recall study on its page: which networks recall a key after many distractors, which never learn to, and why.

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

#: The distances in the sentences; the last is the longest of training.
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
#: The networks whose gradients before training are demonstrated → their labels.
NETWORKS = {
    "rnn": "Elman RNN",
    "lstm": "LSTM",
    "lstm-bias-0": "LSTM with forget bias 0",
    "lstm-bias-3": "LSTM with forget bias 3",
    "gru": "GRU",
    "transformer": "Transformer",
    "transformer-sinusoidal": "Transformer, sinusoidal positions",
    "transformer-nope": "Transformer, no positions",
    "transformer-rope": "Transformer, rotary positions",
    "transformer-alibi": "Transformer, ALiBi",
}
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
MODELS = ("rnn", "lstm", "lstm-bias-3", "gru", "gla", "transformer")
CORE = tuple(f"{model}-{seen}" for seen in SEEN for model in MODELS)
WIDE = tuple(f"{model}-wide" for model in MODELS)
#: The position encodings that are trained on the same distances.
POSITIONS = (
    "transformer-wide",
    "transformer-sinusoidal",
    "transformer-nope",
    "transformer-rope",
    "transformer-alibi",
)
#: What the lecture compares: one network on other distances, and other networks on the same.
COMPARED = ("rnn-short", "rnn-wide", "lstm-wide", "lstm-long", "transformer-long")
#: A network that recalls at least this share has learnt to.
LEARNT = 0.99
#: A cell keeps where its forget gate is above this, as the evaluation has it.
OPEN = 0.99
GUESSING = Mark(1 / KEYS, "guessing", "guessing one of the keys")

CURRICULA = tuple((f"{model}-long", f"{model}-curriculum") for model in MODELS)
#: The runs of the main figure, and the other trained ones, which further figures show.
LISTED = CORE
ELSEWHERE = (*POSITIONS, *(both for _, both in CURRICULA))

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
    runs = _finished(results, COMPARED) or _finished(results, CORE)
    if not runs:
        return Headline("The recall study has no finite result in this build.")
    return Headline(
        f"Seeds that recall the key at every distance up to {FAR} (at least {number(LEARNT, 'share')} right at "
        f"each): {_learnt_of_all(results, runs)}.",
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
    """The study's figures, in the order of the page; those without a number in this build are left out."""
    for part in _parts(results):
        drawn = tuple(one for one in part.figures if one.grids)
        if drawn:
            yield replace(part, figures=drawn)


def _parts(results: Results) -> Iterator[Part]:
    yield Part(figures=(bits(results), curriculum(results), positions(results)))
    yield Part(
        "Why long examples teach so little",
        "How much does the error at the query say about a key far back, before training begins?",
        (gradients(results),),
    )
    yield Part(
        "What the networks learnt",
        "A network can recall in several ways. What it attends to and what its cells keep show which one it "
        "learnt.",
        (moved(results), attention(results), heads(results), gates(results), keeping(results)),
    )


def recall(results: Results) -> Figure:
    """The page's first figure of the study: recall by distance, by model and distances of training."""
    return figure(
        results,
        "recall",
        "From how far does each network recall the key?",
        f"[[Seed]]s that are right in at least {number(LEARNT, 'share')} of cases at every distance up to {FAR}: "
        f"{_learnt_of_all(results, _finished(results, CORE))}. The lines show how often the most probable answer "
        "is the key, which was read first, by the number of distractors between the key and the query (the "
        "distance, d). A line that is low from the first distance on belongs to a network that has not forgotten "
        "the key: it never learnt to keep it. A line ends where the network has no vectors for further positions.",
        *_by_range(results, RECALL, MODELS, GUESSING),
        also=results.over(LOSS, "distance").values(),
    )


def bits(results: Results) -> Figure:
    """Mutual information of key and answer: by distance for one range of training, near and far for every run."""
    near, far = (BITS.at({"distance": distance}) for distance in (NEAR, FAR))
    chosen = _measured(results, WIDE, BITS, "distance")
    means_of_runs = "; ".join(
        f"{run.label}, {number(results.mean(run, near), 'bit')} at {NEAR} and "
        f"{number(results.mean(run, far), 'bit')} at {FAR}"
        for run in chosen
    )
    return figure(
        results,
        "bits",
        "How many bits of the key are remembered?",
        f"Mean bits of the runs trained on distances from {_ends(SEEN['wide'])}, at a distance of {NEAR} and of "
        f"{FAR}: {means_of_runs or NOT_MEASURED}. One of {KEYS} keys is {math.log2(KEYS):g} bits. The mutual "
        "information of key and answer says how many of them the answers contain; a network that knows only in "
        "which half of the keys the right one is has 1 bit. A network that forgets has fewer bits far than near. "
        "One that never learnt has few at both.",
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
    runs = [(results.run(long), results.run(both)) for long, both in CURRICULA]
    having = results.having(results.over(RECALL, "distance").values())
    pairs = [(long, both) for long, both in runs if long in having and both in having]
    learnt = _learnt_of_all(results, _finished(results, (name for _, name in CURRICULA)))
    return figure(
        results,
        "curriculum",
        "Do short examples first make long ones learnable?",
        f"[[Seed]]s trained on short examples first that are right in at least {number(LEARNT, 'share')} of "
        f"cases at every distance up to {FAR}: {learnt}. Each panel compares two networks that end their "
        "training on the same distances, which are shaded. One sees only these; the other spends the first "
        f"half of its steps on distances from {_ends(SEEN['short'])}.",
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
    """Recall by distance of Transformers that differ in their position encoding."""
    runs = _measured(results, POSITIONS, RECALL, "distance")
    ends = lowest_and_highest(results, FARTHEST, runs) or NOT_MEASURED
    return figure(
        results,
        "positions",
        "Does a Transformer need positions to recall?",
        f"Mean recall after {FAR} distractors, from the lowest run to the highest: {ends}. No distractor is "
        "ever a key, so a network can find the key without knowing its position. All are trained on the same "
        "distances. Learned positions end with their table; the other encodings can be asked at larger "
        "distances.",
        lines(results, RECALL, "distance", runs, band=SEEN["wide"], mark=GUESSING),
    )


def gradients(results: Results) -> Figure:
    """The gradient of the query's loss by the key’s vector, before training: a demonstration."""
    found = results.of_demonstration("gradients-at-initialisation", "network", NETWORKS)
    runs = found.having(found.over(GRADIENT, "distance").values())
    ratios = "; ".join(f"{run.label}, {number(found.mean(run, RATIO), RATIO.unit)}" for run in runs)
    power = number((LEAST + 2) / (FAR + 2), RATIO.unit)
    return figure(
        found,
        "gradients",
        "How much does the error teach about a key far back, before training?",
        f"From a distance of {LEAST} to {FAR} the gradient falls to this multiple: {ratios or NOT_MEASURED}. "
        f"Uniform attention would give the key 1 / (distance + 2), which falls to {power}. The lines show the "
        "mean size of the gradient of the error at the query by the key’s vector, in untrained networks. An "
        "exponential decay is a straight line here; a power of the distance is a curve that flattens.",
        lines(found, GRADIENT, "distance", runs, ("linear", "log")),
        also=(RATIO, EXPONENT, PERSISTENCE),
    )


def moved(results: Results) -> Figure:
    """Recall of a key between the distractors."""
    runs = _measured(results, [*CORE, *POSITIONS[1:]], MOVED, "before")
    ends = lowest_and_highest(results, MOVED.at({"before": MIDDLE}), runs) or NOT_MEASURED
    return figure(
        results,
        "moved",
        "Is the key found where training never had one?",
        f"With {MIDDLE} distractors before the key, mean recall from the lowest run to the highest: {ends}. In "
        f"training the key is always read first. Here some of the {FAR} distractors come before it: none at the "
        "left end of a panel, all of them at the right end, where the query follows the key. A network that looks "
        "for any key finds it anywhere; one that looks at the first position does not.",
        lines(results, MOVED, "before", runs, mark=GUESSING),
    )


def attention(results: Results) -> Figure:
    """The key's share of attention in the head that looks there most, by distance."""
    far = FINDER.at({"distance": FAR})
    uniform = number(common(results, UNIFORM.at({"distance": FAR})), "share")
    ends = lowest_and_highest(results, far, results.having([far])) or NOT_MEASURED
    return figure(
        results,
        "attention",
        "Does attention find the key at any distance?",
        f"With {FAR} distractors, mean attention on the key from the lowest run to the highest: {ends}; if all "
        f"tokens had the same, it would be {uniform}. The lines show attention from the query to the key, for "
        "the head of each network that attends to the key most on average over the distances.",
        *_by_range(results, FINDER, ("transformer",), more={"wide": POSITIONS[1:]}),
        also=(
            FINDER_LAYER,
            *results.over(UNIFORM, "distance").values(),
            *results.over(UNTRAINED, "distance").values(),
        ),
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
        "Which head looks for the key differs between seeds: chance decides it in training. The panels show each "
        f"head’s attention from the query to the key, with {FAR} distractors between them. The table also has the "
        "attention on the distractors.",
        matrix(results, [key.at({"layer": at[0], "head": at[1]}) for at in shown]),
        also=[one for measure in also for one in results.over(measure, "layer", "head").values()],
    )


def gates(results: Results) -> Figure:
    """The gates of all cells, at the key and at the distractors."""
    kept = GATE.at({"gate": "forget", "cells": "all", "token": "distractor"})
    forget = lowest_and_highest(results, kept, results.having([kept])) or NOT_MEASURED
    return figure(
        results,
        "gates",
        "What do the gates of an LSTM do at the key, and what at the distractors?",
        f"Mean forget gate at the distractors, from the lowest run to the highest: {forget}. To keep something, "
        "the forget gate must stay open at the distractors. A memory that is written once, at the key, has an "
        "input gate that is open there and closed afterwards. The panels show means over all cells, for a key "
        f"and the {MIDDLE} distractors after it. A gate lets everything pass at {number(1, 'share')} and "
        "nothing at 0.",
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
        f"Mean number of cells that keep something: {count}. Such a cell has a forget gate above "
        f"{number(OPEN, 'share')} on average over the distractors. What these cells write at a distractor varies. "
        "If the key explains more of this variance, they write the memory again; if the distractor explains more, "
        "they write what they just read. A seed without such cells has no value, and its run has no mean.",
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
    """A gate of some cells at the key and at the distractors, one row for each run."""
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
    """The runs of these names with a seed that was measured at all distances."""
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


def _learnt_of_all(results: Results, runs: Iterable[ShownRun]) -> str:
    """How many seeds of each run learnt to recall."""
    return "; ".join(f"{run.label}: {_learnt(results, run)}" for run in runs) or NOT_MEASURED


def _learnt(results: Results, run: ShownRun) -> str:
    recalls = lowest(results, run, _in_training(results)).values()
    return f"{sum(value >= LEARNT for value in recalls)} of {len(recalls)}"
