"""What the tests of all causal models need: small models with weights, documents, gradients."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from seedbed.documents import Documents
from seedbed.models.initialisation import fill, unfilled
from seedbed.objectives import flm

VOCABULARY = 100
LENGTHS = [1, 2, 30, 1, 9, 2, 150, 31, 8, 64]


@dataclass(frozen=True)
class Kind:
    """A model's module and options; printed as what differs from the defaults."""

    module: ModuleType
    options: Any

    def __str__(self) -> str:
        default = type(self.options)()
        changed = [
            f"{name}={value}" for name, value in vars(self.options).items() if value != getattr(default, name)
        ]
        return " ".join([self.module.__name__.rpartition(".")[2], *changed])

    def make(self, vocabulary: int = VOCABULARY, seed: int = 0) -> nn.Module:
        """A model with weights."""
        model = unfilled(lambda: self.module.Model(self.options, vocabulary))
        fill(model, torch.Generator().manual_seed(seed))
        return model


def size(model: nn.Module) -> int:
    """How many parameters."""
    return sum(parameter.numel() for parameter in model.parameters())


def random_documents(lengths: list[int], vocabulary: int = VOCABULARY, seed: int = 0) -> Documents:
    """Documents of independent uniform tokens."""
    rng = np.random.default_rng(seed)
    return Documents.of([rng.integers(0, vocabulary, length) for length in lengths])


def singles(documents: Documents) -> list[Documents]:
    """Each document as a batch of its own."""
    return [documents.take([index]) for index in range(len(documents))]


def gradients(model: nn.Module, batches: list[Documents]) -> list[Tensor]:
    """Of the summed loss of all batches."""
    objective = flm.Objective(flm.Options(), VOCABULARY)
    rng = np.random.default_rng(0)
    losses = [objective.loss(model, objective.examples(batch, rng))[0] for batch in batches]
    return list(torch.autograd.grad(torch.stack(losses).sum(), list(model.parameters())))


def close(actual: Tensor, expected: Tensor, tolerance: float) -> None:
    """Equal to an absolute tolerance."""
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)
