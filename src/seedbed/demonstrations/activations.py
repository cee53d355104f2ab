"""GELU beside ReLU: the same far from 0, smooth at 0 (recurrence 4.2; Hendrycks and Gimpel 2016)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch.nn import functional as F

from seedbed.messages import require_positive
from seedbed.observations import Observation

NEEDS = ()


@dataclass(frozen=True)
class Options:
    """Where both are compared."""

    shown: tuple[float, ...] = (
        -6,
        -4,
        -3,
        -2,
        -1.5,
        -1,
        -0.75,
        -0.5,
        -0.25,
        0,
        0.25,
        0.5,
        0.75,
        1,
        1.5,
        2,
        3,
        4,
        6,
    )
    points: int = 20001  # between the least and the largest of these, where the largest gap is looked for

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: no two points.
        """
        require_positive(points=self.points)
        if len(set(self.shown)) < 2:
            raise ValueError(f"shown {list(self.shown)}: expected two different numbers")


def demonstrate(options: Options) -> Iterator[Observation]:
    """``output`` by function and input; ``largest_gap`` between both, its ``gap_place``; GELU's ``slope`` at 0."""
    for at in options.shown:
        given = torch.tensor(at, dtype=torch.double)
        for name, function in (("gelu", F.gelu), ("relu", F.relu)):
            yield Observation("output", float(function(given)), {"function": name, "input": at}, "number")
    every = torch.linspace(min(options.shown), max(options.shown), options.points, dtype=torch.double)
    gaps = (F.gelu(every) - F.relu(every)).abs()
    yield Observation("largest_gap", float(gaps.max()), {}, "number")
    yield Observation("gap_place", float(every[gaps.argmax()].abs()), {}, "number")
    zero = torch.zeros((), dtype=torch.double, requires_grad=True)
    (slope,) = torch.autograd.grad(F.gelu(zero), zero)
    yield Observation("slope", float(slope), {}, "ratio")
