"""Forward language modelling: predict every token from the tokens before it in its document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from seedbed.batching import pack
from seedbed.decoding.following import NextTokenScorer
from seedbed.documents import Documents
from seedbed.languages.vocabulary import BEGIN, Vocabulary
from seedbed.objectives import scoring
from seedbed.objectives.conditioning import (
    Architecture,
    beginning,
    conditional_batch,
    continuation,
    next_token_log_probabilities,
    require_marks,
)
from seedbed.objectives.scoring import Batch, Numbers

OFFERS = ("log_probabilities", "continuation", "beginning")


@dataclass(frozen=True)
class Options:
    """Which tokens a token sees: those before it, and in an encoder-decoder also the source, which is <bos> alone.

    With ``bidirectional`` it sees all tokens, also the one that it predicts: a leak on purpose (objectives,
    exercise 5).
    """

    architecture: Literal["causal", "bidirectional", "encoder_decoder"] = "causal"


class Objective:
    """Every token but a document's first is scored: of ``a b c`` the model reads ``a b`` and predicts ``b c``."""

    def __init__(self, options: Options, vocabulary: Vocabulary) -> None:
        """Make the objective.

        Raises:
            ValueError: the architecture is an encoder-decoder, and the vocabulary has no <bos>.
        """
        if options.architecture == "encoder_decoder":
            require_marks(vocabulary, "an encoder-decoder")
        self.reads = options.architecture
        self.leaks = options.architecture == "bidirectional"
        self.architecture: Architecture = (
            "encoder_decoder" if options.architecture == "encoder_decoder" else "causal"
        )

    def examples(self, documents: Documents, rng: np.random.Generator) -> Batch:
        """Documents without their last token as inputs, and without their first as targets; nothing is random.

        Raises:
            ValueError: a document is empty.
        """
        if not self.leaks:
            return conditional_batch(documents, np.ones(len(documents), np.int64), self.architecture)
        inputs = documents.without_last()
        return Batch((pack(inputs, inputs.lengths),), torch.from_numpy(documents.without_first().tokens))

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, int]:
        """The summed loss in nats and the number of scored tokens."""
        return scoring.loss(model, batch)

    def log_probabilities(self, model: nn.Module, documents: Documents) -> Numbers:
        """[tokens, vocabulary], log probabilities of the token after each; never with the leak."""
        return next_token_log_probabilities(model, documents, self.architecture)

    def continuation(self, model: nn.Module, documents: Documents, starts: NDArray[np.int64]) -> Numbers:
        """The log probability of each token from position ``starts`` of its document on, given all before it."""
        if self.architecture == "causal":
            return continuation(model, documents, starts, self.architecture)
        predicted = continuation(model, documents, np.ones(len(documents), np.int64), self.architecture)
        places = documents.without_first()
        return predicted[places.positions + 1 >= starts[places.owners]]

    def beginning(self, model: nn.Module, documents: int) -> tuple[list[int], NextTokenScorer]:
        """The first token <bos> of each document to write, and the scorer of the next tokens."""
        return beginning(model, [BEGIN], [], documents, self.architecture)
