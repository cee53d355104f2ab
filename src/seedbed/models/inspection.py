"""Looking into attention, and taking away what it looks at (recurrence 6.3, 6.4); how much a network can read.

All work on any network with layers of `Attention`, from outside, and leave it as it was. They concern whole
documents, as `forward` reads them; the cached `step` is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from seedbed.batching import Mask, Packed
from seedbed.models.attention import Attention, HeadSlots, attention_weights
from seedbed.models.positions import LearnedPositions

#: From positions of queries [queries, 1] and of keys [keys], which of these each query may not see, in every head
#: or in all: [heads or 1, queries, keys].
Forbidden = Callable[[Int[Tensor, "queries 1"], Int[Tensor, " keys"]], Bool[Tensor, "heads queries keys"]]


def attention_layers(network: nn.Module) -> list[Attention]:
    """The layers of attention, in the order of their definition.

    Raises:
        ValueError: there is none.
    """
    found = [layer for layer in network.modules() if isinstance(layer, Attention)]
    if not found:
        raise ValueError("the model has no attention: name only runs that have under the evaluation's `runs`")
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

    def look(layer: nn.Module, inputs: tuple[Any, ...]) -> None:
        assert isinstance(layer, Attention)
        hidden, slots = inputs
        found.append(weights(layer, hidden, slots, tokens))

    hooks = [layer.register_forward_pre_hook(look) for layer in attention_layers(network)]
    try:
        network(batch)
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(found)


@torch.no_grad()
def weights(
    layer: Attention, hidden: Float[Tensor, "tokens width"], slots: HeadSlots, asked: Int[Tensor, " asked"]
) -> Float[Tensor, "asked heads longest"]:
    """How much some tokens attend to each position of their documents, head by head, where ``forward`` gathers.

    Args:
        layer: Is left as it was.
        hidden: What it is called with, all tokens.
        slots: Likewise.
        asked: The tokens whose weights are kept; those of all others are dropped block by block.
    """
    vectors = layer.projected(hidden, slots).reshape(-1, hidden.shape[1] // slots.heads)
    wanted, first = slots.place.view(-1, slots.heads)[asked].flatten(), 0
    longest = max((block.keys for block in slots.blocks), default=0)
    found = vectors.new_zeros(len(wanted), longest)
    for block, (query, key, _) in zip(slots.blocks, slots.roles(vectors[slots.gather]), strict=True):
        rows = attention_weights(query, key, block.mask).flatten(0, 1)
        here = (wanted >= first) & (wanted < first + len(rows))
        found[here, : block.keys] = rows[wanted[here] - first]
        first += len(rows)
    return found.view(len(asked), slots.heads, longest)


def longest_document(network: nn.Module) -> int | None:
    """The most tokens that a network can read at once: the rows of its position table; None without one."""
    tables = [layer for layer in network.modules() if isinstance(layer, LearnedPositions)]
    return min((len(table.weight) for table in tables), default=None)


@contextmanager
def restricted(network: nn.Module, forbidden: Mapping[int, Forbidden]) -> Iterator[None]:
    """While it lasts, some layers see less.

    Args:
        network: Is given back as it was.
        forbidden: By the number of the layer, from 0.
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
        hidden, slots, *rest = inputs
        return hidden, slots.masked(lambda mask, query, key: without(mask, rule(query, key))), *rest

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
    """Each head that is left blind, and ``all`` of a layer: layer and head, from 1, and what `restricted` takes.

    Raises:
        ValueError: the network has no attention.
    """
    for layer, attention in enumerate(attention_layers(network)):
        for head in range(attention.heads):
            yield layer + 1, head + 1, {layer: ablated([head], attention.heads)}
        yield layer + 1, "all", {layer: ablated(range(attention.heads), attention.heads)}


def ablated(chosen: Sequence[int], heads: int) -> Forbidden:
    """The rule that leaves the chosen ones of so many heads nothing to see, so that they give zeros."""
    blind = torch.isin(torch.arange(heads), torch.tensor(chosen))

    def forbidden(query: Int[Tensor, "queries 1"], key: Int[Tensor, " keys"]) -> Tensor:
        return blind[:, None, None].expand(heads, len(query), len(key))

    return forbidden
