"""What a task is to the rest: documents and their vocabulary.

A task's file defines ``Options`` and ``Task(options)``, which has what stands here.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from seedbed.documents import Documents
from seedbed.languages.vocabulary import Vocabulary


class Task(Protocol):
    """A generator of sequences."""

    @property
    def vocabulary(self) -> Vocabulary:
        """Its tokens."""
        ...

    def training(self) -> Task:
        """What training documents are drawn from; the task itself, unless some are kept from training."""
        ...

    def sample(self, rng: np.random.Generator, documents: int) -> Documents:
        """So many documents, in the order in which a training may read them."""
        ...
