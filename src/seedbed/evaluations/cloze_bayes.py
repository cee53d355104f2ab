"""Filling holes with a model that only writes from left to right: by Bayes' theorem (objectives 6.4, exercise 9).

    p(word | left, right)  is proportional to  p(word, right | left)

Each word is put into the hole; it and all behind it is scored as the continuation of what stands before, a prefix
model's prefix. This goes up to the period of the sentence: sentences are independent, so that in truth the
rest tells nothing more. `cloze_bayes_document` scores it too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seedbed.documents import Documents, Tokens
from seedbed.evaluations.context import Context, Continuer
from seedbed.evaluations.holes import Holes, Numbers, counted, drawn, forwards, scored
from seedbed.evaluations.sizes import require_positive
from seedbed.objectives.scoring import restrict_to_words
from seedbed.observations import Observation, Scalar

#: Holes at once: a reference run has all predictions of so many times 87 documents in memory.
_PIECE = 20


@dataclass(frozen=True)
class Options:
    """The holes."""

    items: int = 500  # one in the first sentence of each of the first so many test documents

    def __post_init__(self) -> None:
        require_positive(items=self.items)


def evaluate(model: Continuer, context: Context, options: Options) -> Iterator[Observation]:
    """Loss, divergence and agreement under ``method=bayes, until=sentence``, see `holes.scored`, and the cost."""
    holes = drawn(context.language, context.test, options.items)
    yield from by_bayes(model, holes, holes.sentences, {"method": "bayes", "until": "sentence"})


def by_bayes(
    model: Continuer, holes: Holes, documents: Documents, condition: dict[str, Scalar]
) -> Iterator[Observation]:
    """What `evaluate` yields, for the documents of the holes or the beginnings of them that are scored.

    ``cloze_read`` is the share of the documents' tokens in these beginnings: what of the work is left.
    """
    with counted(model) as read:
        predicted = filled(model, holes, documents)
    yield from scored(holes, predicted, condition)
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
