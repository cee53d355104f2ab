"""A trained model as an evaluation sees it: network and predictions, and what the training read and logged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from seedbed.batching import pack
from seedbed.documents import Documents
from seedbed.log import Log

#: Documents a forward; more gain nothing on one core and cost memory.
_CHUNK = 64


@dataclass(frozen=True)
class TrainedModel:
    """A network with the log of its training and the corpus that it was trained on."""

    network: nn.Module
    log: Log
    corpus: Documents

    def parameters(self) -> int:
        """How many numbers the training set."""
        return sum(parameter.numel() for parameter in self.network.parameters())

    @torch.no_grad()
    def log_probabilities(self, documents: Documents) -> NDArray[np.float64]:
        """As `Predictor` says; the softmax is taken in double precision."""
        self.network.eval()
        parts = []
        for start in range(0, len(documents), _CHUNK):
            chunk = documents.take(np.arange(start, min(start + _CHUNK, len(documents))))
            parts.append(self.network(pack(chunk)).double().log_softmax(-1).numpy())
        return np.concatenate(parts)
