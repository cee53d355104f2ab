"""Forward language modelling: predict every token from those before it in its document."""

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

#: Documents a forward; more gain nothing on one core and cost memory.
_CHUNK = 64


@dataclass(frozen=True)
class Options:
    """Nothing to choose."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Inputs and targets, token by token: ``a b c`` is read as ``a b`` and scored on ``b c``."""

    inputs: Packed
    targets: Int[Tensor, " tokens"]


class Objective:
    """Every token but a document's first is scored."""

    def __init__(self, options: Options, vocabulary: int) -> None:
        """Make the objective; neither argument matters to it, every objective takes both."""

    def examples(self, documents: Documents, rng: np.random.Generator) -> Batch:
        """Documents without their last token, to predict them without their first; nothing is drawn.

        Raises:
            ValueError: a document is empty.
        """
        return Batch(pack(documents.without_last()), torch.from_numpy(documents.without_first().tokens))

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, int]:
        """The summed loss in nats and the number of scored tokens."""
        return F.cross_entropy(model(batch.inputs), batch.targets, reduction="sum"), len(batch.targets)

    @torch.no_grad()
    def log_probabilities(self, model: nn.Module, documents: Documents) -> NDArray[np.float64]:
        """[tokens, vocabulary] in nats: what may follow each token; the softmax is taken in double precision."""
        parts = []
        for start in range(0, len(documents), _CHUNK):
            chunk = documents.take(np.arange(start, min(start + _CHUNK, len(documents))))
            parts.append(model(pack(chunk)).double().log_softmax(-1).numpy())
        return np.concatenate(parts)
