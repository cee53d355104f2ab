"""Holes of one word and of several, for a model that writes what a hole holds (objectives 6.4).

The model does not know how many words are missing: it decides when it ends. It is compared with the language's own
answer, which does not know the number either and gives each length its probability in the language. Training has
other probabilities of lengths. So a model may be better than the language at the lengths that training favours,
and worse at others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from seedbed.documents import Documents, Tokens
from seedbed.languages.automaton import Language
from seedbed.languages.infilling import hole_log_probabilities
from seedbed.measuring.context import Context, Infiller
from seedbed.measuring.sentence_ends import periods
from seedbed.messages import require_positive
from seedbed.observations import Observation, mean
from seedbed.randomness import stream

NEEDS = ("infill",)
SOURCE = "language"
REHEARSED = {"items": 16}


@dataclass(frozen=True)
class Options:
    """The holes."""

    longest: int = 6  # words; of every length from 1 on
    items: int = 500  # of each length: the first test documents whose first sentence is long enough

    def __post_init__(self) -> None:
        require_positive(longest=self.longest, items=self.items)


def evaluate(model: Infiller, context: Context, options: Options) -> Iterator[Observation]:
    """How well holes of ``words`` words are filled, each length in the same documents.

    ``infill_loss`` is what the words of a hole and their end cost the model, ``infill_language_loss`` what they
    cost the language itself, and ``infill_excess`` the first less the second; nats a token, the end counted.
    """
    documents = _long_enough(context.test, options)
    for words in range(1, options.longest + 1):
        places, sizes = _places(documents, words), np.full(len(documents), words)
        loss = -model.infill(documents, places, sizes)
        own = _language_loss(context.language, documents, words)
        scores = {"infill_loss": loss, "infill_language_loss": own, "infill_excess": loss - own}
        for metric, values in scores.items():
            yield mean(metric, values / (words + 1), {"words": words}, "nat")


@lru_cache(maxsize=1)
def _long_enough(test: Documents, options: Options) -> Documents:
    """Documents whose first sentence has room for the longest hole."""
    owners, ends = periods(test, 1)
    return test.take(owners[ends > options.longest][: options.items])


def _places(documents: Documents, words: int) -> Tokens:
    """[documents], where a hole of this many words begins: anywhere in the first sentence, before its period."""
    _, ends = periods(documents, 1)
    return stream(0, f"cloze, {words} words").integers(1, ends - words, endpoint=True)


@lru_cache(maxsize=32)
def _language_loss(language: Language, documents: Documents, words: int) -> NDArray[np.float64]:
    """[documents], kept from one seed of a run to the next."""
    sizes = np.full(len(documents), words)
    return -hole_log_probabilities(language, documents, _places(documents, words), sizes)
