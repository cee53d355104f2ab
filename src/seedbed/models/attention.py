"""Multi-head attention over packed documents (Vaswani et al. 2017, section 3.2).

Tokens come and go flat. In between, the heads of each block of documents are one batched matrix product. Padding
slots exist only here: no token reads them, and their gradient is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Complex, Float, Int
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from seedbed.batching import Block, Layout, Mask
from seedbed.models.positions import distance_bias, turns

_ROLES = 3  # query, key, value

#: From positions of queries [queries, 1] and of keys [keys], which of these each query may not see, in every head
#: or in all: [heads or 1, queries, keys].
Forbidden = Callable[[Int[Tensor, "queries 1"], Int[Tensor, " keys"]], Bool[Tensor, "heads queries keys"]]


@dataclass(frozen=True, eq=False)
class HeadSlots:
    """A layout seen by heads: in a block, all slots of a row's first head, then of its second, and so on.

    A gather and its inverse are both plain row selections, several times faster than the additions that autograd
    would make of the way back.

    Attributes:
        blocks: Of the layout.
        heads: How many.
        gather: [3 * slots], the row of [tokens * 3 * heads] that fills each slot of all queries, then keys, then
            values; a padding slot takes any.
        ungather: [tokens * 3 * heads], its inverse.
        place: [tokens * heads], the slot of each token's head.
        occupant: [slots], its inverse; a padding slot holds the number of tokens * heads.
        turns: How far each token's queries and keys are rotated; None is not at all.
    """

    blocks: tuple[Block, ...]
    heads: int
    gather: Int[Tensor, " slots_of_all_roles"]
    ungather: Int[Tensor, " tokens_roles_heads"]
    place: Int[Tensor, " tokens_heads"]
    occupant: Int[Tensor, " slots"]
    turns: Complex[Tensor, "tokens pairs"] | None = None

    def rotated(self, positions: Int[Tensor, " tokens"], width: int) -> HeadSlots:
        """The same with rotary positions, for heads of a width."""
        return replace(self, turns=turns(positions, width))

    def biased(self) -> HeadSlots:
        """The same with a penalty on distance, steeper in some heads than in others."""
        return self._masked(lambda mask, query, key: mask.plus(distance_bias(query, key, self.heads)))

    def without(self, forbidden: Forbidden) -> HeadSlots:
        """The same with less to see."""
        return self._masked(lambda mask, query, key: mask.without(forbidden(query, key)))

    def _masked(self, change: Callable[[Mask, Tensor, Tensor], Mask]) -> HeadSlots:
        blocks = []
        for block in self.blocks:
            place = torch.arange(block.length)
            blocks.append(replace(block, mask=change(block.mask, place[:, None], place)))
        return replace(self, blocks=tuple(blocks))

    def split(self, slots: Float[Tensor, "slots width"]) -> Iterator[Float[Tensor, "batch length width"]]:
        """The slots of each block as a batch of its rows' heads."""
        parts = torch.split(slots, [block.slots * self.heads for block in self.blocks])
        for block, part in zip(self.blocks, parts, strict=True):
            yield part.view(block.rows * self.heads, block.length, -1)


