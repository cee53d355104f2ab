"""Forward language modelling: predict every token from those before it in its document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from seedbed.batching import pack
from seedbed.decoding.following import Following
from seedbed.documents import Documents
from seedbed.languages.vocabulary import BEGIN, Vocabulary
from seedbed.objectives import scoring
from seedbed.objectives.conditioning import (
    Architecture,
    beginning,
    conditional,
    continuation,
    left_to_right,
    require_marks,
)
from seedbed.objectives.scoring import Batch, Numbers

OFFERS = ("log_probabilities", "continuation", "beginning")


@dataclass(frozen=True)
class Options:
    """What a token sees: those before it, and in an encoder-decoder also a source, which is <bos> alone.

    With ``bidirectional`` it sees all, what it is to predict included: a leak on purpose (objectives, exercise 5).
    """

    architecture: Literal["causal", "bidirectional", "encoder_decoder"] = "causal"


class Objective:
    """Every token but a document's first is scored: ``a b c`` is read as ``a b`` and scored on ``b c``."""

    def __init__(self, options: Options, vocabulary: Vocabulary) -> None:
        """Make the objective.

        Raises:
            ValueError: there is an encoder-decoder, and the vocabulary has no <bos>.
        """
        if options.architecture == "encoder_decoder":
            require_marks(vocabulary, "an encoder-decoder")
        self.reads = options.architecture
        self.leaks = options.architecture == "bidirectional"
        self.architecture: Architecture = (
            "encoder_decoder" if options.architecture == "encoder_decoder" else "causal"
        )

    def examples(self, documents: Documents, rng: np.random.Generator) -> Batch:
        """Documents without their last token, to predict them without their first; nothing is drawn.

        Raises:
            ValueError: a document is empty.
        """
        if not self.leaks:
            return conditional(documents, np.ones(len(documents), np.int64), self.architecture)
        inputs = documents.without_last()
        return Batch((pack(inputs, inputs.lengths),), torch.from_numpy(documents.without_first().tokens))

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, int]:
        """The summed loss in nats and the number of scored tokens."""
        return scoring.loss(model, batch)

    def log_probabilities(self, model: nn.Module, documents: Documents) -> Numbers:
        """[tokens, vocabulary], of what follows each token; a model trained with a leak is read without."""
        return left_to_right(model, documents, self.architecture)

    def continuation(self, model: nn.Module, documents: Documents, starts: NDArray[np.int64]) -> Numbers:
        """The log probability of each token from the place ``starts`` of its document on, given all before it."""
        if self.architecture == "causal":
            return continuation(model, documents, starts, self.architecture)
        predicted = continuation(model, documents, np.ones(len(documents), np.int64), self.architecture)
        places = documents.without_first()
        return predicted[places.positions + 1 >= starts[places.owners]]

    def beginning(self, model: nn.Module, documents: int) -> tuple[list[int], Following]:
        """So many documents from <bos> on, and what follows as they are written."""
        return beginning(model, [BEGIN], [], documents, self.architecture)
