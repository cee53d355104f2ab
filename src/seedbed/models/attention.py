"""Multi-head attention over packed documents (Vaswani et al. 2017, section 3.2).

Tokens come and go flat. In between, the heads of each block of documents are one batched matrix product, whether
the documents look at themselves or at a source. Padding slots exist only here: no token reads them, and their
gradient is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Complex, Float, Int
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from seedbed.batching import Block, Layout, Mask, Side
from seedbed.models.positions import distance_bias, turns

_ROLES = 3  # query, key, value


@dataclass(frozen=True, eq=False)
class HeadSlots:
    """A layout seen by heads: in a block, all slots of a row's first head, then of its second, and so on.

    A gather and its inverse are both plain row selections, several times faster than the additions that autograd
    would make of the way back.

    Attributes:
        blocks: Of the layout.
        heads: How many.
        sizes: How many slots for queries, for keys and for values.
        gather: [all slots], the head's vector that fills each slot of all queries, then keys, then values; a
            padding slot takes any.
        ungather: [vectors], its inverse.
        place: [query tokens * heads], the slot of each token's head.
        occupant: [slots for queries], its inverse; a padding slot holds the number of query tokens * heads.
        turns: How far each token's queries and keys are rotated; None is not at all.
    """

    blocks: tuple[Block, ...]
    heads: int
    sizes: tuple[int, int, int]
    gather: Int[Tensor, " slots_of_all_roles"]
    ungather: Int[Tensor, " vectors"]
    place: Int[Tensor, " queries_heads"]
    occupant: Int[Tensor, " slots_of_queries"]
    turns: Complex[Tensor, "tokens pairs"] | None = None

    def rotated(self, positions: Int[Tensor, " tokens"], width: int) -> HeadSlots:
        """The same with rotary positions, for heads of a width."""
        return replace(self, turns=turns(positions, width))

    def biased(self) -> HeadSlots:
        """The same with a penalty on distance, steeper in some heads than in others."""
        return self.masked(lambda mask, query, key: mask.plus(distance_bias(query, key, self.heads)))

    def masked(self, change: Callable[[Mask, Tensor, Tensor], Mask]) -> HeadSlots:
        """The same with other masks, given the positions of queries [queries, 1] and of keys [keys]."""
        blocks = []
        for block in self.blocks:
            query, key = torch.arange(block.queries)[:, None], torch.arange(block.keys)
            blocks.append(replace(block, mask=change(block.mask, query, key)))
        return replace(self, blocks=tuple(blocks))

    def roles(self, slots: Float[Tensor, "slots_of_all_roles width"]) -> Iterator[list[Tensor]]:
        """The slots of each block's queries, keys and values, each a batch of its rows' heads."""
        queries, keys, values = torch.split(slots, list(self.sizes))
        lengths = [block.keys for block in self.blocks]
        parts = self.of_queries(queries), self._of_rows(keys, lengths), self._of_rows(values, lengths)
        return map(list, zip(*parts, strict=True))

    def of_queries(self, slots: Float[Tensor, "slots width"]) -> Iterator[Float[Tensor, "batch length width"]]:
        """The slots of each block's queries, likewise."""
        return self._of_rows(slots, [block.queries for block in self.blocks])

    def _of_rows(self, slots: Tensor, lengths: list[int]) -> Iterator[Tensor]:
        rows = [block.rows * self.heads for block in self.blocks]
        parts = torch.split(slots, [row * length for row, length in zip(rows, lengths, strict=True)])
        for part, row, length in zip(parts, rows, lengths, strict=True):
            yield part.view(row, length, -1)


def head_slots(layout: Layout, positions: Int[Tensor, " tokens"], heads: int) -> HeadSlots:
    """The slots of every head of documents that look at themselves, once a batch for all layers.

    Vectors come as [tokens * 3 * heads, width]: of each token queries, keys, values.
    """
    place = _places(layout.queries, positions, heads)
    roles = layout.queries.slots * heads * torch.arange(_ROLES)
    return _head_slots(layout, heads, place, (place[:, None] + roles[:, None]).flatten())


