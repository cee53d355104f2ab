"""Where every head of a Transformer looks when the verb has to come (recurrence 6.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from seedbed.batching import pack
from seedbed.evaluations.context import Context
from seedbed.evaluations.sizes import require_positive
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
        require_positive(attractors=self.attractors, pairs=self.pairs)


def evaluate(model: TrainedModel, context: Context, options: Options) -> Iterator[Observation]:
    """``attention_share`` of each group of positions, by layer and head, counted from 1; a head's add up to 1.

    ``largest_share`` is that of the head of a layer that has most, see `attention_shares`: which one it is, hangs
    on the seed. Beside them ``uniform_share``, what a group would have if all positions had the same. The position
    that looks is the last attractor; the group ``attractors`` are the others.
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


def attention_shares(
    shares: NDArray[np.floating], group: str, clusters: NDArray[np.int64]
) -> Iterator[Observation]:
    """``attention_share`` of a group of positions by layer and head, and ``largest_share`` by layer.

    The head with the largest is chosen by the clusters of even number and told of the others: on those by which it
    is chosen, the largest of several shares is larger than it is in truth.

    Args:
        shares: [layers, queries, heads].
        group: What the positions are called.
        clusters: [queries], see `observations.mean`.
    """
    chosen_by = clusters % 2 == 0
    for layer, of_heads in enumerate(shares, start=1):
        at: dict[str, Scalar] = {"layer": layer, "group": group}
        for head, share in enumerate(of_heads.T, start=1):
            yield mean("attention_share", share, {**at, "head": head}, "share", clusters=clusters)
        if chosen_by.any():
            most = of_heads[~chosen_by, of_heads[chosen_by].mean(0).argmax()]
            yield mean("largest_share", most, at, "share", clusters=clusters[~chosen_by])
