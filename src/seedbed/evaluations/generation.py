"""What sentences a run writes from scratch, and where they leave the grammar (objectives 5.3, 6.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from seedbed.decoding.choice import Choice
from seedbed.decoding.writing import draw_uniforms, generate_documents
from seedbed.documents import Documents
from seedbed.languages.automaton import BOUNDARY, Language
from seedbed.languages.exact import antecedent_distances
from seedbed.languages.vocabulary import BEGIN, END, PERIOD
from seedbed.measuring.context import Context, Writer
from seedbed.messages import require_positive
from seedbed.observations import Observation, Scalar, mean
from seedbed.randomness import stream

NEEDS = ("beginning",)
SOURCE = "language"
REHEARSED = {"per_document": 1}


@dataclass(frozen=True)
class Options:
    """How many sentences, how they are chosen, and the word whose antecedent may lie outside a window."""

    slot: str  # errors in this slot are also counted by the distance of its antecedent
    antecedent: str  # the slot that decides it
    per_document: int = 2  # sentences for each document of the test set
    longest: int = 20  # tokens written at most; see `measured` for what this cuts off
    decodings: tuple[str, ...] = ("sampling", "top-p 0.95")  # see `Choice.read`
    window: int = 5  # in words, see the evaluation pronouns

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a number below 1, or an unknown decoding.
        """
        require_positive(per_document=self.per_document, longest=self.longest, window=self.window)
        self.choices()

    def choices(self) -> dict[str, Choice]:
        """The decodings by name."""
        return {name: Choice.read(name) for name in self.decodings}


#: Every seed writes its own sentences.
_mean = partial(mean, shared=False)


def evaluate(model: Writer, context: Context, options: Options) -> Iterator[Observation]:
    """What is written up to the first period or <eos>, by decoding.

    All runs of a seed choose by the same random numbers, and so do all decodings.
    """
    sentences = options.per_document * len(context.test)
    numbers = draw_uniforms(stream(context.seed, "generation"), sentences, options.longest)
    for name, choice in options.choices().items():
        begun, score_next = model.beginning(sentences)
        documents = generate_documents(score_next, begun, choice, numbers, (PERIOD, END))
        found = Documents.of(document[len(begun) :] for document in documents)
        yield from measured(context.language, found, {"decoding": name}, options)


def measured(
    language: Language, sentences: Documents, condition: Mapping[str, Scalar], options: Options
) -> Iterator[Observation]:
    """Shares of sentences: ``legal`` ones; ``illegal`` by the slot that the first error is in; different ones.

    A sentence ends at its period, so no error comes after it. An <eos> before the period is an error at the slot
    that should have come. A sentence that the limit cuts off before its end and before any error is legal as far
    as it goes, and ``cut_off`` is the share of these. Errors in the slot of the options are also counted by
    whether its antecedent lies inside the window. Of the illegal sentences, if there are any, ``outside_errors``
    is the share of those outside, ``commonest_error`` the largest share that one slot has. ``stopped_first`` is
    the share of sentences that begin with <eos>, and ``written`` the mean number of tokens before it, the period
    included.
    """
    cut = _cut_off(language, sentences)
    errors = [None if ends else language.first_error(one) for one, ends in zip(sentences, cut, strict=True)]
    yield _mean("legal", [error is None for error in errors], condition, "share")
    yield _mean("cut_off", cut, condition, "share")
    for slot in _inside(language):
        yield _mean("illegal", [error == slot for error in errors], {**condition, "error": slot}, "share")
    distances = _distances(language, sentences, errors, options)
    outside = distances > options.window
    for window, found in {"inside": (distances > 0) & ~outside, "outside": outside}.items():
        place: dict[str, Scalar] = {**condition, "error": options.slot, "window": window}
        yield _mean("illegal", found, place, "share")
    counts = Counter(error for error in errors if error is not None)
    if counts:
        yield Observation("outside_errors", int(outside.sum()) / counts.total(), condition, "share")
        yield Observation("commonest_error", max(counts.values()) / counts.total(), condition, "share")
    different = len({tuple(sentence) for sentence in sentences})
    yield Observation("distinct", different / len(sentences), condition, "share")
    ended = sentences.tokens[sentences.offsets[1:] - 1] == END
    yield _mean("stopped_first", ended & (sentences.lengths == 1), condition, "share")
    yield _mean("written", sentences.lengths - ended, condition, "token")


def _inside(language: Language) -> list[str]:
    """The slots of a sentence: neither ``<bos>`` nor what may follow a period."""
    return sorted({slot for state, slot in enumerate(language.slots) if slot and state not in (0, BOUNDARY)})


def _cut_off(language: Language, sentences: Documents) -> NDArray[np.bool_]:
    """[sentences], whether a sentence has neither ended nor left the grammar."""
    texts = _documents(sentences)
    last = texts.offsets[1:] - 1
    open_ended: NDArray[np.bool_] = language.states(texts)[last] != language.dead
    return open_ended & ~np.isin(texts.tokens[last], (PERIOD, END))


def _documents(sentences: Documents) -> Documents:
    """Each sentence as the first of a document."""
    return Documents.of([BEGIN, *sentence] for sentence in sentences)


def _distances(
    language: Language, sentences: Documents, errors: list[str | None], options: Options
) -> NDArray[np.int64]:
    """[sentences], how far back the antecedent of a wrong word in the slot is; 0 for any other error."""
    texts = _documents(sentences)
    places, distances = antecedent_distances(language, texts, options.slot, options.antecedent)
    found, wrong = np.zeros(len(sentences), np.int64), np.array([error == options.slot for error in errors])
    found[texts.owners[places]] = distances * wrong[texts.owners[places]]
    return found