def cross_slots(
    layout: Layout, queries: Int[Tensor, " queries"], keys: Int[Tensor, " keys"], heads: int
) -> HeadSlots:
    """The slots of every head of documents that look at others, once a batch for all layers.

    Vectors come as [queries * heads + keys * 2 * heads, width]: first all queries, then of each token looked at
    keys and values.

    Args:
        layout: Of both.
        queries: The positions of the tokens that look.
        keys: The positions of those looked at.
        heads: How many.
    """
    place = _places(layout.queries, queries, heads)
    seen = layout.queries.slots * heads + _places(layout.keys, keys, heads)
    roles = layout.keys.slots * heads * torch.arange(_ROLES - 1)
    pairs = seen[:, None] + roles[:, None]
    return _head_slots(layout, heads, place, torch.cat([place.flatten(), pairs.flatten()]))


def _places(side: Side, positions: Int[Tensor, " tokens"], heads: int) -> Int[Tensor, "tokens heads"]:
    first = side.starts * heads + positions
    return first[:, None] + side.lengths[:, None] * torch.arange(heads)


def _head_slots(
    layout: Layout, heads: int, place: Int[Tensor, "tokens heads"], ungather: Int[Tensor, " vectors"]
) -> HeadSlots:
    queries, keys = layout.queries.slots * heads, layout.keys.slots * heads
    return HeadSlots(
        layout.blocks,
        heads,
        (queries, keys, keys),
        _inverse(ungather, queries + 2 * keys, 0),
        ungather,
        place.flatten(),
        _inverse(place.flatten(), queries, place.numel()),
    )


def _inverse(index: Int[Tensor, " values"], size: int, fill: int) -> Int[Tensor, " size"]:
    return torch.full((size,), fill).scatter_(0, index, torch.arange(len(index)))


def attention_weights(
    queries: Float[Tensor, "batch queries width"], keys: Float[Tensor, "batch keys width"], mask: Mask
) -> Float[Tensor, "batch queries keys"]:
    """Softmax of the scaled dot products over the keys that each query may see; zeros where it sees none.

    Args:
        queries: The batch counts rows of the mask times heads, heads fastest.
        keys: Likewise.
        mask: One for all rows, or one a row; for all heads of a row, or one a head.
    """
    width = queries.shape[-1]
    scores = torch.baddbmm(_for_heads(mask.bias, queries), queries, keys.transpose(1, 2), alpha=width**-0.5)
    weights = scores.softmax(-1)
    return weights if mask.sees is None else weights * _for_heads(mask.sees, queries)


