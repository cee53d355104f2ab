"""Answering: predict only the last token of a document, from all tokens before it (recurrence 5.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor, nn

from seedbed.documents import Documents
from seedbed.languages.vocabulary import Vocabulary
from seedbed.objectives import scoring
from seedbed.objectives.conditioning import conditional_batch, next_token_log_probabilities
from seedbed.objectives.scoring import Batch, Numbers

OFFERS = ("log_probabilities",)


@dataclass(frozen=True)
class Options:
    """Nothing to choose."""


class Objective:
    """Only a document's last token is scored: of ``a b c`` the model reads ``a b`` and predicts ``c``."""

    reads = "causal"

    def __init__(self, options: Options, vocabulary: Vocabulary) -> None:
        """Make the objective. It uses neither argument, but every objective takes both."""

    def examples(self, documents: Documents, rng: np.random.Generator) -> Batch:
        """Documents without their last token as inputs, and the last tokens as targets; nothing is random.

        Raises:
            ValueError: a document has fewer than 2 tokens, so there is no question before its answer.
        """
        if (documents.lengths < 2).any():
            raise ValueError("a document of fewer than 2 tokens has no question before its answer")
        return conditional_batch(documents, documents.lengths - 1, "causal")

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, int]:
        """The summed loss in nats and the number of answers."""
        return scoring.loss(model, batch)

    def log_probabilities(self, model: nn.Module, documents: Documents) -> Numbers:
        """[tokens, vocabulary] in nats, for the token after each; only those after a question were trained."""
        return next_token_log_probabilities(model, documents, "causal")
