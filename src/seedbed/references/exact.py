"""The language itself as a predictor: the floor that no model can pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.documents import Documents
from seedbed.languages.automaton import Language


@dataclass(frozen=True)
class Options:
    """Nothing to choose."""


@dataclass(frozen=True)
class Reference:
    """The full language's next-token distribution."""

    options: Options
    language: Language

    def log_probabilities(self, documents: Documents) -> NDArray[np.float64]:
        """[tokens, vocabulary] in nats; minus infinity where a token cannot come."""
        with np.errstate(divide="ignore"):
            return np.log(self.language.probability[self.language.states(documents)])