def head_slots(layout: Layout, positions: Int[Tensor, " tokens"], heads: int) -> HeadSlots:
    """The slots of every head, once a batch for all layers."""
    slots, tokens = layout.slots * heads, len(positions)
    first = layout.starts * heads + positions
    place = first[:, None] + layout.lengths[:, None] * torch.arange(heads)
    ungather = (place[:, None] + slots * torch.arange(_ROLES)[:, None]).flatten()
    return HeadSlots(
        layout.blocks,
        heads,
        _inverse(ungather, _ROLES * slots, 0),
        ungather,
        place.flatten(),
        _inverse(place.flatten(), slots, tokens * heads),
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


def _gathered(
    projected: Float[Tensor, "tokens roles_heads_width"], slots: HeadSlots
) -> Float[Tensor, "3 slots width"]:
    """The queries, keys and values of all slots."""
    width = projected.shape[1] // (_ROLES * slots.heads)
    return projected.reshape(-1, width).index_select(0, slots.gather).view(_ROLES, -1, width)


class _Attend(torch.autograd.Function):
    """Gather, attend, scatter, with the gradient written out.

    Left to autograd the same operators make a training step 7 % longer: the pieces of the blocks are then cut and
    joined again on the way back, and each scale is an operator of its own.
    """

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch gives it no public type
        projected: Float[Tensor, "tokens roles_heads_width"],
        slots: HeadSlots,
    ) -> Float[Tensor, "tokens heads_width"]:
        rows = _gathered(projected, slots)
        attended, kept = torch.empty_like(rows[0]), []
        for block, query, key, value, result in zip(
            slots.blocks, *map(slots.split, (*rows, attended)), strict=True
        ):
            weights = attention_weights(query, key, block.mask)
            torch.bmm(weights, value, out=result)
            kept.append(weights)
        ctx.save_for_backward(rows, *kept)
        ctx.slots = slots
        return attended.index_select(0, slots.place).view(len(projected), projected.shape[1] // _ROLES)

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any,  # noqa: ANN401
        gradient: Float[Tensor, "tokens heads_width"],
    ) -> tuple[Float[Tensor, "tokens roles_heads_width"], None]:
        slots, (rows, *kept) = ctx.slots, ctx.saved_tensors
        width = rows.shape[-1]
        padded = nn.functional.pad(gradient.reshape(-1, width), (0, 0, 0, 1))  # padding slots take the zero row
        attended, result = padded.index_select(0, slots.occupant), torch.empty_like(rows)
        for weights, *tensors in zip(kept, *map(slots.split, (*rows, attended, *result)), strict=True):
            _attend_backward(weights, *tensors)
        gathered = result.view(-1, width).index_select(0, slots.ungather)
        return gathered.view(len(gradient), _ROLES * slots.heads * width), None


def _attend_backward(
    weights: Float[Tensor, "batch queries keys"],
    query: Float[Tensor, "batch queries width"],
    key: Float[Tensor, "batch keys width"],
    value: Float[Tensor, "batch keys width"],
    gradient: Float[Tensor, "batch queries width"],
    to_query: Float[Tensor, "batch queries width"],
    to_key: Float[Tensor, "batch keys width"],
    to_value: Float[Tensor, "batch keys width"],
) -> None:
    """Write the gradient of one block's queries, keys and values, given that of its outcome."""
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
        if width % heads:
            raise ValueError(f"{heads} heads do not divide a width of {width}")
        self.heads = heads
        self.project = nn.Linear(width, _ROLES * width)
        self.output = nn.Linear(width, width)

    def forward(self, hidden: Float[Tensor, "tokens width"], slots: HeadSlots) -> Float[Tensor, "tokens width"]:
        """The tokens' vectors after each has gathered what it attends to."""
        attended: Tensor = _Attend.apply(self._projected(hidden, slots), slots)  # type: ignore[no-untyped-call]
        return self.output(attended)  # type: ignore[no-any-return]

    @torch.no_grad()
    def weights(
        self, hidden: Float[Tensor, "tokens width"], slots: HeadSlots
    ) -> Float[Tensor, "tokens heads longest"]:
        """How much each token attends to each position of its document, head by head, where `forward` gathers."""
        rows = _gathered(self._projected(hidden, slots), slots)
        longest = max((block.length for block in slots.blocks), default=0)
        parts = []
        for block, query, key, _ in zip(slots.blocks, *map(slots.split, rows), strict=True):
            weights = attention_weights(query, key, block.mask)
            parts.append(nn.functional.pad(weights, (0, longest - block.length)).flatten(0, 1))
        return torch.cat(parts).index_select(0, slots.place).view(len(hidden), slots.heads, longest)

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
        keys, values = memory.flatten(1, 2)
        weights = attention_weights(query.flatten(0, 1)[:, None], keys, mask)
        return self.output(torch.bmm(weights, values).view(len(hidden), -1))  # type: ignore[no-any-return]

    def _projected(
        self, hidden: Float[Tensor, "tokens width"], slots: HeadSlots
    ) -> Float[Tensor, "tokens roles_heads_width"]:
        """Queries, keys and values, turned where positions are told so."""
        projected: Tensor = self.project(hidden)
        return projected if slots.turns is None else _turned(projected, slots.turns, slots.heads)
