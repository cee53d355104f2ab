"""Prefix language modelling: a document is cut in two, and its rest is predicted from its prefix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from seedbed.decoding.following import NextTokenScorer
from seedbed.documents import Documents
from seedbed.languages.vocabulary import BEGIN, Vocabulary
from seedbed.objectives import scoring
from seedbed.objectives.conditioning import (
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
    """How the prefix is read: ``prefix`` (it sees itself), ``causal`` (it sees the past only) or in an encoder."""

    architecture: Literal["prefix", "causal", "encoder_decoder"] = "prefix"


class Objective:
    """All tokens after the prefix are scored; its last token predicts the first of them (objectives 6.2).

    A prefix that sees itself cannot be scored, since a token would see the one that it predicts. The lecture cuts
    "at random". Here the length of the prefix is uniform, from one token, which is the same as forward language
    modelling, to all tokens but one.
    """

    def __init__(self, options: Options, vocabulary: Vocabulary) -> None:
        """Make the objective.

        Raises:
            ValueError: the architecture is an encoder-decoder, and the vocabulary has no <bos>.
        """
        if options.architecture == "encoder_decoder":
            require_marks(vocabulary, "an encoder-decoder")
        self.reads = self.architecture = options.architecture

    def examples(self, documents: Documents, rng: np.random.Generator) -> Batch:
        """Documents cut in two at random; a document of a single token is all prefix.

        Raises:
            ValueError: a document is empty.
        """
        return conditional_batch(documents, rng.integers(1, np.maximum(documents.lengths, 2)), self.architecture)

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, int]:
        """The summed loss in nats and the number of scored tokens."""
        return scoring.loss(model, batch)

    def log_probabilities(self, model: nn.Module, documents: Documents) -> Numbers:
        """[tokens, vocabulary], log probabilities of the token after each; the prefix is <bos> alone."""
        return next_token_log_probabilities(model, documents, self.architecture)

    def continuation(self, model: nn.Module, documents: Documents, starts: NDArray[np.int64]) -> Numbers:
        """The log probability of each token from position ``starts`` of its document on; all before is prefix."""
        return continuation(model, documents, starts, self.architecture)

    def beginning(self, model: nn.Module, documents: int) -> tuple[list[int], NextTokenScorer]:
        """The prefix <bos> of each document to write, and the scorer of the next tokens."""
        return beginning(model, [BEGIN], [], documents, self.architecture)
