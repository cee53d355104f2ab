"""Guessing: some words are equally probable after every token, and all others are impossible (recurrence 5.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.documents import Documents
from seedbed.languages.automaton import Language
from seedbed.tasks.task import Task

OFFERS = ("log_probabilities",)


@dataclass(frozen=True)
class Options:
    """``words`` are what is guessed; without them it is all words of the vocabulary."""

    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reference:
    """The same distribution after every token.

    Raises:
        ValueError: a word is not in the vocabulary; raised by `log_probabilities`.
    """

    options: Options
    language: Language | Task

    def log_probabilities(self, documents: Documents) -> NDArray[np.float64]:
        """[tokens, vocabulary] in nats, for the token after each; minus infinity for all other words."""
        vocabulary = self.language.vocabulary
        guessed = np.unique(vocabulary.encode(" ".join(self.options.words or vocabulary.words)))
        row = np.full(len(vocabulary), -np.inf)
        row[guessed] = -np.log(len(guessed))
        return np.tile(row, (len(documents.tokens), 1))
