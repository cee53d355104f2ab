"""Tokens to vectors and back."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F


def select_rows(rows: Tensor, scored: Int[Tensor, " scored"] | None) -> Tensor:
    """The rows of the scored tokens, given one row for each token; None is all, without a copy."""
    return rows if scored is None else rows.index_select(0, scored)


class Embedding(nn.Module):
    """One vector for each token of the vocabulary: the input, and also an output layer without a bias."""

    def __init__(self, vocabulary: int, width: int, std: float, scale: bool) -> None:
        """Make the table.

        Args:
            vocabulary: How many tokens there are.
            width: Of a vector.
            std: Of the initial entries.
            scale: Whether an input vector is multiplied by the root of the width (Vaswani et al. 2017, 3.4).
        """
        super().__init__()
        self.std = std
        self.factor = math.sqrt(width) if scale else 1.0
        self.weight = nn.Parameter(torch.empty(vocabulary, width))

    def draw(self, generator: torch.Generator) -> None:
        """Fill the table from N(0, std)."""
        self.weight.normal_(0, self.std, generator=generator)

    def forward(self, tokens: Int[Tensor, " tokens"]) -> Float[Tensor, "tokens width"]:
        """The tokens' vectors."""
        return F.embedding(tokens, self.weight * self.factor)  # the table is smaller than the batch

    def logits(self, hidden: Float[Tensor, "tokens width"]) -> Float[Tensor, "tokens vocabulary"]:
        """The dot product of each vector with every token's."""
        return F.linear(hidden, self.weight)
