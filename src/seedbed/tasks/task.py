"""The interface of a task: it makes documents and has a vocabulary.

The file of a task defines ``Options`` and a class ``Task(options)`` with this interface.
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
        """The tokens of the sequences."""
        ...

    def training(self) -> Task:
        """The source of training documents: the task itself, unless some sequences are withheld from training."""
        ...

    def sample(self, rng: np.random.Generator, documents: int) -> Documents:
        """Draw documents, in the order in which training reads them."""
        ...
