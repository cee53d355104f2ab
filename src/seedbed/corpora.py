"""Draw the documents of a data set's splits, each from its own stream of random numbers."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from seedbed.documents import Documents
from seedbed.randomness import stream


class Source(Protocol):
    """A source of documents: a language or a task."""

    def sample(self, rng: np.random.Generator, documents: int) -> Documents:
        """Draw documents."""
        ...

    def training(self) -> Source:
        """The source of training documents, for example a language without its withheld combinations."""
        ...


def draw_documents(source: Source, documents: int, split: str, study: str, seed: int | None) -> Documents:
    """Draw the documents of one split.

    A training corpus has no withheld combination, and each seed has its own. Validation and test documents are
    drawn from the full source, with streams of the study, and are the same for all seeds.

    Args:
        source: The language or task.
        documents: The number of documents.
        split: ``training``, ``validation`` or ``test``.
        study: The name of the study.
        seed: The seed of a training corpus; None for the other splits.
    """
    if seed is None:
        return source.sample(stream(0, f"{split} documents of {study}"), documents)
    return source.training().sample(stream(seed, f"{split} documents"), documents)
