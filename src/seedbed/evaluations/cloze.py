"""Holes filled by a model that is trained to: it is asked for the word, with both sides given (objectives 6.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seedbed.evaluations.context import Context, Filler
from seedbed.evaluations.holes import counted, drawn, forwards, scored
from seedbed.evaluations.sizes import require_positive
from seedbed.observations import Observation


@dataclass(frozen=True)
class Options:
    """The holes."""

    items: int = 500  # one in the first sentence of each of the first so many test documents

    def __post_init__(self) -> None:
        require_positive(items=self.items)


def evaluate(model: Filler, context: Context, options: Options) -> Iterator[Observation]:
    """Loss, divergence and agreement under ``method=direct``, see `holes.scored`, and what it costs.

    A masked model reads a document once a hole, a span model once for each word that the hole may hold.
    """
    holes, condition = drawn(context.language, context.test, options.items), {"method": "direct"}
    with counted(model) as read:
        predicted = model.fill(holes.documents, holes.places)
    yield from scored(holes, predicted, condition)
    yield from forwards(holes, read, condition)
