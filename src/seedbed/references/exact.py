"""The language itself as a predictor: the floor that no model can pass, and the floor of those with a window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.decoding.following import Following, predicted
from seedbed.documents import Documents
from seedbed.languages.automaton import Language
from seedbed.languages.vocabulary import BEGIN
from seedbed.languages.windows import histories, next_token_distributions
from seedbed.references.continuing import continued
from seedbed.references.material import require_language


@dataclass(frozen=True)
class Options:
    """``window`` is how many tokens it sees, ``<bos>`` and earlier sentences included; 0 is all of them."""

    window: int = 0

    def __post_init__(self) -> None:
        if self.window < 0:
            raise ValueError(f"window {self.window}: expected 0 (the whole prefix) or a number of tokens")


@dataclass(frozen=True)
class Reference:
    """The full language's next-token distribution, given all tokens so far or the last few.

    Raises:
        ValueError: there is no language but a task.
    """

    options: Options
    language: Language

    def __post_init__(self) -> None:
        require_language("exact", self.language)

    def log_probabilities(self, documents: Documents) -> NDArray[np.float64]:
        """[tokens, vocabulary] in nats; minus infinity where a token cannot come."""
        with np.errstate(divide="ignore"):
            return np.log(self._probabilities(documents))

    def beginning(self, documents: int) -> tuple[list[int], Following]:
        """So many documents from ``<bos>`` on."""
        return [BEGIN], predicted(self.log_probabilities)

    def continuation(self, documents: Documents, starts: NDArray[np.int64]) -> NDArray[np.float64]:
        """[scored tokens], the log probability of each token from the place ``starts`` of its document on."""
        return continued(self.log_probabilities, documents, starts)

    def fill(self, documents: Documents, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """[documents, vocabulary], log probabilities of the word at one place of each document.

        The exact posterior; with a window, what the tokens of the window before the place allow, for it sees none
        behind. Normalised over the words, minus infinity for other tokens.
        """
        if self.options.window:
            rows = self._probabilities(documents)[documents.offsets[:-1] + places - 1]
        else:
            holes = zip(documents, places, strict=True)
            rows = np.array([self.language.posterior(document, int(place)) for document, place in holes])
        words = np.zeros_like(rows)
        words[:, self.language.vocabulary.word_ids] = rows[:, self.language.vocabulary.word_ids]
        with np.errstate(divide="ignore"):
            filled: NDArray[np.float64] = np.log(words / words.sum(1, keepdims=True))
        return filled

    def _probabilities(self, documents: Documents) -> NDArray[np.float64]:
        if self.options.window:
            return next_token_distributions(self.language, histories(documents, self.options.window))
        return self.language.probability[self.language.states(documents)]
