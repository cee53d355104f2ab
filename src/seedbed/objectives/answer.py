"""Answering: predict the last token of a document from all before it, and nothing else (recurrence 5.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from seedbed.batching import Packed, pack
from seedbed.documents import Documents
from seedbed.languages.vocabulary import Vocabulary
from seedbed.objectives import flm


@dataclass(frozen=True)
class Options:
    """Nothing to choose."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Inputs and answers: ``a b c`` is read as ``a b``, and after ``b`` scored on ``c``.

    Attributes:
        inputs: Every document without its answer.
        places: [documents], the flat place of each last input.
        answers: [documents].
    """

    inputs: Packed
    places: Int[Tensor, " documents"]
    answers: Int[Tensor, " documents"]


class Objective:
    """A document's last token is scored, its others are only read."""

    def __init__(self, options: Options, vocabulary: Vocabulary) -> None:
        """Make the objective; neither argument matters to it, every objective takes both."""
        self._next = flm.Objective(flm.Options(), vocabulary)

    def examples(self, documents: Documents, rng: np.random.Generator) -> Batch:
        """Documents without their answers, and these; nothing is drawn.

        Raises:
            ValueError: a document has fewer than 2 tokens, so that nothing is read before its answer.
        """
        if (documents.lengths < 2).any():
            raise ValueError("a document of fewer than 2 tokens has no question before its answer")
        inputs = documents.without_last()
        return Batch(
            pack(inputs),
            torch.from_numpy(inputs.offsets[1:] - 1),
            torch.from_numpy(documents.tokens[documents.offsets[1:] - 1]),
        )

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, int]:
        """The summed loss in nats and the number of answers."""
        logits = model(batch.inputs)[batch.places]
        return F.cross_entropy(logits, batch.answers, reduction="sum"), len(batch.answers)

    def log_probabilities(self, model: nn.Module, documents: Documents) -> NDArray[np.float64]:
        """[tokens, vocabulary] in nats, after each token; only what follows a whole question has been learnt."""
        return self._next.log_probabilities(model, documents)
