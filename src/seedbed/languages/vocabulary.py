"""The tokens of a language and their ids. This module knows no probabilities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from seedbed.documents import Tokens
from seedbed.messages import nearest

#: In every language, the ids of the tokens that begin a document, end a document and end a sentence.
BEGIN, END, PERIOD = 0, 1, 2


@dataclass(frozen=True)
class Vocabulary:
    """Ids in the order: begin, end, period, the words, the structural tokens.

    Attributes:
        marks: The tokens that begin a document, end a document and end a sentence; empty for a task.
        words: The words.
        structural: Tokens that objectives put into documents (padding, masks, sentinels); no document of the
            language has them.

    Raises:
        ValueError: a token occurs twice.
    """

    marks: tuple[str, ...]
    words: tuple[str, ...]
    structural: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        repeated = sorted({token for token in self.tokens if self.tokens.count(token) > 1})
        if repeated:
            raise ValueError(f"tokens that occur in the vocabulary twice: {', '.join(repeated)}")

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """[V], the token of each id."""
        return self.marks + self.words + self.structural

    @cached_property
    def word_ids(self) -> Tokens:
        """[words], the ids of the words: the candidates of a cloze question (objectives 6.4)."""
        return np.arange(len(self.marks), len(self.marks) + len(self.words))

    @cached_property
    def structural_ids(self) -> Tokens:
        """[structural], the ids of the structural tokens."""
        return np.arange(len(self) - len(self.structural), len(self))

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {token: index for index, token in enumerate(self.tokens)}

    def id(self, token: str) -> int:
        """The id of one token.

        Raises:
            ValueError: the vocabulary has no such token.
        """
        if token not in self._ids:
            raise ValueError(f"no token {token!r} in this vocabulary; {nearest(token, self.tokens)}")
        return self._ids[token]

    def encode(self, text: str) -> Tokens:
        """The ids of tokens separated by spaces; nothing is added.

        Raises:
            ValueError: the vocabulary has no such token.
        """
        return np.array([self.id(token) for token in text.split()], dtype=np.int64)

    def decode(self, tokens: Iterable[int]) -> str:
        """The tokens of the ids, separated by spaces.

        Raises:
            ValueError: an id outside the vocabulary.
        """
        ids = self.check_ids(np.asarray(list(tokens), dtype=np.int64))
        return " ".join(self.tokens[index] for index in ids)

    def check_ids(self, tokens: Tokens) -> Tokens:
        """Return the ids if all are in the vocabulary; numpy would read -1 as the last token.

        Raises:
            ValueError: an id outside the vocabulary.
        """
        outside = tokens[(tokens < 0) | (tokens >= len(self))]
        if outside.size:
            raise ValueError(f"token id {outside[0]}: expected 0 to {len(self) - 1}")
        return tokens
