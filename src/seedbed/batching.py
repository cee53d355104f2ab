"""Documents as a model reads them: flat tokens in document order, and where each family of models finds them.

Linear layers, norms and losses see the flat tokens, so they never compute on padding. Attention needs rectangles:
documents of similar length stand side by side in a block, one a row, so that its matrices of scores stay small.
Where one stream of tokens looks at another, as a decoder does at its source, a row has slots for both.
Recurrence needs time: the first tokens of all documents, then the second ones. This module knows neither models
nor objectives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise

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

    @staticmethod
    def filled(lengths: Int[Tensor, " rows"], keys: int) -> Mask:
        """The mask of queries that see every slot that holds a token, the first ``lengths`` of so many keys."""
        return Mask.of(torch.arange(keys) < lengths[:, None, None])

    def take(self, rows: Int[Tensor, " rows"]) -> Mask:
        """The mask of some of the rows, if each has its own."""
        return Mask(self.bias[rows], None if self.sees is None else self.sees[rows])

    def plus(self, bias: Float[Tensor, "1 heads queries keys"]) -> Mask:
        """This mask with more to add to the scores, head by head."""
        return Mask(self.bias + bias, self.sees)


@dataclass(frozen=True, eq=False)
class Block:
    """Documents side by side: ``rows`` of them, each with slots for tokens that look and for those looked at."""

    rows: int
    queries: int
    keys: int
    mask: Mask


@dataclass(frozen=True, eq=False)
class Side:
    """The slots of the tokens that look, or of those looked at; they count on from block to block, row by row.

    Attributes:
        slots: How many, those that no token fills included.
        starts: [tokens], the first slot of the token's row.
        lengths: [tokens], how many slots that row has.
    """

    slots: int
    starts: Int[Tensor, " tokens"]
    lengths: Int[Tensor, " tokens"]


@dataclass(frozen=True, eq=False)
class Layout:
    """Which slot of which block holds each token.

    Attributes:
        blocks: Rows with the most queries first.
        queries: The tokens that look.
        keys: Those looked at; the same side where documents look at themselves.
    """

    blocks: tuple[Block, ...]
    queries: Side
    keys: Side


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
        prefixes: [documents], how many leading positions everyone in the document may see; None is causal.
    """

    tokens: Int[Tensor, " tokens"]
    positions: Int[Tensor, " tokens"]
    lengths: Int[Tensor, " documents"]
    prefixes: NDArray[np.int64] | None

    @cached_property
    def layout(self) -> Layout:
        """Where attention finds them; models without attention never ask."""
        return _within(self.lengths.numpy(), self.prefixes)

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
        prefix,
    )


def across(queries: Packed, keys: Packed) -> Layout:
    """Where attention finds two streams: each token of a document looks at all tokens of its partner in the other.

    Raises:
        ValueError: the two streams are not of the same number of documents.
    """
    looking, seen = queries.lengths.numpy(), keys.lengths.numpy()
    if len(looking) != len(seen):
        raise ValueError(f"{len(looking)} documents have no partners in {len(seen)}")

    def mask(members: NDArray[np.int64], length: int) -> Mask:
        return Mask.filled(keys.lengths[members], length)

    blocks, rows, columns = _blocks(looking, seen, mask)
    return Layout(blocks, _side(looking, rows), _side(seen, columns))


def _checked(prefixes: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    if prefixes.shape != lengths.shape:
        raise ValueError(f"{len(prefixes)} prefixes for {len(lengths)} documents")
    if (prefixes < 0).any() or (prefixes > lengths).any():
        raise ValueError("a prefix is between 0 and the length of its document")
    return prefixes


@dataclass(frozen=True, eq=False)
class _Rows:
    """[documents], where the row of each document starts and how long it is; 0 for documents without a row."""

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]


def _within(lengths: NDArray[np.int64], prefixes: NDArray[np.int64] | None) -> Layout:
    def mask(members: NDArray[np.int64], length: int) -> Mask:
        return _causal(length) if prefixes is None else _prefixed(prefixes[members], length)

    blocks, rows, _ = _blocks(lengths, lengths, mask)
    side = _side(lengths, rows)
    return Layout(blocks, side, side)


def _side(lengths: NDArray[np.int64], rows: _Rows) -> Side:
    starts, room = (torch.from_numpy(np.repeat(values, lengths)) for values in (rows.starts, rows.lengths))
    return Side(int(rows.lengths.sum()), starts, room)


def _blocks(
    queries: NDArray[np.int64], keys: NDArray[np.int64], mask: Callable[[NDArray[np.int64], int], Mask]
) -> tuple[tuple[Block, ...], _Rows, _Rows]:
    """Blocks of documents with so many queries and keys each, and the rows of both sides.

    Args:
        queries: [documents].
        keys: [documents].
        mask: That of some documents whose rows have so many slots for keys.
    """
    order = np.lexsort((-keys, -queries))
    order = order[: np.count_nonzero(queries + keys)]  # a document with neither takes no row
    heights, widths = (-(-np.maximum(side[order], 1) // _STEP) * _STEP for side in (queries, keys))
    blocks = []
    for first, end in pairwise(_partition(heights, widths)):
        heights[first:end], widths[first:end] = heights[first], widths[first:end].max()
        length = int(widths[first])
        blocks.append(Block(end - first, int(heights[first]), length, mask(order[first:end], length)))
    return tuple(blocks), _rows(order, heights, len(queries)), _rows(order, widths, len(keys))


def _rows(order: NDArray[np.int64], lengths: NDArray[np.int64], documents: int) -> _Rows:
    rows = _Rows(np.zeros(documents, np.int64), np.zeros(documents, np.int64))
    rows.starts[order], rows.lengths[order] = np.cumsum(lengths) - lengths, lengths
    return rows


def _partition(heights: NDArray[np.int64], widths: NDArray[np.int64]) -> list[int]:
    """Cut documents into blocks at the least total cost; the cuts, from 0 to the number of documents.

    A block of n rows costs n times its height times its width, plus the price of a block. Heights descend. Cuts
    fall only between documents that differ, so the dynamic programme is over the few kinds of them.
    """
    differs = (np.diff(heights) != 0) | (np.diff(widths) != 0)
    cuts = [0, *(np.flatnonzero(differs) + 1).tolist(), len(heights)] if len(heights) else [0]
    tall, wide = heights[cuts[:-1]].tolist(), widths[cuts[:-1]].tolist()
    best, previous = [0], [0]
    for end in range(1, len(cuts)):
        widest = [*accumulate(reversed(wide[:end]), max)]
        costs = [
            best[start] + tall[start] * widest[end - 1 - start] * (cuts[end] - cuts[start]) + _BLOCK_COST
            for start in range(end)
        ]
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
