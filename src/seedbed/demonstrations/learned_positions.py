"""A table of learned positions ends; a sinusoidal vector can be written for any position.

Lectures: recurrence 3.9; transformer 6.5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from seedbed.demonstrations.numpy_positions import require_pairs, vectors
from seedbed.messages import require_at_least
from seedbed.models.positions import LearnedPositions, position_vectors
from seedbed.observations import Observation

NEEDS = ()


@dataclass(frozen=True)
class Options:
    """The table, GPT-2's but for its width, and how much is read with it."""

    rows: int = 1024
    width: int = 64
    tokens: tuple[int, ...] = (1, 100, 1024, 1025, 10240)

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: an odd width, a table without rows, or nothing to read.
        """
        require_pairs(self.width)
        require_at_least(1, rows=self.rows, tokens=min(self.tokens, default=0))


def demonstrate(options: Options) -> Iterator[Observation]:
    """What the table has, and what a document of some tokens gets from it and from sinusoids.

    ``table_shape`` is by axis. ``refused`` is 1 if the document is longer than the encoding (``positions``) can
    tell, else 0. ``moved_rows`` counts the rows of the table that its gradient moves. ``sinusoid_difference`` is
    the largest difference of the sinusoidal vectors from NumPy's, at all positions.
    """
    table = LearnedPositions(options.rows, options.width, 0)
    nn.init.zeros_(table.weight)  # no observation depends on the entries
    for axis, size in zip(("rows", "columns"), table.weight.shape, strict=True):
        yield Observation("table_shape", size, {"axis": axis}, "count")
    for tokens in options.tokens:
        for name, read in _read(table, torch.arange(tokens)).items():
            refused = float(read is None)
            yield Observation("refused", refused, {"positions": name, "tokens": tokens}, "share")
            if read is not None and name == "learned":
                (gradient,) = torch.autograd.grad(read.sum(), table.weight)
                yield Observation("moved_rows", int(gradient.any(1).sum()), {"tokens": tokens}, "count")
            elif read is not None:
                formula = vectors(range(tokens), options.width)
                difference = float(np.abs(read.double().numpy() - formula).max())
                yield Observation("sinusoid_difference", difference, {"tokens": tokens}, "number")


def _read(table: LearnedPositions, positions: Tensor) -> dict[str, Tensor | None]:
    """By encoding, the vectors of some positions, or None if it refuses them."""
    encodings: dict[str, Callable[[Tensor], Tensor]] = {
        "learned": table,
        "sinusoidal": lambda asked: position_vectors(asked, table.weight.shape[1]),
    }
    found: dict[str, Tensor | None] = {}
    for name, encoding in encodings.items():
        try:
            found[name] = encoding(positions)
        except ValueError:
            found[name] = None
    return found