def _for_heads(
    mask: Float[Tensor, "rows heads queries keys"], queries: Float[Tensor, "batch queries width"]
) -> Float[Tensor, "batch queries keys"]:
    """Repeat the mask for all rows and heads that share it; without a copy if it is one for all."""
    rows, heads = mask.shape[:2]
    if rows == heads == 1:
        return mask[0].expand(len(queries), -1, -1).to(queries.dtype)
    if rows == 1:
        rows = len(queries) // heads
    return mask.expand(rows, len(queries) // rows, -1, -1).flatten(0, 1).to(queries.dtype)


def _turned(
    projected: Float[Tensor, "tokens roles_heads_width"], turns: Complex[Tensor, "tokens pairs"], heads: int
) -> Float[Tensor, "tokens roles_heads_width"]:
    """Rotate queries and keys, whose pairs of columns are read as complex numbers; values stay."""
    pairs = torch.view_as_complex(projected.view(len(projected), _ROLES, heads, turns.shape[1], 2))
    factors = torch.stack([turns, turns, torch.ones_like(turns)], 1).to(pairs.dtype)
    return torch.view_as_real(pairs * factors[:, :, None]).flatten(1)


class _Attend(torch.autograd.Function):
    """Gather, attend, scatter, with the gradient written out.

    Left to autograd the same operators make a training step 7 % longer: the pieces of the blocks are then cut and
    joined again on the way back, and each scale is an operator of its own.
    """

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch gives it no public type
        vectors: Float[Tensor, "vectors width"],
        slots: HeadSlots,
    ) -> Float[Tensor, "queries_heads width"]:
        rows = vectors.index_select(0, slots.gather)
        attended, kept = rows.new_empty(slots.sizes[0], rows.shape[1]), []
        for block, (query, key, value), result in zip(
            slots.blocks, slots.roles(rows), slots.of_queries(attended), strict=True
        ):
            weights = attention_weights(query, key, block.mask)
            torch.bmm(weights, value, out=result)
            kept.append(weights)
        ctx.save_for_backward(rows, *kept)
        ctx.slots = slots
        return attended.index_select(0, slots.place)

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any,  # noqa: ANN401
        gradient: Float[Tensor, "queries_heads width"],
    ) -> tuple[Float[Tensor, "vectors width"], None]:
        slots, (rows, *kept) = ctx.slots, ctx.saved_tensors
        padded = nn.functional.pad(gradient, (0, 0, 0, 1))  # padding slots take the zero row
        attended, result = padded.index_select(0, slots.occupant), torch.empty_like(rows)
        for weights, (query, key, value), to_attended, to_roles in zip(
            kept, slots.roles(rows), slots.of_queries(attended), slots.roles(result), strict=True
        ):
            _attend_backward(weights, query, key, value, to_attended, to_roles)
        return result.index_select(0, slots.ungather), None


