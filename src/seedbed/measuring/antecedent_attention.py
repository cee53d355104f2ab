"""How much the heads of a Transformer look at an antecedent when the next word is one that it decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from seedbed.batching import pack
from seedbed.documents import Documents
from seedbed.languages.exact import antecedent_distances
from seedbed.measuring.context import Context
from seedbed.measuring.trained import TrainedModel
from seedbed.models.inspection import attention
from seedbed.observations import Observation, Scalar, mean

#: Documents in one forward pass: the weights of all heads are kept for all of them.
_CHUNK = 64

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Queries:
    """The tokens whose attention is measured, and the antecedent of each.

    Attributes:
        documents: The documents that they are in.
        places: [queries], indices into the flat tokens.
        first: [queries], the position in its document of the antecedent's first word.
        last: [queries], the position of its last word.
    """

    documents: Documents
    places: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    @property
    def owners(self) -> NDArray[np.int64]:
        """[queries], the document of each."""
        return self.documents.owners[self.places]

    @property
    def even(self) -> NDArray[np.bool_]:
        """[queries], whether its document has an even number, from 0: on these a head is chosen."""
        even: NDArray[np.bool_] = self.owners % 2 == 0
        return even

    @property
    def seen(self) -> NDArray[np.int64]:
        """[queries], how many positions each sees, its own included."""
        return self.documents.positions[self.places] + 1


def find_queries(context: Context, slot: str, antecedent: str) -> Queries:
    """The tokens of the test set before the words of a slot, and where the slot that decides them is."""
    test = context.test
    places, distances = antecedent_distances(context.language, test, slot, antecedent)
    spoken = context.language.in_slot(test, antecedent)
    begins = np.where(spoken & ~np.roll(spoken, 1), np.arange(len(spoken)), 0)
    last = places - distances
    first = np.maximum.accumulate(begins)[last]
    return Queries(test, places - 1, test.positions[first], test.positions[last])


def shares_of_antecedent(model: TrainedModel, asked: Queries) -> Numbers:
    """[layers, queries, heads], the attention of each query on its antecedent, all its words together."""
    model.network.eval()
    parts, documents = [], asked.documents
    for start in range(0, len(documents), _CHUNK):
        chunk = documents.take(np.arange(start, min(start + _CHUNK, len(documents))))
        mine = (asked.owners >= start) & (asked.owners < start + _CHUNK)
        rows = torch.from_numpy(asked.places[mine] - documents.offsets[start])
        weights = attention(model.network, pack(chunk), rows).double().numpy()
        position = np.arange(weights.shape[-1])
        inside = (position >= asked.first[mine, None]) & (position <= asked.last[mine, None])
        parts.append((weights * inside[:, None]).sum(-1))
    return np.concatenate(parts, axis=1)


def head_of_largest_share(found: Numbers) -> tuple[int, int]:
    """Layer and head, from 0, of the largest mean share; of equal ones the first."""
    layer, head = np.unravel_index(found.mean(1).argmax(), (found.shape[0], found.shape[2]))
    return int(layer), int(head)


def attention_shares(
    shares: NDArray[np.floating], group: str, clusters: NDArray[np.int64]
) -> Iterator[Observation]:
    """``attention_share`` of a group of positions by layer and head, and ``largest_share`` by layer.

    The head with the largest share is chosen on the clusters of even number and measured on the others: where it
    is chosen, the largest of several shares is biased upwards.

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
