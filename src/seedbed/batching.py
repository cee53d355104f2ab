"""Documents as a model reads them: flat tokens in document order, and where each family of models finds them.

Linear layers, norms and losses see the flat tokens, so they never compute on padding. Attention needs rectangles:
documents of similar length stand side by side in a block, one a row, so that its matrices of scores stay small.
Recurrence needs time: the first tokens of all documents, then the second ones. This module knows neither models
nor objectives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor

from seedbed.documents import Documents

#: Rows are as long as a multiple of this: matrix products are fastest there.
_STEP = 8
#: What one more block costs, in entries of a matrix of scores: its operators' start-up against their work.
_BLOCK_COST = 5000


def may_attend(
    query: Int[Tensor, " *shape"], key: Int[Tensor, " *shape"], prefix: Int[Tensor, " *shape"]
) -> Bool[Tensor, " *shape"]:
    """The one rule of what a position sees within its document; True is may attend.

    Args:
        query: The position that looks.
        key: The position looked at.
        prefix: How many leading positions everyone in the document sees: 0 is causal, the document's length is
            bidirectional, anything between is a prefix language model.
    """
    return (key <= query) | (key < prefix)


@dataclass(frozen=True, eq=False)
class Mask:
    """What attention adds to its scores, and the queries that see nothing.

    Attributes:
        bias: [rows or 1, heads or 1, queries, keys]: -inf where a query may not attend, else finite, 0 at first.
        sees: [rows or 1, heads or 1, queries, 1]: 0 for a query that sees no key, else 1; None if all see one. The
            bias of such a query is finite somewhere, since a softmax over nothing but -inf is NaN.
    """

    bias: Float[Tensor, "rows heads queries keys"]
    sees: Float[Tensor, "rows heads queries 1"] | None

    @staticmethod
    def of(allowed: Bool[Tensor, "rows queries keys"]) -> Mask:
        """The mask of a rule's outcome (True is may attend)."""
        sees = allowed.any(-1, keepdim=True)
        bias = torch.zeros(allowed.shape).masked_fill(~allowed & sees, -torch.inf)
        return Mask(bias[:, None], None if sees.all() else sees[:, None].float())

    def plus(self, bias: Float[Tensor, "1 heads queries keys"]) -> Mask:
        """This mask with more to add to the scores, head by head."""
        return Mask(self.bias + bias, self.sees)

    def without(self, forbidden: Bool[Tensor, "heads queries keys"]) -> Mask:
        """This mask with less to see, in one head or in all (1); a query that sees nothing more gets zeros."""
        allowed = (self.bias > -torch.inf) & ~forbidden
        if self.sees is not None:
            allowed = allowed & (self.sees > 0)
        sees = allowed.any(-1, keepdim=True)
        return Mask(self.bias.masked_fill(~allowed & sees, -torch.inf), sees.float())


@dataclass(frozen=True, eq=False)
class Block:
    """Documents side by side: ``rows`` of them, each in a row of ``length`` slots."""

    rows: int
    length: int
    mask: Mask

    @property
    def slots(self) -> int:
        """How many tokens would fill it."""
        return self.rows * self.length


@dataclass(frozen=True, eq=False)
class Layout:
    """Which slot of which block holds each token. Slots count on from block to block, row by row.

    Attributes:
        blocks: Longest rows first.
        starts: [tokens], the first slot of the token's row.
        lengths: [tokens], how many slots that row has.
    """

    blocks: tuple[Block, ...]
    starts: Int[Tensor, " tokens"]
    lengths: Int[Tensor, " tokens"]

    @property
    def slots(self) -> int:
        """Of all blocks."""
        return sum(block.slots for block in self.blocks)


@dataclass(frozen=True, eq=False)
class Times:
    """Documents side by side in time, as in PyTorch's PackedSequence.

    The longest comes first, so that those still running at a step are the first of those before.

    Attributes:
        order: [tokens], the flat place of each token, step after step.
        place: [tokens], its inverse: where in that order each token stands.
        sizes: How many documents have a token at each step; never rising.
    """

    order: Int[Tensor, " tokens"]
    place: Int[Tensor, " tokens"]
    sizes: list[int]


