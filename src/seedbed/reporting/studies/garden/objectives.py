"""What each objective learns: a part of the garden study (lecture ``objectives``, sections 6.2 to 6.5).

It names runs of that study. What a build lacks of them is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from seedbed.reporting.drawing.marks import ZERO, Mark
from seedbed.reporting.figures import Figure, PanelGroup, Part, figure
from seedbed.reporting.numbers import NON_FINITE, number
from seedbed.reporting.panels.bars import bars
from seedbed.reporting.panels.lines import lines
from seedbed.reporting.panels.strips import beside, contrast, shared_limits, strip
from seedbed.reporting.results import PARAMETERS, Measure, Results, ShownRun
from seedbed.reporting.sentences import common, exact_floor, mark, means
from seedbed.reporting.studies.garden.writing import writing_by_objective
from seedbed.reporting.tables import Column, Table, Value

DIRECT = {"method": "direct"}
BAYES = {"method": "bayes", "until": "sentence"}

CONTINUED = Measure("continued", "continuation", "continuation_loss", "nat")
CONTINUED_FLOOR = Measure("continued_floor", "continuation, floor", "continuation_language_loss", "nat")
CONTINUED_EXCESS = Measure("continued_excess", "continuation, excess", "continuation_excess", "nat")
LOSS = Measure("cloze", "cloze", "cloze_loss", "nat")
FLOOR = Measure("cloze_floor", "cloze, floor", "cloze_language_loss", "nat")
DIVERGENCE = Measure("cloze_divergence", "cloze, divergence", "cloze_divergence", "nat")
AGREEMENT = Measure("cloze_agreement", "cloze, agreement", "cloze_agreement", "share")
FORWARDS = Measure("forwards", "forwards a hole", "cloze_forwards", "count")
OWN_LOSS = Measure("own_loss", "own validation loss", "validation_loss", "nat")
LENGTHS = Measure("lengths", "holes, excess", "infill_excess", "nat")
LENGTHS_LOSS = Measure("lengths_loss", "holes, loss", "infill_loss", "nat")
LENGTHS_FLOOR = Measure("lengths_floor", "holes, floor", "infill_language_loss", "nat")
SCORED = Measure("scored", "text that is scored", "scored_share", "share")

#: What an objective makes of the lecture's sentence.
EXAMPLE = tuple(Measure(name, name, name, "") for name in ("example_read", "example_asked", "example_tokens"))

#: The four objectives, and what they are read against.
FOUR = ("flm", "plm", "mlm", "span")
VARIANTS = ("span-at-end", "mlm-all-mask", "mlm-nope", "mlm-large")
REFERENCES = ("exact", "exact-window-5")
#: Architecture by objective: causal, prefix and encoder-decoder with flm or plm, then with span corruption.
GRID = ("flm", "plm", "plm-encoder-decoder", "span-causal", "span-prefix", "span")
#: Adapted, and from nothing.
ADAPTED = (("adapt-mlm-to-flm", "flm-one-epoch"), ("adapt-flm-to-mlm", "mlm-one-epoch"))
#: The runs that this part is about; ``flm`` is one of the study's first.
_NAMES = {*FOUR[1:], *VARIANTS, *GRID[1:], *(name for pair in ADAPTED for name in pair), "leaky"}

_SEEDS = ("one seed, asked for the word", "one seed, by Bayes")


def of_section(run: ShownRun) -> bool:
    """Whether a run is shown here and not among those that differ in their network."""
    return run.name in _NAMES


def objectives_part(results: Results, perplexity: Measure, floor: Mark | None) -> Iterator[Part]:
    """The part, where a build has measured it."""
    if not results.having([CONTINUED, LOSS.at(DIRECT), LOSS.at(BAYES)]):
        return
    yield Part(
        "What each objective learns",
        "The same text and the same passes through it, but other questions: the next word (forward), what "
        "follows a prefix that sees itself (prefix), words that are hidden (masked), or runs of words that are "
        "cut out (span corruption). The lecture has each model do a task in the way natural to it, and leaves "
        "some of these ways open. Here a continuation is the rest of a text given its beginning: the prefix "
        "model has the beginning as its prefix, the span model writes the rest as the span behind it, and the "
        "masked model fills a mask behind all that is there, word after word. A hole is filled by the masked "
        "and the span model as they were trained; a left-to-right model compares all words by Bayes, the prefix "
        "model with what stands before the hole as its prefix.",
        (
            *example(results),
            tasks(results),
            price(results),
            sides(results),
            words(results),
            *lengths(results),
            *writing_by_objective(results, _section(results), results.named(FOUR)),
            own_losses(results),
            grid(results),
            adaptation(results, perplexity, floor),
        ),
    )


def example(results: Results) -> Iterator[Figure]:
    """What the objectives make of one sentence (section 6.2), as a table; the same for all seeds."""
    measures = [one for each in EXAMPLE for one in results.over(each, "first").values()]
    rows: list[tuple[Value, ...]] = []
    for run in results.named(FOUR):
        for first in {one.condition["first"]: None for one in measures}:
            found = [next(iter(results.readings(run, each.at({"first": first})).values())) for each in EXAMPLE]
            if all(found):
                read, asked, tokens = (cell.text or cell.value for cell in found if cell)
                rows.append((run.label, tokens, read, asked))
    if rows:
        columns = (Column("run", "run"), Column("tokens", "asks for", "count"))
        texts = (Column("read", "it reads"), Column("asked", "and is asked for"))
        table = Table("garden-example", (*columns, *texts), tuple(rows))
        yield Figure(
            "example",
            "What is each objective asked of one sentence?",
            "Which tokens are hidden, and where a prefix ends, is drawn anew each time: shown are draws that "
            "begin with different tokens. Where two streams are read, a bar stands between source and answer.",
            (),
            table,
            tuple(measures),
        )


def tasks(results: Results) -> Figure:
    """Continuation and cloze by objective, with the exact floors."""
    runs, four = results.named((*FOUR, *VARIANTS, *REFERENCES)), results.named(FOUR)
    return figure(
        results,
        "tasks",
        "What is each objective good at?",
        "Two tasks whose right answers are known exactly. Continuation: the first sentence of a test document "
        "is given and the second scored. Cloze: a word of the first sentence is hidden, and asked for with all "
        "else given. Means of the objectives, their variants left out: "
        f"{means(results, CONTINUED, four)} nats a token in continuation, where the language itself has "
        f"{_number(results, CONTINUED_FLOOR)}. In the cloze test it has {_number(results, FLOOR.at(DIRECT))}, "
        "since many holes have several good answers.",
        _continuations(results, runs),
        _cloze(results, LOSS, "Cloze, nats a hole, asked for the word · by Bayes", runs, FLOOR),
        also=(CONTINUED_FLOOR, SCORED),
    )


def price(results: Results) -> Figure:
    """How well holes are filled, and how many documents a network reads for one."""
    names = (*FOUR, "window", "rnn", "gru", "lstm", "plm-encoder-decoder", "mlm-large")
    runs = results.named(names)
    return figure(
        results,
        "price",
        "Is a filled hole worth its price?",
        "The divergence of what a model says of a hole from the exact posterior, 0 for the language itself, and "
        "the share of holes where its first choice is also the posterior’s. A masked model reads a document "
        "once to fill a hole; by Bayes, and for a span of one word, a network reads one for each of the words "
        "that the hole may hold.",
        _cloze(results, DIVERGENCE, "Divergence from the posterior, asked · by Bayes", runs),
        _cloze(results, AGREEMENT, "Agreement with its likeliest word, asked · by Bayes", runs),
        _cloze(results, FORWARDS, "Documents read to fill one hole, asked · by Bayes", runs),
    )


def sides(results: Results) -> Figure:
    """Cloze by the side on which the evidence stands."""
    asked, bayes = (
        bars(results, DIVERGENCE.at(method), "evidence", results.named(names), ZERO)
        for method, names in ((DIRECT, ("mlm", "span", "exact-window-5")), (BAYES, ("flm", "plm", "window")))
    )
    return figure(
        results,
        "sides",
        "Does it matter on which side of the hole the evidence stands?",
        "A hole is told by what stands before it, by what stands behind it, or by either alone: by whichever "
        "costs more to lose, computed from the language. Divergence from the posterior, in nats. The best that "
        "sees a [[window]] before the hole and nothing behind shows what one side alone allows.",
        asked,
        bayes,
    )


def words(results: Results) -> Figure:
    """The excess of a continuation word by word."""
    return figure(
        results,
        "words",
        "Where in a sentence does a model stop following?",
        "Excess over the language’s own loss at each word of the second sentence, in nats. A model that expects "
        "the end after a few words is surprised by the words that come instead.",
        lines(results, CONTINUED_EXCESS, "word", results.named(FOUR)),
    )


def lengths(results: Results) -> Iterator[Figure]:
    """The excess in holes of one word and of several, for models that write what a hole holds."""
    places = results.over(LENGTHS, "words")
    runs = results.having(places.values())
    if not runs:
        return
    told = "; ".join(f"{run.label}, {_ends(results, run, places.values())}" for run in runs)
    also = [one for measure in (LENGTHS_LOSS, LENGTHS_FLOOR) for one in results.over(measure, "words").values()]
    yield figure(
        results,
        "lengths",
        "How many missing words can a span model fill in?",
        "Words of the first sentence are cut out, and the model writes what the hole held; how many they were it "
        "is not told. Excess over the language’s own answer, which is not told it either, in nats a token, the "
        "end of the hole counted as one. The language takes all lengths as it has them, the model as training had "
        "them: where it expects a length it may be ahead. Lowest and highest mean, and the number of missing "
        f"words that has it: {told}.",
        lines(results, LENGTHS, "words", runs),
        also=also,
    )


def _ends(results: Results, run: ShownRun, measures: Iterable[Measure]) -> str:
    """The lowest and the highest mean of a run, each with the number of words."""
    found = [(mean, one.condition["words"]) for one in measures if (mean := results.mean(run, one)) is not None]
    known = sorted((mean, words) for mean, words in found if math.isfinite(mean))
    ends = dict.fromkeys(f"{number(mean, 'nat')} ({words})" for mean, words in [*known[:1], *known[-1:]])
    return " to ".join(ends) or NON_FINITE


def own_losses(results: Results) -> Figure:
    """The validation loss of each objective by epoch."""
    return figure(
        results,
        "own-losses",
        "Which objective is still learning at the end?",
        "Each objective’s own loss on the validation documents, in nats, after each pass through the text. The "
        "questions differ in difficulty: what can be compared is the form of the curves, not their height.",
        lines(results, OWN_LOSS, "epoch", results.named((*FOUR, *VARIANTS))),
    )


def grid(results: Results) -> Figure:
    """Three architectures by two objectives, on both tasks."""
    runs = results.named((*GRID, *REFERENCES))
    decoder, both = (means(results, PARAMETERS, results.named([name])) for name in ("flm", "span"))
    return figure(
        results,
        "grid",
        "Is it the architecture or the objective?",
        "Wang et al. (2022) trained causal decoders, prefix decoders and encoder-decoders with several "
        "objectives on the same tokens. The same grid in small: first next words and prefixes, then span "
        f"corruption. Parameters of a decoder: {decoder}; of an encoder-decoder, in which each token passes "
        f"through half of the layers: {both}.",
        _continuations(results, runs),
        _cloze(results, LOSS, "Cloze, nats a hole, asked for the word · by Bayes", runs, FLOOR),
    )


def adaptation(results: Results, perplexity: Measure, floor: Mark | None) -> Figure:
    """One further epoch with another objective, beside one epoch from nothing and a whole training."""
    pairs = [_pairs(results, pair) for pair in ADAPTED]
    marks = [floor, _end(results, "mlm")]
    measures = (perplexity, OWN_LOSS.at({"epoch": 1}))
    titles = ("Perplexity on the test set", "Loss of the masked objective on the validation set")
    groups = [
        beside(
            results, measure, f"{title}, adapted · from nothing", pair, ("one seed, adapted", "from nothing"), line
        )
        for measure, title, pair, line in zip(measures, titles, pairs, marks, strict=True)
    ]
    return figure(
        results,
        "adaptation",
        "Is it cheaper to adapt a model than to train one?",
        "A masked model goes on for one epoch as a forward model, and a forward model as a masked one: the "
        "parameters are the same, only what may be seen and what is asked changes. Beside it one epoch from "
        f"nothing, with the same schedule. A whole forward training, of {_epochs(_last(results, 'flm'))}, reaches "
        f"a perplexity of {means(results, perplexity, results.named(['flm']))}.",
        *groups,
    )


def _end(results: Results, name: str) -> Mark | None:
    """The mean own loss of a run at the end of its training."""
    run, last = results.run(name), _last(results, name)
    return mark(results.mean(run, OWN_LOSS.at({"epoch": last})) if run else None, "nat", _epochs(last))


def _last(results: Results, name: str) -> int:
    """The last epoch of a run; 0 where a build does not have it."""
    places = results.over(OWN_LOSS, "epoch").items()
    return max((int(epoch) for (epoch,), one in places if results.run(name) in results.having([one])), default=0)


def _epochs(count: int) -> str:
    return f"{count} epoch{'' if count == 1 else 's'}"


def _pairs(results: Results, names: tuple[str, str]) -> list[tuple[ShownRun, ShownRun]]:
    """The two runs, where a build has both."""
    first, second = map(results.run, names)
    return [(first, second)] if first and second else []


def _continuations(results: Results, runs: tuple[ShownRun, ...]) -> PanelGroup:
    return strip(results, CONTINUED, "Continuation, nats a token", runs, exact_floor(results, CONTINUED_FLOOR))


def _cloze(
    results: Results, measure: Measure, title: str, runs: tuple[ShownRun, ...], floor: Measure | None = None
) -> PanelGroup:
    """A measure of the cloze test, asked for the word and by Bayes."""
    both = (measure.at(DIRECT), measure.at(BAYES))
    line = exact_floor(results, floor.at(DIRECT)) if floor else None
    chosen = tuple(run for run in runs if run in results.having(both))
    return contrast(results, both, title, _SEEDS, chosen, line, shared_limits(results, chosen, both, line))


def _section(results: Results) -> tuple[ShownRun, ...]:
    """The four objectives first, and then the other runs of this part."""
    others = (run.name for run in results.trained if of_section(run) and run.name not in FOUR)
    return results.named((*FOUR, *others))


def _number(results: Results, measure: Measure) -> str:
    return number(common(results, measure), measure.unit)
