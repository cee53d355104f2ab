"""What a model is called with and scored on: the form that every objective here gives its examples.

A model that sees one stream is called with one batch of rows, an encoder-decoder with sources and targets. This
module knows neither how examples are made nor what a model is used for.
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

#: Documents a forward; more gain nothing on one core and cost memory.
_CHUNK = 64

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Batch:
    """Some documents as a model reads them.

    Attributes:
        inputs: What the model is called with: one batch of rows, or sources and targets.
        targets: [scored], what it is to predict.
        scored: [scored], at which of its tokens; None is at each.
        added: How many targets are no token of the text: sentinels, and the ends of answers.
    """

    inputs: tuple[Packed, ...]
    targets: Int[Tensor, " scored"]
    scored: Int[Tensor, " scored"] | None = None
    added: int = 0


def logits(model: nn.Module, batch: Batch) -> Float[Tensor, "scored vocabulary"]:
    """What the model says where it is scored."""
    return model(*batch.inputs, scored=batch.scored)  # type: ignore[no-any-return]


def loss(model: nn.Module, batch: Batch) -> tuple[Tensor, int]:
    """The summed loss in nats and the number of scored tokens."""
    return F.cross_entropy(logits(model, batch), batch.targets, reduction="sum"), len(batch.targets)


def chunks(documents: int) -> Iterator[NDArray[np.int64]]:
    """The indices of so many documents, a few at a time; at least once."""
    for start in range(0, documents or 1, _CHUNK):
        yield np.arange(start, min(start + _CHUNK, documents))


@torch.no_grad()
def log_probabilities(model: nn.Module, batches: Iterable[Batch]) -> Numbers:
    """[scored, vocabulary], in nats, batch after batch; the softmax is taken in double precision."""
    model.eval()
    return np.concatenate([logits(model, batch).double().log_softmax(-1).numpy() for batch in batches])


def of_targets(model: nn.Module, batches: Iterable[Batch]) -> Numbers:
    """[scored], the log probability of each target, batch after batch."""
    parts = [log_probabilities(model, [batch])[np.arange(len(batch.targets)), batch.targets] for batch in batches]
    return np.concatenate(parts)


def among(scores: Numbers, words: NDArray[np.int64], vocabulary: int) -> Numbers:
    """[documents, vocabulary], scores [documents, words] as log probabilities of words; -inf for other tokens."""
    result = np.full((len(scores), vocabulary), -np.inf)
    result[:, words] = scores - np.logaddexp.reduce(scores, 1, keepdims=True)
    return result


class Corrupts(Protocol):
    """What `shares` needs of an objective."""

    def examples(self, documents: Documents, rng: np.random.Generator) -> Batch:
        """Inputs, targets and scored positions of some documents."""
        ...


@dataclass(frozen=True)
class Shares:
    """How much of the text an objective learns from (objectives 6.3), relative to what can be predicted at all.

    Attributes:
        text: The share of the text's tokens, but for each document's first, that are scored.
        scored: The number of all that is scored, sentinels and ends of answers included, relative to the same.
    """

    text: float
    scored: float


def shares(objective: Corrupts, documents: Documents, rng: np.random.Generator) -> Shares:
    """How much of some documents is scored, in one draw."""
    batches = [objective.examples(documents.take(some), rng) for some in chunks(len(documents))]
    scored, added = (sum(len(batch.targets) for batch in batches), sum(batch.added for batch in batches))
    predictable = len(documents.tokens) - len(documents)
    return Shares((scored - added) / predictable, scored / predictable)
