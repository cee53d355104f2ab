"""Answering: predict the last token of a document from all before it, and nothing else (recurrence 5.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor, nn

from seedbed.documents import Documents
from seedbed.languages.vocabulary import Vocabulary
from seedbed.objectives import scoring
from seedbed.objectives.conditioning import conditional, left_to_right
from seedbed.objectives.scoring import Batch, Numbers

OFFERS = ("log_probabilities",)


@dataclass(frozen=True)
class Options:
    """Nothing to choose."""


class Objective:
    """A document's last token is scored: ``a b c`` is read as ``a b``, and scored after ``b`` on ``c``."""

    reads = "causal"

    def __init__(self, options: Options, vocabulary: Vocabulary) -> None:
        """Make the objective; neither argument matters to it, every objective takes both."""

    def examples(self, documents: Documents, rng: np.random.Generator) -> Batch:
        """Documents without their answers, and these; nothing is drawn.

        Raises:
            ValueError: a document has fewer than 2 tokens, so that nothing is read before its answer.
        """
        if (documents.lengths < 2).any():
            raise ValueError("a document of fewer than 2 tokens has no question before its answer")
        return conditional(documents, documents.lengths - 1, "causal")

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, int]:
        """The summed loss in nats and the number of answers."""
        return scoring.loss(model, batch)

    def log_probabilities(self, model: nn.Module, documents: Documents) -> Numbers:
        """[tokens, vocabulary] in nats, after each token; only what follows a whole question has been learnt."""
        return left_to_right(model, documents, "causal")
