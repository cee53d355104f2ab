"""The same as `cloze_bayes`, with all of the document behind the hole scored, as the lecture first did it.

A file of its own, since it costs three times as much: a study asks it of fewer runs (objectives, exercise 9).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seedbed.evaluations.cloze_bayes import by_bayes
from seedbed.evaluations.context import Context, Continuer
from seedbed.evaluations.holes import drawn
from seedbed.evaluations.sizes import require_positive
from seedbed.observations import Observation


@dataclass(frozen=True)
class Options:
    """The holes."""

    items: int = 500  # one in the first sentence of each of the first so many test documents

    def __post_init__(self) -> None:
        require_positive(items=self.items)


def evaluate(model: Continuer, context: Context, options: Options) -> Iterator[Observation]:
    """Loss, divergence and agreement under ``method=bayes, until=document``, see `holes.scored`, and the cost."""
    holes = drawn(context.language, context.test, options.items)
    yield from by_bayes(model, holes, holes.documents, {"method": "bayes", "until": "document"})
