"""Prefix language modelling: a document is cut in two, and the rest is predicted from its beginning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from seedbed.decoding.following import Following
from seedbed.documents import Documents
from seedbed.languages.vocabulary import BEGIN, Vocabulary
from seedbed.objectives import scoring
from seedbed.objectives.conditioning import beginning, conditional, continuation, left_to_right, require_marks
from seedbed.objectives.scoring import Batch, Numbers

OFFERS = ("log_probabilities", "continuation", "beginning")


@dataclass(frozen=True)
class Options:
    """Where the prefix stands: before the rest, seeing itself or only the past, or in an encoder."""

    architecture: Literal["prefix", "causal", "encoder_decoder"] = "prefix"


class Objective:
    """All behind the prefix is scored. Its last token predicts the first behind it (objectives 6.2).

    In a prefix that sees itself nothing may be scored: a token would see what it is to predict. The lecture cuts
    "at random"; here every length of the prefix is as likely as any other, from one token, which is the same as
    forward language modelling, to all but one.
    """

    def __init__(self, options: Options, vocabulary: Vocabulary) -> None:
        """Make the objective.

        Raises:
            ValueError: there is an encoder-decoder, and the vocabulary has no <bos>.
        """
        if options.architecture == "encoder_decoder":
            require_marks(vocabulary, "an encoder-decoder")
        self.reads = self.architecture = options.architecture

    def examples(self, documents: Documents, rng: np.random.Generator) -> Batch:
        """Documents cut in two; one of a single token is all prefix.

        Raises:
            ValueError: a document is empty.
        """
        return conditional(documents, rng.integers(1, np.maximum(documents.lengths, 2)), self.architecture)

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, int]:
        """The summed loss in nats and the number of scored tokens."""
        return scoring.loss(model, batch)

    def log_probabilities(self, model: nn.Module, documents: Documents) -> Numbers:
        """[tokens, vocabulary], of what follows each token; the prefix is <bos>, which training draws too."""
        return left_to_right(model, documents, self.architecture)

    def continuation(self, model: nn.Module, documents: Documents, starts: NDArray[np.int64]) -> Numbers:
        """The log probability of each token from the place ``starts`` of its document on; all before is prefix."""
        return continuation(model, documents, starts, self.architecture)

    def beginning(self, model: nn.Module, documents: int) -> tuple[list[int], Following]:
        """So many documents behind the prefix <bos>, and what follows as they are written."""
        return beginning(model, [BEGIN], [], documents, self.architecture)
