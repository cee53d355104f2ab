"""Where the heads of attention find the tokens of a batch: index arithmetic, once a batch for all layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Complex, Float, Int
from torch import Tensor

from seedbed.batching import Bucket, Layout, Mask, TokenRows
from seedbed.models.positions import distance_bias, rotations

#: Query, key and value.
ROLES = 3


@dataclass(frozen=True, eq=False)
class HeadLayout:
    """A layout as heads see it: in a bucket, all slots of a row's first head, then of its second, and so on.

    Vectors are gathered into slots and scattered back by index. An index and its inverse are both plain row
    selections, several times faster than the additions that autograd would make of a selection's gradient.

    Attributes:
        buckets: Of the layout.
        heads: How many.
        sizes: How many slots there are for queries, for keys and for values.
        vector_of_slot: [all slots], the head's vector that fills each slot of all queries, then keys, then values;
            a padding slot takes any.
        slot_of_vector: [vectors], its inverse.
        slot_of_query: [query tokens * heads], the slot of each token's head.
        query_of_slot: [slots for queries], its inverse; a padding slot holds the number of query tokens * heads.
        rotations: How far each token's queries and keys are rotated; None is not at all.
    """

    buckets: tuple[Bucket, ...]
    heads: int
    sizes: tuple[int, int, int]
    vector_of_slot: Int[Tensor, " slots_of_all_roles"]
    slot_of_vector: Int[Tensor, " vectors"]
    slot_of_query: Int[Tensor, " queries_heads"]
    query_of_slot: Int[Tensor, " slots_of_queries"]
    rotations: Complex[Tensor, "tokens pairs"] | None = None

    def rotated(self, positions: Int[Tensor, " tokens"], width: int) -> HeadLayout:
        """The same with rotary position encoding, for heads of a width."""
        return replace(self, rotations=rotations(positions, width))

    def biased(self) -> HeadLayout:
        """The same with a penalty on distance, steeper in some heads than in others."""
        return self.masked(lambda mask, query, key: mask.plus(distance_bias(query, key, self.heads)))

    def masked(self, change: Callable[[Mask, Tensor, Tensor], Mask]) -> HeadLayout:
        """The same with other masks, given the positions of queries [queries, 1] and of keys [keys]."""
        buckets = []
        for bucket in self.buckets:
            query, key = torch.arange(bucket.queries)[:, None], torch.arange(bucket.keys)
            buckets.append(replace(bucket, mask=change(bucket.mask, query, key)))
        return replace(self, buckets=tuple(buckets))

    @cached_property
    def masks(self) -> list[tuple[Tensor, Tensor | None]]:
        """The mask of each bucket, see `Mask.by_head`."""
        return [bucket.mask.by_head(bucket.rows * self.heads) for bucket in self.buckets]

    def split_roles(
        self, slots: Float[Tensor, "slots_of_all_roles width"]
    ) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """Queries, keys and values of each bucket, [rows * heads, length, width] each."""
        parts, buckets = _split(slots, self._shapes), len(self.buckets)
        return parts[:buckets], parts[buckets : 2 * buckets], parts[2 * buckets :]

    def split_queries(self, slots: Float[Tensor, "slots width"]) -> list[Float[Tensor, "batch length width"]]:
        """The queries of each bucket, given their slots alone."""
        return _split(slots, self._shapes[: len(self.buckets)])

    @cached_property
    def _shapes(self) -> list[tuple[int, int]]:
        """The batch and the length of each bucket's queries, then of all keys, then of all values."""
        queries = [(bucket.rows * self.heads, bucket.queries) for bucket in self.buckets]
        keys = [(bucket.rows * self.heads, bucket.keys) for bucket in self.buckets]
        return [*queries, *keys, *keys]


def _split(slots: Float[Tensor, "slots width"], shapes: list[tuple[int, int]]) -> list[Tensor]:
    parts = slots.split_with_sizes([batch * length for batch, length in shapes])
    return [part.view(*shape, slots.shape[1]) for part, shape in zip(parts, shapes, strict=True)]


def self_heads(layout: Layout, positions: Int[Tensor, " tokens"], heads: int) -> HeadLayout:
    """The heads of documents that attend to themselves.

    Vectors come as [tokens * 3 * heads, width]: of each token queries, keys, values.
    """
    slots = _slots(layout.queries, positions, heads)
    roles = layout.queries.slots * heads * torch.arange(ROLES)
    return _head_layout(layout, heads, slots, (slots[:, None] + roles[:, None]).flatten())


def cross_heads(
    layout: Layout, queries: Int[Tensor, " queries"], keys: Int[Tensor, " keys"], heads: int
) -> HeadLayout:
    """The heads of documents that attend to others.

    Vectors come as [queries * heads + keys * 2 * heads, width]: first all queries, then of each token attended to
    keys and values.

    Args:
        layout: Of both streams.
        queries: The positions of the tokens that attend.
        keys: The positions of those attended to.
        heads: How many.
    """
    slots = _slots(layout.queries, queries, heads)
    key_slots = layout.queries.slots * heads + _slots(layout.keys, keys, heads)
    roles = layout.keys.slots * heads * torch.arange(ROLES - 1)
    pairs = key_slots[:, None] + roles[:, None]
    return _head_layout(layout, heads, slots, torch.cat([slots.flatten(), pairs.flatten()]))


def _slots(rows: TokenRows, positions: Int[Tensor, " tokens"], heads: int) -> Int[Tensor, "tokens heads"]:
    first = rows.starts * heads + positions
    return first[:, None] + rows.lengths[:, None] * torch.arange(heads)


def _head_layout(
    layout: Layout, heads: int, slots: Int[Tensor, "tokens heads"], slot_of_vector: Int[Tensor, " vectors"]
) -> HeadLayout:
    queries, keys = layout.queries.slots * heads, layout.keys.slots * heads
    return HeadLayout(
        layout.buckets,
        heads,
        (queries, keys, keys),
        _inverse(slot_of_vector, queries + 2 * keys, 0),
        slot_of_vector,
        slots.flatten(),
        _inverse(slots.flatten(), queries, slots.numel()),
    )


def _inverse(index: Int[Tensor, " values"], size: int, fill: int) -> Int[Tensor, " size"]:
    return torch.full((size,), fill).scatter_(0, index, torch.arange(len(index)))
