"""Where every head of a Transformer looks when the verb has to come (recurrence 6.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from seedbed.batching import pack
from seedbed.languages import agreement
from seedbed.measuring.antecedent_attention import attention_shares
from seedbed.measuring.context import Context
from seedbed.measuring.trained import TrainedModel
from seedbed.messages import require_positive
from seedbed.models.inspection import attention
from seedbed.observations import Observation

NEEDS = ("network",)
SOURCE = "language"
REHEARSED = {"pairs": 8}


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
        require_positive(attractors=self.attractors, pairs=self.pairs)


def evaluate(model: TrainedModel, context: Context, options: Options) -> Iterator[Observation]:
    """``attention_share`` of each group of positions, by layer and head, counted from 1; a head's add up to 1.

    ``largest_share`` is the share of the head that has most in its layer, see `attention_shares`; which head this
    is differs between seeds. ``uniform_share`` is what a group would have if all positions had the same. The query
    is the last attractor; the group ``attractors`` are the others.
    """
    test = agreement.sentence_prefixes(context.language, options.attractors, "opposite", options.pairs)
    model.network.eval()
    last = torch.from_numpy(test.documents.offsets[1:] - 1)
    weights = attention(model.network, pack(test.documents), last)
    positions = int(test.documents.lengths[0])
    for group, places in agreement.position_groups(options.attractors).items():
        if not places:
            continue
        yield Observation("uniform_share", len(places) / positions, {"group": group}, "share")
        yield from attention_shares(weights[..., places].sum(-1).numpy(), group, test.pairs)