@dataclass(frozen=True, eq=False)
class Packed:
    """A batch of documents: flat, in document order.

    Attributes:
        tokens: [tokens], the ids.
        positions: [tokens], the place of each token in its document, from 0.
        lengths: [documents], tokens in each.
        layout: Where attention finds them.
    """

    tokens: Int[Tensor, " tokens"]
    positions: Int[Tensor, " tokens"]
    lengths: Int[Tensor, " documents"]
    layout: Layout

    @cached_property
    def times(self) -> Times:
        """Where recurrence finds them."""
        longest_first = torch.argsort(self.lengths, descending=True, stable=True)
        first = (self.lengths.cumsum(0) - self.lengths)[longest_first]
        step = torch.arange(int(self.lengths.max()) if len(self.lengths) else 0)[:, None]
        running = step < self.lengths[longest_first]
        order = (first + step)[running]
        place = torch.empty_like(order).scatter_(0, order, torch.arange(len(order)))
        return Times(order, place, running.sum(1).tolist())


def pack(documents: Documents, prefixes: Sequence[int] | NDArray[np.int64] | None = None) -> Packed:
    """Prepare documents, which may be empty, for a model.

    Args:
        documents: Any number, of any lengths.
        prefixes: For each document the number of leading positions that everyone in it may see; None is causal.

    Raises:
        ValueError: not one prefix a document, or a prefix longer than its document.
    """
    prefix = None if prefixes is None else _checked(np.asarray(prefixes, np.int64), documents.lengths)
    return Packed(
        torch.from_numpy(documents.tokens),
        torch.from_numpy(documents.positions),
        torch.from_numpy(documents.lengths),
        _layout(documents.lengths, prefix),
    )


def _checked(prefixes: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    if prefixes.shape != lengths.shape:
        raise ValueError(f"{len(prefixes)} prefixes for {len(lengths)} documents")
    if (prefixes < 0).any() or (prefixes > lengths).any():
        raise ValueError("a prefix is between 0 and the length of its document")
    return prefixes


def _layout(lengths: NDArray[np.int64], prefixes: NDArray[np.int64] | None) -> Layout:
    order = np.argsort(-lengths, kind="stable")
    order = order[: np.count_nonzero(lengths)]  # an empty document takes no row
    rounded = -(-lengths[order] // _STEP) * _STEP
    blocks, row_lengths = [], np.zeros_like(lengths)
    for first, end in pairwise(_partition(rounded)):
        length, members = int(rounded[first]), order[first:end]
        row_lengths[members] = length
        mask = _causal(length) if prefixes is None else _prefixed(prefixes[members], length)
        blocks.append(Block(end - first, length, mask))
    starts = np.zeros_like(lengths)
    starts[order] = np.cumsum(row_lengths[order]) - row_lengths[order]
    return Layout(
        tuple(blocks),
        torch.from_numpy(np.repeat(starts, lengths)),
        torch.from_numpy(np.repeat(row_lengths, lengths)),
    )


def _partition(lengths: NDArray[np.int64]) -> list[int]:
    """Cut descending lengths into blocks at the least total cost; the cuts, from 0 to the number of documents.

    A block of n rows costs n times its longest length squared, plus the price of a block. Cuts fall only between
    different lengths, so the dynamic programme is over the few that differ.
    """
    values, firsts = np.unique(-lengths, return_index=True)
    cuts, squares = [*firsts.tolist(), len(lengths)], (values**2).tolist()
    best, previous = [0], [0]
    for end in range(1, len(cuts)):
        costs = [best[start] + squares[start] * (cuts[end] - cuts[start]) + _BLOCK_COST for start in range(end)]
        best.append(min(costs))
        previous.append(costs.index(best[-1]))
    path = [len(cuts) - 1]
    while path[-1]:
        path.append(previous[path[-1]])
    return [cuts[index] for index in reversed(path)]


@lru_cache(maxsize=128)
def _causal(length: int) -> Mask:
    return _prefixed(np.zeros(1, np.int64), length)


def _prefixed(prefixes: NDArray[np.int64], length: int) -> Mask:
    place = torch.arange(length)
    return Mask.of(may_attend(place[:, None], place, torch.from_numpy(prefixes)[:, None, None]))
