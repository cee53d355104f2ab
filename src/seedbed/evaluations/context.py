"""What an evaluation is given: a predictor and the study's test set.

A predictor is a trained model or a reference run; an evaluation does not see which, so that both stand in one
table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from seedbed.documents import Documents
from seedbed.languages.automaton import Language


class Predictor(Protocol):
    """Whatever predicts the next token."""

    def log_probabilities(self, documents: Documents) -> NDArray[np.float64]:
        """Log probability of each token to come next, after every token of the documents.

        Returns:
            [tokens, vocabulary], in nats, in the order of ``documents.tokens``; every row sums to 1 after exp.
        """
        ...


@dataclass(frozen=True)
class Context:
    """The material of an evaluation.

    Attributes:
        language: The full language, withheld pairs included.
        test: Documents of the full language, the same for every seed and run of a study.
    """

    language: Language
    test: Documents
