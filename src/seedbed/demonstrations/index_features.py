"""Why a position's number is no good feature: no bound, or steps that depend on the length (transformer 6.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seedbed.demonstrations.numpy_positions import Numbers, require_pairs
from seedbed.messages import require_at_least
from seedbed.models.positions import sinusoidal
from seedbed.observations import Observation, Scalar

NEEDS = ()


@dataclass(frozen=True)
class Options:
    """How long the sentences are, and what their positions are compared with."""

    lengths: tuple[int, ...] = (10, 100, 1000)
    width: int = 64

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: an odd width, or a sentence without neighbours.
        """
        require_pairs(self.width)
        require_at_least(2, length=min(self.lengths, default=0))


def demonstrate(options: Options) -> Iterator[Observation]:
    """By feature and length: its ``largest`` absolute entry, and the ``step`` from a position to the next.

    The features are the position's number (``index``), that divided by the length (``fraction``), and the
    sinusoidal vector (``sinusoidal``). The step is the mean distance of two neighbours; ``distinct`` is the number
    of different features, to six digits.
    """
    for length in options.lengths:
        index = np.arange(length, dtype=np.float64)[:, None]
        features: dict[str, Numbers] = {
            "index": index,
            "fraction": index / length,
            "sinusoidal": np.asarray(sinusoidal(length, options.width).double().numpy()),
        }
        for name, feature in features.items():
            of: dict[str, Scalar] = {"feature": name, "length": length}
            yield Observation("largest", float(np.abs(feature).max()), of, "number")
            step = float(np.linalg.norm(np.diff(feature, axis=0), axis=1).mean())
            yield Observation("step", step, of, "number")
            yield Observation("distinct", len(np.unique(feature.round(6), axis=0)), of, "count")
