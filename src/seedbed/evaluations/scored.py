"""How much of its text an objective asks for: the training signal of a document (objectives 6.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seedbed.measuring.context import Context
from seedbed.measuring.trained import TrainedModel
from seedbed.objectives.scoring import scored_shares
from seedbed.observations import Observation
from seedbed.randomness import stream

NEEDS = ("objective", "corpus")
SOURCE = "language"


@dataclass(frozen=True)
class Options:
    """Nothing to choose."""


def evaluate(model: TrainedModel, context: Context, options: Options) -> Iterator[Observation]:
    """Over the seed's training corpus, relative to its tokens but the first of each document, in one draw.

    ``scored_share`` is the share of the text's tokens that are asked for. ``scored_tokens`` also counts tokens
    that are not of the text: the sentinels and ends of answers that span corruption writes.
    """
    found = scored_shares(model.objective, model.corpus, stream(0, "scored tokens"))
    yield Observation("scored_share", found.text, unit="share")
    yield Observation("scored_tokens", found.scored, unit="share")
