"""The language itself as a predictor: no model, or no model with the same window, has a lower loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.decoding.following import NextTokenScorer, scorer_from_predictions
from seedbed.documents import Documents
from seedbed.languages.automaton import Language
from seedbed.languages.vocabulary import BEGIN
from seedbed.languages.windows import histories, next_token_distributions
from seedbed.references.continuing import continuation_log_probabilities
from seedbed.references.material import require_language

OFFERS = ("log_probabilities", "fill", "continuation", "beginning")


@dataclass(frozen=True)
class Options:
    """``window`` is the number of tokens it sees, ``<bos>`` and earlier sentences included; 0 means all."""

    window: int = 0

    def __post_init__(self) -> None:
        if self.window < 0:
            raise ValueError(f"window {self.window}: expected 0 (the whole prefix) or a number of tokens")


@dataclass(frozen=True)
class Reference:
    """The next-token distribution of the full language, given all tokens so far or the last few.

    Raises:
        ValueError: the data come from a task, not a language.
    """

    options: Options
    language: Language

    def __post_init__(self) -> None:
        require_language("exact", self.language)

    def log_probabilities(self, documents: Documents) -> NDArray[np.float64]:
        """[tokens, vocabulary] in nats, for the token after each; minus infinity for impossible tokens."""
        with np.errstate(divide="ignore"):
            return np.log(self._probabilities(documents))

    def beginning(self, documents: int) -> tuple[list[int], NextTokenScorer]:
        """The first token ``<bos>`` of each document to write, and the scorer of the next tokens."""
        return [BEGIN], scorer_from_predictions(self.log_probabilities)

    def continuation(self, documents: Documents, starts: NDArray[np.int64]) -> NDArray[np.float64]:
        """[scored tokens], the log probability of each token from position ``starts`` of its document on."""
        return continuation_log_probabilities(self.log_probabilities, documents, starts)

    def fill(self, documents: Documents, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """[documents, vocabulary], log probabilities of the word at one position of each document.

        It is the exact posterior given the whole document. With a window it is the distribution given only the
        tokens in the window before the position. It is normalised over the words; minus infinity for other tokens.
        """
        if self.options.window:
            rows = self._probabilities(documents)[documents.offsets[:-1] + places - 1]
        else:
            holes = zip(documents, places, strict=True)
            rows = np.array([self.language.posterior(document, int(place)) for document, place in holes])
        words = np.zeros_like(rows)
        words[:, self.language.vocabulary.word_ids] = rows[:, self.language.vocabulary.word_ids]
        with np.errstate(divide="ignore"):
            scores: NDArray[np.float64] = np.log(words / words.sum(1, keepdims=True))
        return scores

    def _probabilities(self, documents: Documents) -> NDArray[np.float64]:
        if self.options.window:
            return next_token_distributions(self.language, histories(documents, self.options.window))
        return self.language.probability[self.language.states(documents)]
