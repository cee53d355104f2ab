"""Documents as a model reads them: flat tokens in document order, and where each family of models finds them.

Linear layers, norms and losses read the flat tokens, so they never compute on padding. Attention needs rectangles:
documents of similar length share a bucket, one document a row, so that its matrices of scores stay small. Where
the tokens of one stream attend to another stream, as a decoder's do to a source, a row has slots for both.
Recurrence needs time steps: the first tokens of all documents, then the second ones. This module knows neither
models nor objectives.
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
#: What one more bucket costs: the start-up of its operators, in the entries of score matrices of the same time.
_BUCKET_COST = 5000


def may_attend(
    query: Int[Tensor, " *shape"], key: Int[Tensor, " *shape"], prefix: Int[Tensor, " *shape"]
) -> Bool[Tensor, " *shape"]:
    """The one rule of what a position may attend to within its document; True is may attend.

    Args:
        query: The position that attends.
        key: The position attended to.
        prefix: How many leading positions all positions of the document see: 0 is causal, the document's length is
            bidirectional, anything between is a prefix language model.
    """
    return (key <= query) | (key < prefix)


@dataclass(frozen=True, eq=False)
class Mask:
    """What attention adds to its scores, and which queries see nothing.

    Attributes:
        bias: [rows or 1, heads or 1, queries, keys]: -inf where a query may not attend, else finite, 0 at first.
        sees: [rows or 1, heads or 1, queries, 1]: 0 for a query that sees no key, else 1; None if each sees one. A
            query that sees no key has a finite bias somewhere, since a softmax over nothing but -inf is NaN.
    """

    bias: Float[Tensor, "rows heads queries keys"]
    sees: Float[Tensor, "rows heads queries 1"] | None

    @staticmethod
    def of(allowed: Bool[Tensor, "rows queries keys"]) -> Mask:
        """The mask of what is allowed (True is may attend)."""
        sees = allowed.any(-1, keepdim=True)
        bias = torch.zeros(allowed.shape).masked_fill(~allowed & sees, -torch.inf)
        return Mask(bias[:, None], None if sees.all() else sees[:, None].float())

    @staticmethod
    def of_lengths(lengths: Int[Tensor, " rows"], keys: int) -> Mask:
        """The mask of queries that see the first ``lengths`` of ``keys`` slots: those that hold a token."""
        return Mask.of(torch.arange(keys) < lengths[:, None, None])

    def take(self, rows: Int[Tensor, " rows"]) -> Mask:
        """The mask of some of the rows, if each has its own."""
        return Mask(self.bias[rows], None if self.sees is None else self.sees[rows])

    def by_head(
        self, batch: int
    ) -> tuple[Float[Tensor, "batch queries keys"], Float[Tensor, "batch queries 1"] | None]:
        """Bias and ``sees`` of every head of every row, heads fastest; without a copy if they are one for all."""
        return _by_head(self.bias, batch), None if self.sees is None else _by_head(self.sees, batch)

    def plus(self, bias: Float[Tensor, "1 heads queries keys"]) -> Mask:
        """This mask with more to add to the scores, head by head."""
        return Mask(self.bias + bias, self.sees)


def _by_head(values: Float[Tensor, "rows heads queries keys"], batch: int) -> Float[Tensor, "batch queries keys"]:
    rows, heads = values.shape[:2]
    if rows == heads == 1:
        return values[0].expand(batch, -1, -1)
    if rows == 1:
        rows = batch // heads
    return values.expand(rows, batch // rows, -1, -1).flatten(0, 1)


@dataclass(frozen=True, eq=False)
class Bucket:
    """Documents of similar length as a rectangle: ``rows`` of them, each with slots for queries and for keys."""

    rows: int
    queries: int
    keys: int
    mask: Mask


@dataclass(frozen=True, eq=False)
class TokenRows:
    """The row of slots that each token lies in, for queries or for keys.

    Slots are numbered through all buckets, row by row. A token's own slot is the start of its row plus its
    position.

    Attributes:
        slots: How many there are, padding included.
        starts: [tokens], the first slot of the token's row.
        lengths: [tokens], how many slots that row has.
    """

    slots: int
    starts: Int[Tensor, " tokens"]
    lengths: Int[Tensor, " tokens"]


@dataclass(frozen=True, eq=False)
class Layout:
    """Which slot of which bucket holds each token.

    Attributes:
        buckets: Those with the longest rows of queries first.
        queries: The tokens that attend.
        keys: The tokens attended to; the same object where documents attend to themselves.
    """

    buckets: tuple[Bucket, ...]
    queries: TokenRows
    keys: TokenRows


@dataclass(frozen=True, eq=False)
class TimeSteps:
    """The tokens of all documents step by step, as in PyTorch's PackedSequence.

    The longest document comes first, so that the documents that still have a token at a step are the first of
    those that had one at the step before.

    Attributes:
        order: [tokens], the flat index of each token, step after step.
        inverse: [tokens], where each flat token is in that order.
        sizes: How many documents have a token at each step; never rising.
    """

    order: Int[Tensor, " tokens"]
    inverse: Int[Tensor, " tokens"]
    sizes: list[int]


@dataclass(frozen=True, eq=False)
class Packed:
    """A batch of documents: flat, in document order.

    Attributes:
        tokens: [tokens], the ids.
        positions: [tokens], the place of each token in its document, from 0.
        lengths: [documents], tokens in each.
        prefixes: [documents], how many leading positions all positions of the document see; None is causal.
    """

    tokens: Int[Tensor, " tokens"]
    positions: Int[Tensor, " tokens"]
    lengths: Int[Tensor, " documents"]
    prefixes: NDArray[np.int64] | None

    @cached_property
    def layout(self) -> Layout:
        """Where attention finds them; models without attention never ask for it."""
        return _within(self.lengths.numpy(), self.prefixes)

    @cached_property
    def time_steps(self) -> TimeSteps:
        """Where recurrence finds them."""
        return time_steps(self.lengths)


def pack(documents: Documents, prefixes: Sequence[int] | NDArray[np.int64] | None = None) -> Packed:
    """Prepare documents, which may be empty, for a model.

    Args:
        documents: Any number, of any lengths.
        prefixes: [documents], how many leading positions all positions of the document see; None is causal.

    Raises:
        ValueError: not one prefix for each document, or a prefix longer than its document.
    """
    checked = None if prefixes is None else np.asarray(prefixes, np.int64)
    if checked is not None:
        _check_prefixes(checked, documents.lengths)
    return Packed(
        torch.from_numpy(documents.tokens),
        torch.from_numpy(documents.positions),
        torch.from_numpy(documents.lengths),
        checked,
    )


def time_steps(lengths: Int[Tensor, " documents"]) -> TimeSteps:
    """The time steps of documents of these lengths."""
    longest_first = torch.argsort(lengths, descending=True, stable=True)
    first = (lengths.cumsum(0) - lengths)[longest_first]
    step = torch.arange(int(lengths.max()) if len(lengths) else 0)[:, None]
    running = step < lengths[longest_first]
    order = (first + step)[running]
    inverse = torch.empty_like(order).scatter_(0, order, torch.arange(len(order)))
    return TimeSteps(order, inverse, running.sum(1).tolist())


def cross_layout(queries: Packed, keys: Packed) -> Layout:
    """Where attention finds two streams: each token attends to all tokens of its document's partner in the other.

    Raises:
        ValueError: the two streams are not of the same number of documents.
    """
    if len(queries.lengths) != len(keys.lengths):
        raise ValueError(f"{len(queries.lengths)} documents have no partners in {len(keys.lengths)}")

    def mask(members: NDArray[np.int64], length: int) -> Mask:
        return Mask.of_lengths(keys.lengths[members], length)

    query_lengths, key_lengths = queries.lengths.numpy(), keys.lengths.numpy()
    buckets, query_rows, key_rows = _buckets(query_lengths, key_lengths, mask)
    return Layout(buckets, _token_rows(query_lengths, query_rows), _token_rows(key_lengths, key_rows))


def _check_prefixes(prefixes: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
    if prefixes.shape != lengths.shape:
        raise ValueError(f"{len(prefixes)} prefixes for {len(lengths)} documents")
    if (prefixes < 0).any() or (prefixes > lengths).any():
        raise ValueError("a prefix is between 0 and the length of its document")


@dataclass(frozen=True, eq=False)
class _Rows:
    """[documents], the first slot of each document's row and how many it has; 0 for documents without a row."""

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]


