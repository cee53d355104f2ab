"""Batches of inputs and targets, and the loss and log probabilities of a model on them.

A model that reads one stream is called with one batch of rows, and an encoder-decoder with sources and targets.
The objectives make the batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from seedbed.batching import Packed
from seedbed.documents import Documents

#: Documents in one forward pass; more gain nothing on one core and cost memory.
_CHUNK = 64

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Batch:
    """Some documents as a model reads them.

    Attributes:
        inputs: The arguments of the model: one batch of rows, or sources and targets.
        targets: [scored], the tokens to predict.
        scored: [scored], the indices of the tokens that predict them; None for all tokens.
        added: How many targets are not tokens of the text, but sentinels or ends of answers.
    """

    inputs: tuple[Packed, ...]
    targets: Int[Tensor, " scored"]
    scored: Int[Tensor, " scored"] | None = None
    added: int = 0


def logits(model: nn.Module, batch: Batch) -> Float[Tensor, "scored vocabulary"]:
    """The logits of the scored tokens."""
    return model(*batch.inputs, scored=batch.scored)  # type: ignore[no-any-return]


def loss(model: nn.Module, batch: Batch) -> tuple[Tensor, int]:
    """The summed loss in nats and the number of scored tokens."""
    return F.cross_entropy(logits(model, batch), batch.targets, reduction="sum"), len(batch.targets)


def chunks(documents: int) -> Iterator[NDArray[np.int64]]:
    """The indices of all documents, a few at a time; without documents, one empty array."""
    for start in range(0, documents or 1, _CHUNK):
        yield np.arange(start, min(start + _CHUNK, documents))


@torch.no_grad()
def log_probabilities(model: nn.Module, batches: Iterable[Batch]) -> Numbers:
    """[scored, vocabulary], in nats, batch after batch; the softmax is taken in double precision."""
    model.eval()
    return np.concatenate([logits(model, batch).double().log_softmax(-1).numpy() for batch in batches])


def target_log_probabilities(model: nn.Module, batches: Iterable[Batch]) -> Numbers:
    """[scored], the log probability of each target, batch after batch."""
    parts = [log_probabilities(model, [batch])[np.arange(len(batch.targets)), batch.targets] for batch in batches]
    return np.concatenate(parts)


def restrict_to_words(scores: Numbers, words: NDArray[np.int64], vocabulary: int) -> Numbers:
    """[documents, vocabulary], scores [documents, words] normalised over the words; -inf for other tokens."""
    result = np.full((len(scores), vocabulary), -np.inf)
    result[:, words] = scores - np.logaddexp.reduce(scores, 1, keepdims=True)
    return result


class ExampleMaker(Protocol):
    """An objective that `scored_shares` can measure."""

    def examples(self, documents: Documents, rng: np.random.Generator) -> Batch:
        """The inputs, targets and scored positions of some documents."""
        ...


@dataclass(frozen=True)
class ScoredShares:
    """How many tokens an objective scores (objectives 6.3), relative to all tokens but each document's first.

    Attributes:
        text: The scored tokens of the text.
        scored: All scored tokens, with sentinels and ends of answers.
    """

    text: float
    scored: float


def scored_shares(objective: ExampleMaker, documents: Documents, rng: np.random.Generator) -> ScoredShares:
    """The shares of scored tokens in one random draw."""
    batches = [objective.examples(documents.take(some), rng) for some in chunks(len(documents))]
    scored, added = (sum(len(batch.targets) for batch in batches), sum(batch.added for batch in batches))
    predictable = len(documents.tokens) - len(documents)
    return ScoredShares((scored - added) / predictable, scored / predictable)
