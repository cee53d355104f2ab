"""Filling holes with a model that only writes from left to right: by Bayes' theorem (objectives 6.4, exercise 9).

    p(word | left, right)  is proportional to  p(word, right | left)

Each word is put into the hole. The word and all that follows are scored as the continuation of what comes before;
for a prefix model, that is the prefix. Scoring ends with the sentence: sentences are independent, so the rest of
the document says nothing about the hole. The lecture first scored the whole document, which costs three times as
much.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from seedbed.documents import Documents, Tokens
from seedbed.measuring.context import Context, Continuer
from seedbed.measuring.holes import Holes, Numbers, count_documents_read, draw_holes, forwards, score_holes
from seedbed.messages import require_positive
from seedbed.objectives.scoring import restrict_to_words
from seedbed.observations import Observation, Scalar

#: Holes at once: a reference run keeps the predictions of 87 documents for each hole in memory.
_PIECE = 20


NEEDS = ("continuation",)
SOURCE = "language"
REHEARSED = {"items": 16}


@dataclass(frozen=True)
class Options:
    """The holes, and how much of a document is scored."""

    items: int = 500  # one hole in the first sentence of each of this many documents, the first of the test set
    until: Literal["sentence", "document"] = "sentence"  # what is scored ends where this ends

    def __post_init__(self) -> None:
        require_positive(items=self.items)


def evaluate(model: Continuer, context: Context, options: Options) -> Iterator[Observation]:
    """Loss, divergence and agreement under ``method=bayes, until=...``, see `holes.score_holes`, and the cost.

    ``cloze_read`` is the share of the documents' tokens that are scored, relative to the whole documents.
    """
    holes = draw_holes(context.language, context.test, options.items)
    documents = holes.sentences if options.until == "sentence" else holes.documents
    condition: dict[str, Scalar] = {"method": "bayes", "until": options.until}
    with count_documents_read(model) as read:
        predicted = filled(model, holes, documents)
    yield from score_holes(holes, predicted, condition)
    yield from forwards(holes, read, condition)
    yield Observation("cloze_read", len(documents.tokens) / len(holes.documents.tokens), condition, "share")


def filled(model: Continuer, holes: Holes, documents: Documents) -> Numbers:
    """[documents, vocabulary], log probabilities of the word in each hole, normalised over the words."""
    words, indices = holes.language.vocabulary.word_ids, np.arange(len(documents))
    pieces = (indices[start : start + _PIECE] for start in range(0, len(documents), _PIECE))
    each = [_scores(model, documents.take(some), holes.places[some], words) for some in pieces]
    return restrict_to_words(np.concatenate(each), words, len(holes.language.vocabulary))


def _scores(model: Continuer, documents: Documents, places: Tokens, words: Tokens) -> Numbers:
    """[documents, words], the log probability of each word in the hole and all behind it."""
    candidates = documents.take(np.repeat(np.arange(len(documents)), len(words)))
    starts = np.repeat(places, len(words))
    candidates.tokens[candidates.offsets[:-1] + starts] = np.tile(words, len(documents))
    found = model.continuation(candidates, starts)
    owners = candidates.owners[candidates.positions >= starts[candidates.owners]]
    return np.asarray(np.bincount(owners, weights=found).reshape(len(documents), len(words)), np.float64)
