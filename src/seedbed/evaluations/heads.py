"""Where every head of a Transformer looks when the verb has to come (recurrence 6.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from seedbed.batching import pack
from seedbed.evaluations.context import Context
from seedbed.evaluations.trained import TrainedModel
from seedbed.languages import agreement
from seedbed.models.inspection import attention
from seedbed.observations import Observation, Scalar, mean


@dataclass(frozen=True)
class Options:
    """The sentences, all attractors opposite to the subject."""

    attractors: int = 3
    pairs: int = 200

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: an option below 1.
        """
        for name in ("attractors", "pairs"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} {getattr(self, name)}: expected at least 1")


def evaluate(model: TrainedModel, context: Context, options: Options) -> Iterator[Observation]:
    """``attention_share`` of each group of positions, by layer and head, counted from 1; a head's add up to 1.

    Beside it ``uniform_share``, what a group would have if all positions had the same. The position that looks is
    the last attractor.
    """
    test = agreement.beginnings(context.language, options.attractors, "opposite", options.pairs)
    model.network.eval()
    weights = attention(model.network, pack(test.documents))[:, torch.from_numpy(test.documents.offsets[1:] - 1)]
    positions = int(test.documents.lengths[0])
    for group, places in agreement.places(options.attractors).items():
        if not places:
            continue
        yield Observation("uniform_share", len(places) / positions, {"group": group}, "share")
        shares = weights[..., places].sum(-1)
        for layer in range(shares.shape[0]):
            for head in range(shares.shape[2]):
                condition: dict[str, Scalar] = {"layer": layer + 1, "head": head + 1, "group": group}
                yield mean(
                    "attention_share", shares[layer, :, head].numpy(), condition, "share", clusters=test.pairs
                )
