"""Tokens to vectors and back, and where a token stands."""

from __future__ import annotations

import math
from functools import cache

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F


class Embedding(nn.Module):
    """One vector a token, read in both directions: as input, and as output layer without a bias."""

    def __init__(self, vocabulary: int, width: int, std: float, scale: bool) -> None:
        """Make the table.

        Args:
            vocabulary: How many tokens.
            width: Of a vector.
            std: Of the initial entries.
            scale: Whether an input vector is multiplied by the root of the width (Vaswani et al. 2017, 3.4).
        """
        super().__init__()
        self.std = std
        self.factor = math.sqrt(width) if scale else 1.0
        self.weight = nn.Parameter(torch.empty(vocabulary, width))

    def forward(self, tokens: Int[Tensor, " tokens"]) -> Float[Tensor, "tokens width"]:
        """The tokens' vectors."""
        return F.embedding(tokens, self.weight * self.factor)  # the table is smaller than the batch

    def logits(self, hidden: Float[Tensor, "tokens width"]) -> Float[Tensor, "tokens vocabulary"]:
        """The dot product of each vector with every token's."""
        return F.linear(hidden, self.weight)


@cache
def sinusoidal(length: int, width: int) -> Float[Tensor, "length width"]:
    """Position vectors of Vaswani et al. 2017, section 3.5: sine in even, cosine in odd columns.

    Columns 2i and 2i + 1 turn by 10000^(-2i / width) a position, so that the dot product of two vectors depends on
    their distance only.

    Raises:
        ValueError: the width is odd, so that one sine would have no cosine.
    """
    if width % 2:
        raise ValueError(f"sinusoidal positions need an even width, not {width}")
    place = torch.arange(length, dtype=torch.float64)[:, None]
    angles = place * 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()


def position_vectors(positions: Int[Tensor, " tokens"], width: int) -> Float[Tensor, "tokens width"]:
    """The sinusoidal vector of each position; the table grows by doubling."""
    longest = int(positions.max()) + 1 if len(positions) else 1
    return sinusoidal(max(64, 1 << (longest - 1).bit_length()), width).index_select(0, positions)
