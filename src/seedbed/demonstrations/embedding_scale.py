"""How long are the vectors of tokens and of positions that a Transformer adds (transformer 6.2, 6.6)?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from seedbed.messages import require_positive
from seedbed.models.embedding import Embedding
from seedbed.models.positions import position_vectors
from seedbed.observations import Observation, Scalar

NEEDS = ("rng",)


@dataclass(frozen=True)
class Options:
    """Sizes of both tables."""

    width: int = 64
    vocabulary: int = 12  # tokens
    positions: int = 64

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, fewer than two positions, or an odd width.
        """
        require_positive(vocabulary=self.vocabulary, width=self.width)
        if self.width % 2:
            raise ValueError(f"width {self.width}: expected an even number, a sine and a cosine for each pair")
        if self.positions < 2:
            raise ValueError(f"positions {self.positions}: expected at least 2, to compare neighbours")


@torch.no_grad()
def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """Lengths by ``deviation`` of the initial entries, one or 1 / sqrt(width), and by whether they are ``scaled``.

    ``embedding_norm`` is the mean length of a token's vector that enters the network, ``norm_ratio`` that divided
    by ``position_norm``, the mean length of a sinusoidal position's vector. ``column_change`` is the mean change
    of the position vectors' entries from one position to the next, by pair of columns.
    """
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    positions = position_vectors(torch.arange(options.positions), options.width).double()
    position_norm = float(positions.norm(dim=1).mean())
    yield Observation("position_norm", position_norm, unit="deviation")
    for name, deviation in (("one", 1.0), ("root", options.width**-0.5)):
        for scaled in (False, True):
            table = Embedding(options.vocabulary, options.width, deviation, scaled)
            table.draw(generator)
            norm = float(table(torch.arange(options.vocabulary)).norm(dim=1).mean())
            of: dict[str, Scalar] = {"deviation": name, "scaled": "yes" if scaled else "no"}
            yield Observation("embedding_norm", norm, of, "deviation")
            yield Observation("norm_ratio", norm / position_norm, of, "ratio")
    changes = positions.diff(dim=0).abs().mean(0).view(-1, 2).mean(1)
    for pair, change in enumerate(changes.tolist()):
        yield Observation("column_change", change, {"pair": pair}, "deviation")
