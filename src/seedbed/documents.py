"""Documents: many token sequences of unequal length in one flat array.

All code that computes on text uses this form, so nothing is computed on padding. This module knows neither
languages nor models.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Tokens = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Documents:
    """A ragged array: document i is ``tokens[offsets[i]:offsets[i + 1]]``.

    Attributes:
        tokens: [tokens], the ids of all documents, one document after another.
        offsets: [documents + 1], ascending from 0 to the number of tokens.
    """

    tokens: Tokens
    offsets: Tokens

    @staticmethod
    def of(sequences: Iterable[Iterable[int]]) -> Documents:
        """Documents of these sequences, which may be empty."""
        arrays = [np.asarray(list(sequence), dtype=np.int64) for sequence in sequences]
        offsets = np.cumsum([0, *(len(array) for array in arrays)], dtype=np.int64)
        return Documents(np.concatenate([np.empty(0, np.int64), *arrays]), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> Tokens:
        if not 0 <= index < len(self):
            raise IndexError(f"document {index} of {len(self)}")
        return self.tokens[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[Tokens]:
        return (self[index] for index in range(len(self)))

    @cached_property
    def lengths(self) -> Tokens:
        """[documents], the number of tokens in each document."""
        return np.diff(self.offsets)

    @cached_property
    def positions(self) -> Tokens:
        """[tokens], the position of each token in its document, from 0."""
        return positions_within(self.lengths)

    @cached_property
    def owners(self) -> Tokens:
        """[tokens], the index of the document of each token."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, indices: Iterable[int] | Tokens) -> Documents:
        """The documents at these indices, in that order; an index may be repeated."""
        chosen = np.asarray(list(indices) if not isinstance(indices, np.ndarray) else indices, dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(self.lengths[chosen])])
        shift = self.offsets[chosen] - offsets[:-1]
        return Documents(self.tokens[np.arange(offsets[-1]) + np.repeat(shift, self.lengths[chosen])], offsets)

    def without_last(self) -> Documents:
        """Every document without its last token: the inputs of a left-to-right model.

        Raises:
            ValueError: a document is empty.
        """
        return self._drop(self.offsets[1:] - 1)

    def without_first(self) -> Documents:
        """Every document without its first token: the targets of a left-to-right model.

        Raises:
            ValueError: a document is empty.
        """
        return self._drop(self.offsets[:-1])

    def _drop(self, places: Tokens) -> Documents:
        if (self.lengths < 1).any():
            raise ValueError("an empty document has no token to drop")
        return Documents(np.delete(self.tokens, places), self.offsets - np.arange(len(self) + 1))


def positions_within(sizes: Tokens) -> Tokens:
    """[sum of sizes], the positions 0 to ``sizes[i] - 1`` of each document i."""
    places: Tokens = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return places


def repeat_token(token: int, documents: int) -> Documents:
    """Documents of one token each, all the same."""
    return Documents(np.full(documents, token), np.arange(documents + 1))


def split_each(documents: Documents, given: Tokens) -> tuple[Documents, Documents]:
    """The first ``given`` tokens of each document, and its other tokens."""
    first = documents.positions < given[documents.owners]
    return keep_tokens(documents, first), keep_tokens(documents, ~first)


def keep_tokens(documents: Documents, chosen: NDArray[np.bool_]) -> Documents:
    """The documents with only the tokens that are ``chosen``, [tokens]."""
    return Documents(documents.tokens[chosen], np.concatenate([[0], np.cumsum(chosen)])[documents.offsets])


def join_each(first: Documents, second: Documents) -> Documents:
    """Each document of the first, followed by the document of the second with the same index."""
    ends = np.repeat(first.offsets[1:], second.lengths)
    return Documents(np.insert(first.tokens, ends, second.tokens), first.offsets + second.offsets)