def _within(lengths: NDArray[np.int64], prefixes: NDArray[np.int64] | None) -> Layout:
    def mask(members: NDArray[np.int64], length: int) -> Mask:
        return _causal(length) if prefixes is None else _prefixed(prefixes[members], length)

    buckets, rows, _ = _buckets(lengths, lengths, mask)
    tokens = _token_rows(lengths, rows)
    return Layout(buckets, tokens, tokens)


def _token_rows(lengths: NDArray[np.int64], rows: _Rows) -> TokenRows:
    starts, slots = (torch.from_numpy(np.repeat(values, lengths)) for values in (rows.starts, rows.lengths))
    return TokenRows(int(rows.lengths.sum()), starts, slots)


def _buckets(
    queries: NDArray[np.int64], keys: NDArray[np.int64], mask: Callable[[NDArray[np.int64], int], Mask]
) -> tuple[tuple[Bucket, ...], _Rows, _Rows]:
    """The buckets of documents, and the rows of queries and of keys.

    Args:
        queries: [documents], how many tokens attend.
        keys: [documents], how many are attended to.
        mask: Makes the mask of some documents, given their indices and how many slots for keys a row has.
    """
    order = np.lexsort((-keys, -queries))
    order = order[: np.count_nonzero(queries + keys)]  # a document with neither takes no row
    heights, widths = (-(-np.maximum(sizes[order], 1) // _STEP) * _STEP for sizes in (queries, keys))
    buckets = []
    for first, end in pairwise(_partition(heights, widths)):
        heights[first:end], widths[first:end] = heights[first], widths[first:end].max()
        length = int(widths[first])
        buckets.append(Bucket(end - first, int(heights[first]), length, mask(order[first:end], length)))
    return tuple(buckets), _rows(order, heights, len(queries)), _rows(order, widths, len(keys))


def _rows(order: NDArray[np.int64], lengths: NDArray[np.int64], documents: int) -> _Rows:
    rows = _Rows(np.zeros(documents, np.int64), np.zeros(documents, np.int64))
    rows.starts[order], rows.lengths[order] = np.cumsum(lengths) - lengths, lengths
    return rows


def _partition(heights: NDArray[np.int64], widths: NDArray[np.int64]) -> list[int]:
    """Where to cut a sequence of documents into buckets at the least total cost, from 0 to their number.

    A bucket of n rows costs n times its height times its width, plus a constant. Heights descend. Only documents
    of different size are cut apart, so the dynamic programme runs over the few sizes that occur.

    Args:
        heights: [documents], slots for queries.
        widths: [documents], slots for keys.
    """
    differs = (np.diff(heights) != 0) | (np.diff(widths) != 0)
    cuts = [0, *(np.flatnonzero(differs) + 1).tolist(), len(heights)] if len(heights) else [0]
    tall, wide = heights[cuts[:-1]].tolist(), widths[cuts[:-1]].tolist()
    best, previous = [0], [0]
    for end in range(1, len(cuts)):
        widest = [*accumulate(reversed(wide[:end]), max)]
        costs = [
            best[start] + tall[start] * widest[end - 1 - start] * (cuts[end] - cuts[start]) + _BUCKET_COST
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
