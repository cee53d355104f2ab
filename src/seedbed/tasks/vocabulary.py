"""The tokens of a task and their ids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from seedbed.documents import Tokens
from seedbed.names import nearest


@dataclass(frozen=True)
class Vocabulary:
    """A token's id is its place.

    Attributes:
        tokens: [V], all different.
    """

    tokens: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.tokens)

    def id(self, token: str) -> int:
        """The id of one token.

        Raises:
            ValueError: the task has no such token.
        """
        if token not in self.tokens:
            raise ValueError(f"no token {token!r} in this task; {nearest(token, self.tokens)}")
        return self.tokens.index(token)

    def encode(self, text: str) -> Tokens:
        """The ids of tokens separated by spaces; nothing is added.

        Raises:
            ValueError: the task has no such token.
        """
        return np.array([self.id(token) for token in text.split()], dtype=np.int64)

    def decode(self, ids: Iterable[int]) -> str:
        """The tokens of the ids, separated by spaces."""
        return " ".join(self.tokens[index] for index in ids)