def _attend(vectors: Float[Tensor, "*shape"], width: int, slots: HeadSlots) -> Float[Tensor, "queries width"]:
    """What the heads of each query gather, side by side, given all vectors in the order of the slots."""
    attended: Tensor = _Attend.apply(vectors.reshape(-1, width // slots.heads), slots)  # type: ignore[no-untyped-call]
    return attended.view(-1, width)


def _attend_backward(
    weights: Float[Tensor, "batch queries keys"],
    query: Float[Tensor, "batch queries width"],
    key: Float[Tensor, "batch keys width"],
    value: Float[Tensor, "batch keys width"],
    gradient: Float[Tensor, "batch queries width"],
    to_roles: list[Tensor],
) -> None:
    """Write the gradient of one block's queries, keys and values, given that of its outcome."""
    to_query, to_key, to_value = to_roles
    scale = query.shape[-1] ** -0.5
    torch.bmm(weights.transpose(1, 2), gradient, out=to_value)
    to_weights = torch.bmm(gradient, value.transpose(1, 2))
    to_scores = torch._softmax_backward_data(to_weights, weights, -1, weights.dtype)
    torch.baddbmm(to_query, to_scores, key, beta=0, alpha=scale, out=to_query)
    torch.baddbmm(to_key, to_scores.transpose(1, 2), query, beta=0, alpha=scale, out=to_key)


class Attention(nn.Module):
    """Self-attention: every token looks at those of its document that the layout's masks allow."""

    def __init__(self, width: int, heads: int) -> None:
        """Make the layer.

        Args:
            width: Of the tokens' vectors.
            heads: A divisor of the width.

        Raises:
            ValueError: the heads do not divide the width.
        """
        super().__init__()
        _require_divisor(width, heads)
        self.heads = heads
        self.project = nn.Linear(width, _ROLES * width)
        self.output = nn.Linear(width, width)

    def forward(self, hidden: Float[Tensor, "tokens width"], slots: HeadSlots) -> Float[Tensor, "tokens width"]:
        """The tokens' vectors after each has gathered what it attends to."""
        return self.output(_attend(self.projected(hidden, slots), hidden.shape[1], slots))  # type: ignore[no-any-return]

    def step(
        self,
        hidden: Float[Tensor, "batch width"],
        memory: Float[Tensor, "2 batch heads length head_width"],
        mask: Mask,
        turns: Complex[Tensor, "1 pairs"] | None,
    ) -> Float[Tensor, "batch width"]:
        """The vectors of one more token each, after it has gathered what it attends to.

        Args:
            hidden: The tokens' vectors.
            memory: Keys and values so far. The last place is theirs, and written here.
            mask: Of one query over all places.
            turns: How far a query and a key are rotated at that place; None is not at all.
        """
        heads = memory.shape[2]
        projected = self.project(hidden)
        if turns is not None:
            projected = _turned(projected, turns, heads)
        query, key, value = projected.view(len(hidden), _ROLES, heads, -1).unbind(1)
        memory[0, :, :, -1], memory[1, :, :, -1] = key, value
        return self.output(_look(query, memory, mask))  # type: ignore[no-any-return]

    def projected(
        self, hidden: Float[Tensor, "tokens width"], slots: HeadSlots
    ) -> Float[Tensor, "tokens roles_heads_width"]:
        """Queries, keys and values, turned where positions are told so."""
        projected: Tensor = self.project(hidden)
        return projected if slots.turns is None else _turned(projected, slots.turns, slots.heads)


class CrossAttention(nn.Module):
    """Every token looks at those of its document's source (Vaswani et al. 2017, section 3.2.3)."""

    def __init__(self, width: int, heads: int) -> None:
        """Make the layer; the arguments and errors are those of `Attention`."""
        super().__init__()
        _require_divisor(width, heads)
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.memory = nn.Linear(width, (_ROLES - 1) * width)
        self.output = nn.Linear(width, width)

    def forward(
        self, hidden: Float[Tensor, "tokens width"], source: Float[Tensor, "source_tokens width"], slots: HeadSlots
    ) -> Float[Tensor, "tokens width"]:
        """The tokens' vectors after each has gathered what it attends to; the slots are of `cross_slots`."""
        vectors = torch.cat([self.query(hidden).flatten(), self.memory(source).flatten()])
        return self.output(_attend(vectors, hidden.shape[1], slots))  # type: ignore[no-any-return]

    def remember(
        self,
        source: Float[Tensor, "source_tokens width"],
        places: Int[Tensor, " source_tokens"],
        shape: tuple[int, int],
    ) -> Float[Tensor, "2 batch heads length head_width"]:
        """Keys and values of a source for `step`, one document a row.

        Args:
            source: The tokens' vectors.
            places: Of each token, counted row by row.
            shape: Rows, and the length of each; places without a token hold zeros.
        """
        rows = source.new_zeros(shape[0] * shape[1], (_ROLES - 1) * source.shape[1])
        rows[places] = self.memory(source)
        return rows.view(*shape, _ROLES - 1, self.heads, -1).permute(2, 0, 3, 1, 4).contiguous()

    def step(
        self,
        hidden: Float[Tensor, "batch width"],
        memory: Float[Tensor, "2 batch heads length head_width"],
        mask: Mask,
    ) -> Float[Tensor, "batch width"]:
        """The vectors of one more token each, after it has gathered what it attends to.

        Args:
            hidden: The tokens' vectors.
            memory: Of the source.
            mask: Of one query over all places of its row.
        """
        query = self.query(hidden).view(len(hidden), self.heads, -1)
        return self.output(_look(query, memory, mask))  # type: ignore[no-any-return]


def _look(
    query: Float[Tensor, "batch heads head_width"],
    memory: Float[Tensor, "2 batch heads length head_width"],
    mask: Mask,
) -> Float[Tensor, "batch width"]:
    """What the heads of one query each gather, side by side."""
    keys, values = memory.flatten(1, 2)
    weights = attention_weights(query.flatten(0, 1)[:, None], keys, mask)
    return torch.bmm(weights, values).view(len(query), -1)


def _require_divisor(width: int, heads: int) -> None:
    if width % heads:
        raise ValueError(f"{heads} heads do not divide a width of {width}")
