"""Position encodings of a Transformer: added to its input, or inside attention."""

from __future__ import annotations

from functools import cache

import torch
from jaxtyping import Complex, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F


@cache
def sinusoidal(length: int, width: int) -> Float[Tensor, "length width"]:
    """Position vectors of Vaswani et al. 2017, section 3.5: sine in even, cosine in odd columns.

    Columns 2i and 2i + 1 rotate by 10000^(-2i / width) for each position, so that the dot product of two vectors
    depends on their distance only.

    Raises:
        ValueError: the width is odd, so that one sine would have no cosine.
    """
    if width % 2:
        raise ValueError(f"sinusoidal positions need an even width, not {width}")
    position = torch.arange(length, dtype=torch.float64)[:, None]
    angles = position * 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()


def position_vectors(positions: Int[Tensor, " tokens"], width: int) -> Float[Tensor, "tokens width"]:
    """The sinusoidal vector of each position; the table grows by doubling."""
    longest = int(positions.max()) + 1 if len(positions) else 1
    return sinusoidal(max(64, 1 << (longest - 1).bit_length()), width).index_select(0, positions)


class LearnedPositions(nn.Module):
    """A vector for each position, learned as the embedding is. Positions that no document reaches never move."""

    def __init__(self, length: int, width: int, std: float) -> None:
        """Make the table.

        Args:
            length: How many positions.
            width: Of a vector.
            std: Of the initial entries.
        """
        super().__init__()
        self.std = std
        self.weight = nn.Parameter(torch.empty(length, width))

    def draw(self, generator: torch.Generator) -> None:
        """Fill the table from N(0, std)."""
        self.weight.normal_(0, self.std, generator=generator)

    def forward(self, positions: Int[Tensor, " tokens"]) -> Float[Tensor, "tokens width"]:
        """The vector of each position.

        Raises:
            ValueError: a document is longer than the table.
        """
        longest = int(positions.max()) + 1 if len(positions) else 0
        if longest > len(self.weight):
            raise ValueError(
                f"a document of {longest} tokens is longer than the table of learned positions; "
                f"raise max_positions, which is {len(self.weight)}"
            )
        return F.embedding(positions, self.weight)


def rotations(positions: Int[Tensor, " tokens"], width: int) -> Complex[Tensor, "tokens pairs"]:
    """The rotation of each pair of columns at each position (RoPE; Su et al. 2021, section 3.2.2).

    Columns 2i and 2i + 1 are the real and imaginary part of a number that rotates by 10000^(-2i / width) for each
    position: the angles of the sinusoidal vectors. The product of a query and a key then depends on their distance
    only.

    Raises:
        ValueError: the width is odd.
    """
    sine, cosine = position_vectors(positions, width).view(-1, width // 2, 2).unbind(2)
    return torch.complex(cosine, sine)


def slopes(heads: int) -> list[float]:
    """How steeply each head discounts distance (ALiBi; Press et al. 2022, section 3).

    A geometric sequence from 2^(-8 / heads) to 2^-8. For a number of heads that is no power of two, as in the
    authors' code: the slopes of the power below, and then every other one of the power above.
    """
    below = 1 << (heads.bit_length() - 1)
    sequence = [2 ** (-8 * (head + 1) / below) for head in range(below)]
    return sequence if heads == below else sequence + slopes(2 * below)[::2][: heads - below]


def distance_bias(
    query: Int[Tensor, "queries 1"], key: Int[Tensor, " keys"], heads: int
) -> Float[Tensor, "1 heads queries keys"]:
    """What ALiBi adds to the scores: minus slope times distance, head by head.

    The paper is causal; where a prefix may look ahead, distance counts forward as it does backward.
    """
    distance = (query - key).abs()
    return -torch.tensor(slopes(heads))[None, :, None, None] * distance
