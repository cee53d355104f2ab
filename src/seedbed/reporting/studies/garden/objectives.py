"""What each objective learns: a part of the garden study (lecture ``objectives``, sections 6.2 to 6.5).

It names runs of that study. What a build lacks of them is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from seedbed.reporting.drawing.marks import ZERO, Mark
from seedbed.reporting.figures import Figure, PanelGroup, Part, figure
from seedbed.reporting.numbers import NON_FINITE, NOT_MEASURED, number
from seedbed.reporting.panels.bars import bars
from seedbed.reporting.panels.lines import lines
from seedbed.reporting.panels.strips import beside, contrast, shared_limits, strip
from seedbed.reporting.results import PARAMETERS, Measure, Results, ShownRun
from seedbed.reporting.sentences import common, exact_floor, lowest_and_highest, mark, means
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
    """The part, if a build has measured it."""
    if not results.having([CONTINUED, LOSS.at(DIRECT), LOSS.at(BAYES)]):
        return
    yield Part(
        "What each objective learns",
        "The objectives read the same text equally often and ask different questions: the next word (forward), "
        "the rest after a prefix that sees itself (prefix), hidden words (masked), or sequences of words that "
        "are cut out (span corruption). In the lecture each model does a task in its natural way; where the "
        "lecture leaves the way open, it is ours. A continuation is the rest of a text, given its beginning. The "
        "prefix model has the beginning as its prefix, the span model writes the rest as the span after it, and "
        "the masked model fills a mask at the end, word after word. To fill a hole, the masked and the span model "
        "work as in training. A left-to-right model compares all words by Bayes; the prefix model has the words "
        "before the hole as its prefix.",
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
    """What the objectives make of one sentence (section 6.2), as a table: a demonstration."""
    labels = {name: run.label for name in FOUR if (run := results.run(name))}
    shown = results.of_demonstration("corruption-examples", "objective", labels)
    measures = [one for each in EXAMPLE for one in shown.over(each, "first").values()]
    rows: list[tuple[Value, ...]] = []
    for run in shown.study.runs:
        for first in {one.condition["first"]: None for one in measures}:
            found = [next(iter(shown.readings(run, each.at({"first": first})).values())) for each in EXAMPLE]
            if all(found):
                read, asked, tokens = (cell.text or cell.value for cell in found if cell)
                rows.append((run.label, tokens, read, asked))
    results.lookups.assign("figure example")
    shown.lookups.assign("figure example")
    if rows:
        columns = (Column("objective", "objective"), Column("tokens", "asks for", "count"))
        texts = (Column("read", "it reads"), Column("asked", "and is asked for"))
        table = Table("garden-example", (*columns, *texts), tuple(rows))
        yield Figure(
            "example",
            "What does each objective ask about one sentence?",
            "The last two columns show what a model reads and what it is asked for. Each row is one random "
            "draw of the hidden tokens, or of the end of the prefix. The rows of an objective differ in the "
            "token that is asked for first. If a model reads two streams, a bar separates source and answer.",
            (),
            table,
            tuple(measures),
        )


def tasks(results: Results) -> Figure:
    """Continuation and cloze by objective, with the exact floors."""
    runs = results.named((*FOUR, *VARIANTS, *REFERENCES))
    continued = lowest_and_highest(results, CONTINUED, results.named(FOUR))
    return figure(
        results,
        "tasks",
        "What is each objective good at?",
        f"In continuation, means of the four objectives: {continued or NOT_MEASURED} nats a token, where the "
        f"language itself has {_number(results, CONTINUED_FLOOR)}. In the cloze test the language has "
        f"{_number(results, FLOOR.at(DIRECT))}, since many holes have several good answers. The right answers "
        "of both tasks are known exactly. Continuation: the first sentence of a test document is given and the "
        "second one scored. Cloze: one word of the first sentence is hidden and predicted from everything else.",
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
        "How good is each way of filling a hole, and what does it cost?",
        "A masked model reads a document once to fill a hole; by Bayes, and for a span of one word, a network "
        "reads one document for each word that the hole may hold. The panels show the divergence of a model’s "
        "prediction from the exact posterior (0 for the language itself), how often both have the same first "
        "choice, and the number of documents read.",
        _cloze(results, DIVERGENCE, "Divergence from the posterior, asked · by Bayes", runs),
        _cloze(results, AGREEMENT, "Agreement with its likeliest word, asked · by Bayes", runs),
        _cloze(results, FORWARDS, "Documents read to fill one hole, asked · by Bayes", runs),
    )


def sides(results: Results) -> Figure:
    """Cloze by the side of the hole that decides the word."""
    asked, bayes = (
        bars(results, DIVERGENCE.at(method), "evidence", results.named(names), ZERO)
        for method, names in ((DIRECT, ("mlm", "span", "exact-window-5")), (BAYES, ("flm", "plm", "window")))
    )
    return figure(
        results,
        "sides",
        "Does it matter which side of the hole decides the word?",
        "It does if the rows of a panel differ. Each row shows the divergence from the posterior, in nats, "
        "for holes whose word is decided by the words before them, after them, or on either side. The "
        "deciding side is the one whose loss costs more, computed from the language. The best predictor that "
        "sees a [[window]] before the hole and nothing after it shows what one side alone allows.",
        asked,
        bayes,
    )


def words(results: Results) -> Figure:
    """The excess of a continuation word by word."""
    return figure(
        results,
        "words",
        "After how many words does a model lose track of a sentence?",
        "A model loses track where its line rises: if it expects the end after a few words, the words that come "
        "instead surprise it. The lines show the excess over the language’s own loss at each word of the second "
        "sentence, in nats.",
        lines(results, CONTINUED_EXCESS, "word", results.named(FOUR)),
    )


def lengths(results: Results) -> Iterator[Figure]:
    """The excess in holes of one word and of several, for models that write what a hole holds."""
    places = results.over(LENGTHS, "words")
    runs = results.having(places.values())
    if not runs:
        return
    ends = "; ".join(f"{run.label}, {_ends(results, run, places.values())}" for run in runs)
    also = [one for measure in (LENGTHS_LOSS, LENGTHS_FLOOR) for one in results.over(measure, "words").values()]
    yield figure(
        results,
        "lengths",
        "How many missing words can a span model fill in?",
        f"Lowest and highest mean excess, each with its number of missing words: {ends}. Words of the first "
        "sentence are cut out, and the model writes them. Neither the model nor the language knows how many "
        "words are missing. The excess over the language is in nats a token, end mark included. A model may "
        "beat the language at lengths that its training favoured.",
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
        "A line that still falls at the right end belongs to an objective that is still learning. The lines "
        "show each objective’s own loss on the validation documents, in nats, after each pass through the "
        "text. The questions differ in difficulty, so compare the shapes of the curves, not their heights.",
        lines(results, OWN_LOSS, "epoch", results.named((*FOUR, *VARIANTS))),
    )


def grid(results: Results) -> Figure:
    """Three architectures by two objectives, on both tasks."""
    runs = results.named((*GRID, *REFERENCES))
    continued = lowest_and_highest(results, CONTINUED, results.named(GRID))
    decoder, both = (means(results, PARAMETERS, results.named([name])) for name in ("flm", "span"))
    return figure(
        results,
        "grid",
        "Is it the architecture or the objective?",
        f"Continuation, means from the lowest run to the highest: {continued or NOT_MEASURED}. Wang et al. "
        "(2022) trained causal decoders, prefix decoders and encoder-decoders with several objectives on the "
        "same tokens. This is a small version of their grid: first next words and prefixes, then span "
        f"corruption. A decoder has {decoder} parameters; an encoder-decoder, in which each token passes "
        f"through half of the layers, {both}.",
        _continuations(results, runs),
        _cloze(results, LOSS, "Cloze, nats a hole, asked for the word · by Bayes", runs, FLOOR),
    )


def adaptation(results: Results, perplexity: Measure, floor: Mark | None) -> Figure:
    """One further epoch with another objective, beside one epoch from nothing and a whole training."""
    adapted, fresh, whole = (means(results, perplexity, results.named([name])) for name in (*ADAPTED[0], "flm"))
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
        f"Perplexity after one epoch as a forward model, adapted from a masked one: {adapted}; from nothing: "
        f"{fresh}; after a whole forward training, of {_epochs(_last(results, 'flm'))}: {whole}. A masked model "
        "is trained for one more epoch as a forward model, and a forward model as a masked one. The parameters "
        "are the same; only what may be seen and what is predicted changes. Each is compared with one epoch "
        "from nothing, with the same schedule.",
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
