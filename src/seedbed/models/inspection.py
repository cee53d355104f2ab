"""Reading attention weights, and restricting what a token may attend to (recurrence 6.3, 6.4).

These functions work from outside on any network whose layers have self-attention, and leave it as it was. They
concern whole documents, as `forward` reads them; the cached `step` is not affected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from seedbed.batching import Mask, Packed
from seedbed.models.attention import attention_weights
from seedbed.models.heads import HeadLayout
from seedbed.models.mixers.attention import Mixer as SelfAttention
from seedbed.models.positions import LearnedPositions

#: From positions of queries [queries, 1] and of keys [keys], which of these each query may not see, in every head
#: or in all: [heads or 1, queries, keys].
Forbidden = Callable[[Int[Tensor, "queries 1"], Int[Tensor, " keys"]], Bool[Tensor, "heads queries keys"]]


def attention_layers(network: nn.Module) -> list[SelfAttention]:
    """The layers of self-attention, in the order of their definition.

    Raises:
        ValueError: the network has no such layer.
    """
    found = [layer for layer in network.modules() if isinstance(layer, SelfAttention)]
    if not found:
        raise ValueError("the model has no attention: name only runs that have some under the evaluation's `runs`")
    return found


@torch.no_grad()
def attention(
    network: nn.Module, batch: Packed, asked: Int[Tensor, " asked"] | None = None
) -> Float[Tensor, "layers asked heads longest"]:
    """How much each token attends to each position of its document, layer by layer and head by head.

    Every row adds up to 1, or to 0 where a token may see nothing.

    Args:
        network: Is left as it was.
        batch: What it reads.
        asked: The tokens whose attention is asked for, all without it.
    """
    tokens = torch.arange(len(batch.tokens)) if asked is None else asked
    found: list[Tensor] = []

    def record(layer: nn.Module, inputs: tuple[Any, ...]) -> None:
        assert isinstance(layer, SelfAttention)
        hidden, layout = inputs
        found.append(weights(layer, hidden, layout, tokens))

    hooks = [layer.register_forward_pre_hook(record) for layer in attention_layers(network)]
    try:
        network(batch)
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(found)


@torch.no_grad()
def weights(
    layer: SelfAttention, hidden: Float[Tensor, "tokens width"], layout: HeadLayout, asked: Int[Tensor, " asked"]
) -> Float[Tensor, "asked heads longest"]:
    """How much some tokens attend to each position of their documents, head by head, where ``forward`` gathers.

    Args:
        layer: Is left as it was.
        hidden: What it is called with, all tokens.
        layout: Likewise.
        asked: The tokens whose weights are kept; those of all others are dropped bucket by bucket.
    """
    vectors = layer.queries_keys_values(hidden, layout).reshape(-1, hidden.shape[1] // layout.heads)
    wanted, first = layout.slot_of_query.view(-1, layout.heads)[asked].flatten(), 0
    longest = max((bucket.keys for bucket in layout.buckets), default=0)
    found = vectors.new_zeros(len(wanted), longest)
    queries, keys, _ = layout.split_roles(vectors[layout.vector_of_slot])
    for bucket, query, key in zip(layout.buckets, queries, keys, strict=True):
        rows = attention_weights(query, key, bucket.mask).flatten(0, 1)
        here = (wanted >= first) & (wanted < first + len(rows))
        found[here, : bucket.keys] = rows[wanted[here] - first]
        first += len(rows)
    return found.view(len(asked), layout.heads, longest)


def longest_document(network: nn.Module) -> int | None:
    """The most tokens that a network can read at once: the rows of its position table; None without one."""
    tables = [layer for layer in network.modules() if isinstance(layer, LearnedPositions)]
    return min((len(table.weight) for table in tables), default=None)


@contextmanager
def restricted(network: nn.Module, forbidden: Mapping[int, Forbidden]) -> Iterator[None]:
    """While the context lasts, tokens of some layers see less.

    Args:
        network: Is left as it was.
        forbidden: What they may not see, by the number of the layer, from 0.
    """
    layers, hooks = attention_layers(network), []
    try:
        for index, rule in forbidden.items():
            hooks.append(layers[index].register_forward_pre_hook(_restriction(rule)))
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _restriction(rule: Forbidden) -> Any:  # noqa: ANN401 - torch types hooks no closer
    def restrict(layer: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        hidden, layout, *rest = inputs
        return hidden, layout.masked(lambda mask, query, key: without(mask, rule(query, key))), *rest

    return restrict


def without(mask: Mask, forbidden: Bool[Tensor, "heads queries keys"]) -> Mask:
    """A mask with less to see, in one head or in all (1); a query that sees nothing more gets zeros."""
    allowed = (mask.bias > -torch.inf) & ~forbidden
    if mask.sees is not None:
        allowed = allowed & (mask.sees > 0)
    sees = allowed.any(-1, keepdim=True)
    return Mask(mask.bias.masked_fill(~allowed & sees, -torch.inf), sees.float())


def cut(places: Sequence[int]) -> Forbidden:
    """The rule that no position may attend to an earlier one among the places; these still see themselves."""
    hidden = torch.tensor(places)

    def forbidden(query: Int[Tensor, "queries 1"], key: Int[Tensor, " keys"]) -> Tensor:
        return (torch.isin(key, hidden) & (key < query))[None]

    return forbidden


def ablations(network: nn.Module) -> Iterator[tuple[int, int | str, dict[int, Forbidden]]]:
    """Each head that is ablated, and ``all`` of a layer: layer and head, from 1, and what `restricted` takes.

    Raises:
        ValueError: the network has no attention.
    """
    for layer, attention in enumerate(attention_layers(network)):
        for head in range(attention.heads):
            yield layer + 1, head + 1, {layer: ablated([head], attention.heads)}
        yield layer + 1, "all", {layer: ablated(range(attention.heads), attention.heads)}


def ablated(chosen: Sequence[int], heads: int) -> Forbidden:
    """The rule that leaves the chosen ones of all heads nothing to see, so that they give zeros."""
    blind = torch.isin(torch.arange(heads), torch.tensor(chosen))

    def forbidden(query: Int[Tensor, "queries 1"], key: Int[Tensor, " keys"]) -> Tensor:
        return blind[:, None, None].expand(heads, len(query), len(key))

    return forbidden
