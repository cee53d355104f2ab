"""Multi-head attention over packed documents (Vaswani et al. 2017, section 3.2): what its layers share.

Tokens come and go flat. In between, the heads of each bucket of documents are one batched matrix product, whether
the documents attend to themselves or to a source. Padding slots exist only here: no token reads them, and their
gradient is zero.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from seedbed.batching import Mask
from seedbed.models.heads import HeadLayout


def attention_weights(
    queries: Float[Tensor, "batch queries width"], keys: Float[Tensor, "batch keys width"], mask: Mask
) -> Float[Tensor, "batch queries keys"]:
    """Softmax of the scaled dot products over the keys that each query may see; zeros where it sees none.

    Args:
        queries: The batch counts rows of the mask times heads, heads fastest.
        keys: Likewise.
        mask: One for all rows, or one a row; for all heads of a row, or one a head.
    """
    return _weights(queries, keys, *mask.by_head(len(queries)))


def _weights(
    queries: Float[Tensor, "batch queries width"],
    keys: Float[Tensor, "batch keys width"],
    bias: Float[Tensor, "batch queries keys"],
    sees: Float[Tensor, "batch queries 1"] | None,
) -> Float[Tensor, "batch queries keys"]:
    scale = queries.shape[-1] ** -0.5
    scores = torch.baddbmm(bias.to(queries.dtype), queries, keys.transpose(1, 2), alpha=scale)
    weights = scores.softmax(-1)
    return weights if sees is None else weights * sees.to(queries.dtype)


class _Attend(torch.autograd.Function):
    """Gather, attend, scatter, with the gradient written out.

    With autograd the same operators make a training step 7 % longer: the pieces of the buckets are then cut and
    joined again in the backward pass, and each scale is an operator of its own.
    """

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch gives it no public type
        vectors: Float[Tensor, "vectors width"],
        layout: HeadLayout,
    ) -> Float[Tensor, "queries_heads width"]:
        rows = vectors.index_select(0, layout.vector_of_slot)
        attended, kept = rows.new_empty(layout.sizes[0], rows.shape[1]), []
        results = layout.split_queries(attended)
        for mask, query, key, value, result in zip(layout.masks, *layout.split_roles(rows), results, strict=True):
            weights = _weights(query, key, *mask)
            torch.bmm(weights, value, out=result)
            kept.append(weights)
        ctx.save_for_backward(rows, *kept)
        ctx.layout = layout
        return attended.index_select(0, layout.slot_of_query)

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any,  # noqa: ANN401
        gradient: Float[Tensor, "queries_heads width"],
    ) -> tuple[Float[Tensor, "vectors width"], None]:
        layout, (rows, *kept) = ctx.layout, ctx.saved_tensors
        padded = nn.functional.pad(gradient, (0, 0, 0, 1))  # padding slots take the zero row
        attended, result = padded.index_select(0, layout.query_of_slot), torch.empty_like(rows)
        for part in zip(
            kept,
            *layout.split_roles(rows),
            layout.split_queries(attended),
            *layout.split_roles(result),
            strict=True,
        ):
            _attend_backward(*part)
        return result.index_select(0, layout.slot_of_vector), None


def attend(vectors: Float[Tensor, "*shape"], width: int, layout: HeadLayout) -> Float[Tensor, "queries width"]:
    """What the heads of each query gather, side by side, given all vectors in the order of the layout."""
    attended: Tensor = _Attend.apply(vectors.reshape(-1, width // layout.heads), layout)  # type: ignore[no-untyped-call]
    return attended.view(-1, width)


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
    """Write the gradients of one bucket's queries, keys and values, given that of its result."""
    scale = query.shape[-1] ** -0.5
    torch.bmm(weights.transpose(1, 2), gradient, out=to_value)
    to_weights = torch.bmm(gradient, value.transpose(1, 2))
    to_scores = torch._softmax_backward_data(to_weights, weights, -1, weights.dtype)
    torch.baddbmm(to_query, to_scores, key, beta=0, alpha=scale, out=to_query)
    torch.baddbmm(to_key, to_scores.transpose(1, 2), query, beta=0, alpha=scale, out=to_key)


def attend_once(
    query: Float[Tensor, "batch heads head_width"],
    memory: Float[Tensor, "2 batch heads length head_width"],
    mask: Mask,
) -> Float[Tensor, "batch width"]:
    """What the heads of one query of each document gather, side by side."""
    keys, values = memory.flatten(1, 2)
    weights = attention_weights(query.flatten(0, 1)[:, None], keys, mask)
    return torch.bmm(weights, values).view(len(query), -1)


def require_divisor(width: int, heads: int) -> None:
    """Refuse heads that cannot share a width equally.

    Raises:
        ValueError: they do not divide it.
    """
    if width % heads:
        raise ValueError(f"{heads} heads do not divide a width of {width}")
