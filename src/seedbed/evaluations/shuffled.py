"""Does the order of the words around a hole matter (objectives, exercise 6)?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.documents import Documents, Tokens
from seedbed.measuring.context import Context, Filler
from seedbed.measuring.divergence import divergence
from seedbed.measuring.holes import draw_holes
from seedbed.messages import require_positive
from seedbed.observations import Observation, mean
from seedbed.randomness import stream

NEEDS = ("fill",)
SOURCE = "language"
REHEARSED = {"items": 16}


@dataclass(frozen=True)
class Options:
    """The holes, those of the evaluation cloze."""

    items: int = 500  # one hole in the first sentence of each of this many documents, the first of the test set

    def __post_init__(self) -> None:
        require_positive(items=self.items)


def evaluate(model: Filler, context: Context, options: Options) -> Iterator[Observation]:
    """``shuffled_divergence``, KL(in order ‖ shuffled) of the predictions for a hole, in nats.

    All tokens between <bos> and <eos> are shuffled, the hole among them.
    """
    holes = draw_holes(context.language, context.test, options.items)
    order = _order(holes.documents)
    shuffled = Documents(holes.documents.tokens[order], holes.documents.offsets)
    moved = np.argsort(order)[holes.documents.offsets[:-1] + holes.places] - holes.documents.offsets[:-1]
    as_it_stands, otherwise = model.fill(holes.documents, holes.places), model.fill(shuffled, moved)
    yield mean("shuffled_divergence", divergence(as_it_stands, otherwise), {}, "nat")


def _order(documents: Documents) -> NDArray[np.int64]:
    """[tokens], which token comes to each place: any of its document, but the first and the last stay."""
    keys = stream(0, "shuffled").random(len(documents.tokens))
    keys[documents.offsets[:-1]], keys[documents.offsets[1:] - 1] = -1.0, 2.0
    order: Tokens = np.lexsort((keys, documents.owners))
    return order
