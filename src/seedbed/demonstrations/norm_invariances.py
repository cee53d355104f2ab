"""What layer norm does not see: the scale and the mean of a token's numbers (recurrence 4.3).

PyTorch adds ``eps`` to the variance, so that another scale changes the output a little.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from seedbed.messages import require_positive
from seedbed.observations import Observation

NEEDS = ("rng",)


@dataclass(frozen=True)
class Options:
    """The tokens, and what is done to them."""

    tokens: int = 8
    width: int = 64
    deviation: float = 3  # of the numbers; the lecture does not say its own
    factor: float = 100
    shift: float = 7

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a number that is not above 0.
        """
        require_positive(tokens=self.tokens, width=self.width)
        for name in ("deviation", "factor", "shift"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} {getattr(self, name)}: expected above 0")


@torch.no_grad()
def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """The largest ``change`` of the output, and ``change_formula`` where all numbers are scaled.

    The numbers are ``scaled``, ``shifted``, or each token is scaled by a factor of its own. The formula is the
    largest output times eps over twice its token's variance, less the same after scaling. ``mean`` and
    ``variance`` are those of the outputs of a token, the ones farthest from 0 and 1.
    """
    numbers = torch.from_numpy(options.deviation * rng.standard_normal((options.tokens, options.width)))
    factors = torch.from_numpy(rng.uniform(1, options.factor, (options.tokens, 1)))
    layer = nn.LayerNorm(options.width).double()
    plain = layer(numbers)
    changed = {
        "scaled": options.factor * numbers,
        "shifted": numbers + options.shift,
        "each scaled": factors * numbers,
    }
    for name, given in changed.items():
        yield Observation("change", float((layer(given) - plain).abs().max()), {"numbers": name}, "number")
    yield Observation("change_formula", _formula(plain, numbers, options.factor, layer.eps), {}, "number")
    yield Observation("mean", float(plain.mean(1).abs().max()), {}, "number")
    variances = plain.var(1, correction=0)
    yield Observation("variance", float(variances[(variances - 1).abs().argmax()]), {}, "number")


def _formula(plain: Tensor, numbers: Tensor, factor: float, eps: float) -> float:
    """To first order in eps."""
    variances = numbers.var(1, correction=0, keepdim=True)
    return float((plain.abs() * eps / 2 * (1 / variances - 1 / (factor**2 * variances))).max())
