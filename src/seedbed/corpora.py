"""The documents of a data set's splits, each from its own stream, whatever they are drawn from."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from seedbed.documents import Documents
from seedbed.randomness import stream


class Source(Protocol):
    """Whatever documents are drawn from: a language or a task."""

    def sample(self, rng: np.random.Generator, documents: int) -> Documents:
        """So many documents."""
        ...

    def training(self) -> Source:
        """What training documents are drawn from: a language without its withheld combinations."""
        ...


def draw(source: Source, documents: int, split: str, study: str, seed: int | None) -> Documents:
    """Draw the documents of one split.

    A training corpus holds no withheld combination and belongs to its seed. Validation and test are drawn from
    the full source, from streams of the study, and are the same for all seeds.

    Args:
        source: What they are drawn from.
        documents: How many.
        split: ``training``, ``validation`` or ``test``.
        study: The name of the study.
        seed: The seed of a training corpus; None for the other splits.
    """
    if seed is None:
        return source.sample(stream(0, f"{split} documents of {study}"), documents)
    return source.training().sample(stream(seed, f"{split} documents"), documents)
