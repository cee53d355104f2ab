"""What an output depends on: a part of the garden study.

Lecture ``objectives``, sections 4.2 and 5.4 and exercise 7.
"""

from __future__ import annotations

from collections.abc import Iterator

from seedbed.reporting.drawing.marks import Mark
from seedbed.reporting.figures import Figure, Part, figure
from seedbed.reporting.numbers import NOT_MEASURED, number
from seedbed.reporting.panels.bars import named_bars
from seedbed.reporting.panels.patterns import patterns
from seedbed.reporting.panels.scatter import scatter
from seedbed.reporting.panels.strips import strip
from seedbed.reporting.results import Measure, Results, ShownRun
from seedbed.reporting.sentences import common, lowest_and_highest, means

TEXT, SOURCE = {"on": "text"}, {"on": "source"}
INSIDE, OUTSIDE = ({"window": name} for name in ("inside", "outside"))
SUBJECT = {"group": "subject"}
NOTHING, ATTENTIVE, IMPORTANT = ({"without": name} for name in ("nothing", "most attentive", "most important"))

DEPENDENCY = Measure("hanging", "depend on each other", "dependency", "share")
ALLOWED, FORBIDDEN = (DEPENDENCY.at({**TEXT, "pair": pair}) for pair in ("allowed", "forbidden"))
READ = Measure("pattern", "its own text", "dependency_matrix", "", TEXT)
READ_SOURCE = Measure("source", "source", "dependency_matrix", "", SOURCE)

ATTENTION = Measure("attention", "attention on the subject", "attention_share", "share", SUBJECT)
LARGEST = Measure("largest", "largest attention", "largest_share", "share", SUBJECT)
UNIFORM = Measure("uniform", "uniform attention", "uniform_share", "share", SUBJECT)
KNOWN = Measure("ablated", "right possessive", "ablated_probability", "share", OUTSIDE)
KNOWN_INSIDE = Measure("ablated_inside", "right possessive, inside", "ablated_probability", "share", INSIDE)
INTACT = Measure("intact", "with all heads", "ablated_probability", "share", {**OUTSIDE, **NOTHING})
IMPORTANT_LOOKS = Measure("looks", "the most important head looks most", "most_important_looks", "share")
IMPORTANT_LAYER = Measure("layer", "layer of the most important head", "most_important_layer", "layer")

#: Both axes of a panel are shares; their ends are the same for all panels of shares of pairs.
WHOLE = (-0.02, 1.02)


def dependence_part(results: Results, possible: Mark | None) -> Iterator[Part]:
    """The part, where a build has measured anything of it; ``possible`` is what the window alone allows."""
    found = (*dependency(results), *heads(results), *removal(results, possible))
    if found:
        yield Part(
            "What an output depends on",
            "What a model may look at, what it looks at, and what it needs are three different things. An "
            "attention weight is a correlation; the change of a word when something is removed shows a cause.",
            found,
        )


def dependency(results: Results) -> Iterator[Figure]:
    """Outputs by inputs of an example, and the shares over the test set."""
    allowed, forbidden = results.having([ALLOWED]), results.having([FORBIDDEN])
    if allowed:
        yield figure(
            results,
            "dependency",
            "Which inputs does an output depend on?",
            f"Means of the runs: an output depends on {means(results, ALLOWED, allowed)} of the inputs that its "
            f"mask allows, and on {means(results, FORBIDDEN, forbidden)} of the others, where anything but 0 is "
            "a leak. After training, one token of a text is changed. An output depends on the token if any of "
            "the output’s numbers changes. The shares are over texts of the test set. The squares show one "
            "example, read as training reads it.",
            patterns(results, (READ, READ_SOURCE)),
            strip(results, ALLOWED, "Of the inputs that may be seen, those that it depends on", limits=WHOLE),
            strip(results, FORBIDDEN, "Of those that may not be seen", limits=WHOLE),
            also=results.over(DEPENDENCY.at(SOURCE), "pair").values(),
        )


def heads(results: Results) -> Iterator[Figure]:
    """Each head's attention on the subject against what is left without the head."""
    group = scatter(
        results,
        (ATTENTION, KNOWN),
        ("layer", "head"),
        ("a head of one seed, layer 1", "a head of one seed, a later layer"),
        line=INTACT,
    )
    if not group.runs:
        return
    same = "; ".join(filter(None, (_same(results, run) for run in group.runs))) or NOT_MEASURED
    uniform = number(common(results, UNIFORM), "share")
    largest = lowest_and_highest(results, LARGEST, group.runs) or NOT_MEASURED
    yield figure(
        results,
        "heads",
        "Is the head that looks at the subject the one that is needed?",
        f"[[Seed]]s in which the most important [[head]] is also the most attentive one: {same}. The "
        "horizontal axis is the share of its attention that a head gives to the subject before a possessive. "
        f"It would be {uniform} if all tokens had the same; the most attentive head has {largest}, means of "
        "the runs. The vertical axis is the probability of the right possessive, with its subject outside the "
        "[[window]], if the output of this head is 0. A head that is needed is far below the line.",
        group,
        also=(
            LARGEST,
            UNIFORM,
            IMPORTANT_LAYER,
            IMPORTANT_LOOKS,
            *results.over(LARGEST, "layer").values(),
            *results.over(KNOWN_INSIDE, "layer", "head").values(),
        ),
    )


def removal(results: Results, possible: Mark | None) -> Iterator[Figure]:
    """The right possessive without a head, and without a layer, by run."""
    places = {
        "no head": KNOWN.at(NOTHING),
        "most attentive head": KNOWN.at(ATTENTIVE),
        "most important head": KNOWN.at(IMPORTANT),
        **_layers(results),
    }
    runs = results.having(places.values())
    if runs:
        one, two = (lowest_and_highest(results, KNOWN.at(which), runs) for which in (IMPORTANT, ATTENTIVE))
        yield figure(
            results,
            "removal",
            "What is lost without a head, or without all heads of a layer?",
            "Means of the runs, from the lowest to the highest, without the most attentive [[head]]: "
            f"{two or NOT_MEASURED}; without the most important one: {one or NOT_MEASURED}. This is the "
            "probability of the right possessive, with its subject outside the [[window]], if no head is removed, "
            "one head, or a whole layer. The most attentive head looks at the subject most; without the most "
            "important one the word is least probable. Both are chosen on one half of the documents and measured "
            "on the other.",
            named_bars(results, places, possible),
            also=[KNOWN_INSIDE.at(which) for which in (NOTHING, ATTENTIVE, IMPORTANT)],
        )


def _layers(results: Results) -> dict[str, Measure]:
    """All heads of each layer at once, where that was measured."""
    found = results.over(KNOWN.at({"head": "all"}), "layer")
    return {f"all of layer {layer}": one for (layer,), one in found.items()}


def _same(results: Results, run: ShownRun) -> str:
    """In how many seeds the two heads are one."""
    known = [value for value in results.values(run, IMPORTANT_LOOKS).values() if value is not None]
    return f"{run.label}, {sum(known):.0f} of {len(known)}" if known else ""
