"""Recall: name a key that was read some distractors ago (recurrence 5).

A sequence is a key, distractors that are independent of it, the query, and the answer, which is the key again. At
distance 4::

    k5 x2 x0 x7 x2 ? k5

A model reads all tokens but the answer, and predicts the answer only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seedbed.documents import Documents, Tokens
from seedbed.languages.vocabulary import Vocabulary
from seedbed.messages import require_positive

KEYS = 8
DISTRACTORS = 8
#: The id of the query. The ids of keys begin at 0, and distractors come next.
QUERY = KEYS + DISTRACTORS

#: 18 tokens, to match the lecture's parameter counts; no sequence has the last one.
VOCABULARY = Vocabulary(
    marks=(),
    words=(*(f"k{index}" for index in range(KEYS)), *(f"x{index}" for index in range(DISTRACTORS)), "?"),
    structural=("<pad>",),
)


@dataclass(frozen=True)
class Options:
    """The distances of the keys, and how many sequences share a distance."""

    distances: tuple[str, ...] = ("1-100",)  # a range for each part of the sequences: the least and the most
    batch: int = 64  # consecutive sequences that share a distance: as many as a training step reads

    def __post_init__(self) -> None:
        """Check what a study file says.

        Raises:
            ValueError: a range is malformed or empty, or the batch is below 1.
        """
        require_positive(batch=self.batch)
        if not self.distances:
            raise ValueError("distances: expected at least one range, such as '1-20'")
        for index, text in enumerate(self.distances):
            _range(text, f"distances[{index}]")


def _range(text: str, name: str = "distances") -> tuple[int, int]:
    """The least and the most number of a range such as ``1-20``."""
    match = re.fullmatch("([0-9]+)-([0-9]+)", text)
    if match is None or int(match[1]) > int(match[2]):
        raise ValueError(f"{name} {text!r}: expected a range such as '1-20', the smaller number first")
    return int(match[1]), int(match[2])


class Task:
    """Sequences in the order in which training reads them; they must not be shuffled.

    The sequences of a batch share a random distance, so a step computes on one length. Batches are divided evenly
    over the ranges, the first range first. If they do not divide evenly, earlier ranges have one more.
    """

    def __init__(self, options: Options) -> None:
        """Make the task."""
        self.options = options
        self.vocabulary = VOCABULARY

    def training(self) -> Task:
        """The task itself: nothing is withheld from training."""
        return self

    def sample(self, rng: np.random.Generator, documents: int) -> Documents:
        """Draw sequences; the last batch may be smaller than the others."""
        parts = [sequences(rng, size, distance) for size, distance in self._batches(rng, documents)]
        start = np.zeros(1, np.int64)
        offsets = np.cumsum(np.concatenate([start, *(np.full(len(part), part.shape[1]) for part in parts)]))
        return Documents(np.concatenate([start[:0], *(part.ravel() for part in parts)]), offsets)

    def _batches(self, rng: np.random.Generator, documents: int) -> Iterator[tuple[int, int]]:
        """The size and the distance of every batch."""
        firsts = np.arange(0, documents, self.options.batch)
        parts = [_range(text) for text in self.options.distances]
        for (least, most), part in zip(parts, np.array_split(firsts, len(parts)), strict=True):
            for first in part.tolist():
                yield min(self.options.batch, documents - first), int(rng.integers(least, most + 1))


def sequences(rng: np.random.Generator, count: int, distance: int, before: int = 0) -> Tokens:
    """Draw sequences of one distance.

    Args:
        rng: The source of random keys and distractors.
        count: The number of sequences.
        distance: The number of distractors in a sequence.
        before: How many of them come before the key; in training none do.

    Returns:
        [count, distance + 3]: the key at position ``before``, the query last but one, the answer last.

    Raises:
        ValueError: ``before`` is not between 0 and ``distance``.
    """
    if not 0 <= before <= distance:
        raise ValueError(f"before: {before} of {distance} distractors")
    keys = rng.integers(0, KEYS, (count, 1))
    distractors = rng.integers(KEYS, KEYS + DISTRACTORS, (count, distance))
    queries = np.full((count, 1), QUERY)
    return np.hstack([distractors[:, :before], keys, distractors[:, before:], queries, keys])


def balanced_sequences(rng: np.random.Generator, count: int, distance: int, before: int = 0) -> Tokens:
    """Draw `sequences` in which all keys are equally frequent, up to one, so that chance accuracy is exact."""
    found = sequences(rng, count, distance, before)
    found[:, [before, -1]] = np.arange(count)[:, None] % KEYS
    return found
