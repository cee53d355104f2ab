"""Continuing a text: the first sentence of a document is given and the second is scored (objectives 6.4).

Each model continues in its natural way, the method ``continuation`` of its objective. The period is scored too.
The first word also shows that there is a second sentence at all, as in the exact figure 1.330 of the lecture.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seedbed.documents import Documents, Tokens, split_each
from seedbed.measuring.context import Context, Continuer
from seedbed.measuring.sentence_ends import periods
from seedbed.observations import Observation, mean

NEEDS = ("continuation",)
SOURCE = "language"


@dataclass(frozen=True)
class Options:
    """How far the excess is given word by word."""

    words: int = 8  # the first places of the second sentence; the period is one

    def __post_init__(self) -> None:
        if self.words < 0:
            raise ValueError(f"words {self.words}: expected 0 or more")


def evaluate(model: Continuer, context: Context, options: Options) -> Iterator[Observation]:
    """``continuation_loss`` in nats a token, the language's own, ``continuation_language_loss``, and the excess.

    Over all second sentences of the test set, and the excess also by ``word``, the place in the sentence, from 1.
    """
    documents, starts = _second_sentences(context.test)
    asked = documents.positions >= starts[documents.owners]
    owners, places = documents.owners[asked], (documents.positions - starts[documents.owners])[asked]
    true = context.language.token_log_probabilities(documents)[asked[documents.positions > 0]]
    loss = -model.continuation(documents, starts)
    for metric, values in {"loss": loss, "language_loss": -true, "excess": loss + true}.items():
        yield mean(f"continuation_{metric}", values, unit="nat", clusters=owners)
    for place in range(min(options.words, int(places.max(initial=-1)) + 1)):
        here = places == place
        yield mean("continuation_excess", (loss + true)[here], {"word": place + 1}, "nat", owners[here])


def _second_sentences(test: Documents) -> tuple[Documents, Tokens]:
    """The documents that have a second sentence, up to its period, and the place where it begins in each."""
    having, ends = periods(test, 2)
    starts = periods(test, 1)[1][having] + 1
    return split_each(test.take(having), np.asarray(ends + 1))[0], starts
