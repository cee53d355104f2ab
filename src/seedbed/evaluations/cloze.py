"""Holes filled by a model that is trained to fill them: it sees both sides of the hole (objectives 6.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seedbed.measuring.context import Context, Filler
from seedbed.measuring.holes import count_documents_read, draw_holes, forwards, score_holes
from seedbed.messages import require_positive
from seedbed.observations import Observation

NEEDS = ("fill",)
SOURCE = "language"
REHEARSED = {"items": 16}


@dataclass(frozen=True)
class Options:
    """The holes."""

    items: int = 500  # one hole in the first sentence of each of this many documents, the first of the test set

    def __post_init__(self) -> None:
        require_positive(items=self.items)


def evaluate(model: Filler, context: Context, options: Options) -> Iterator[Observation]:
    """Loss, divergence and agreement under ``method=direct``, see `holes.score_holes`, and what it costs.

    For each hole, a masked model reads one document, a span model one for each word that the hole may hold.
    """
    holes, condition = draw_holes(context.language, context.test, options.items), {"method": "direct"}
    with count_documents_read(model) as read:
        predicted = model.fill(holes.documents, holes.places)
    yield from score_holes(holes, predicted, condition)
    yield from forwards(holes, read, condition)
