"""A head that looks at the position before: one matrix of queries, the same at every position (transformer 6.4).

It reads position vectors without words. Queries are vector(p) W with W = β M, where M moves a vector back by one
position; keys are the vectors themselves. By transformer exercise 6, the head without M knows no direction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from seedbed.batching import Mask
from seedbed.demonstrations.numpy_positions import Numbers, require_pairs, rotation
from seedbed.messages import require_at_least
from seedbed.models.attention import attention_weights
from seedbed.models.positions import sinusoidal
from seedbed.observations import Observation, Scalar

NEEDS = ()


@dataclass(frozen=True)
class Options:
    """The vectors, and how strongly the head asks. The lecture's table of β is lost."""

    width: int = 64
    positions: tuple[int, ...] = (20, 300)
    betas: tuple[float, ...] = (1, 2, 4, 8, 16)
    shown: float = 8  # the β whose weights are shown
    queries: int = 10  # first positions whose weights are shown

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: an odd width, too few positions, or a β to show that is none of them.
        """
        require_pairs(self.width)
        require_at_least(3, positions=min(self.positions, default=0))
        require_at_least(1, queries=self.queries)
        if self.shown not in self.betas:
            raise ValueError(f"shown {self.shown:g}: expected one of betas {list(self.betas)}")


def demonstrate(options: Options) -> Iterator[Observation]:
    """By number of positions, β and head: the mean ``weight`` on the position before, on itself and after.

    The heads are ``shifted``, with M, and ``plain``, without. Means are over the positions that have both
    neighbours. ``hits`` are the positions whose largest weight is on the one before, of those that have one.
    ``query_difference`` is the largest difference of the queries M gives from the vectors of the positions before.
    ``shown_weight`` is by query and key of the first number of positions.
    """
    for positions in options.positions:
        vectors = np.asarray(sinusoidal(positions, options.width).double().numpy())
        queries = {"shifted": vectors @ rotation(-1, options.width), "plain": vectors}
        difference = float(np.abs(queries["shifted"][1:] - vectors[:-1]).max())
        yield Observation("query_difference", difference, {"positions": positions}, "number")
        for beta in options.betas:
            for head, asked in queries.items():
                weights = _weights(beta * asked, vectors)
                of: dict[str, Scalar] = {"positions": positions, "beta": beta, "head": head}
                for to, mean in _around(weights).items():
                    yield Observation("weight", mean, of | {"to": to}, "share")
                hits = int((weights.argmax(1)[1:] == np.arange(positions - 1)).sum())
                yield Observation("hits", hits, of, "position")
    first = np.asarray(sinusoidal(options.positions[0], options.width).double().numpy())
    shown = _weights(options.shown * first @ rotation(-1, options.width), first)
    for query, row in enumerate(shown[: options.queries]):
        for key, weight in enumerate(row):
            yield Observation("shown_weight", float(weight), {"query": query, "key": key}, "share")


def _weights(queries: Numbers, keys: Numbers) -> Numbers:
    """[queries, keys], as our networks compute them, with nothing hidden."""
    everything = Mask.of(torch.ones(1, len(queries), len(keys), dtype=torch.bool))
    weights = attention_weights(torch.from_numpy(queries)[None], torch.from_numpy(keys)[None], everything)
    return np.asarray(weights[0].numpy())


def _around(weights: Numbers) -> dict[str, float]:
    """The mean weight on the position before, on itself and after."""
    inner = np.arange(1, len(weights) - 1)
    return {
        to: float(weights[inner, inner + step].mean())
        for to, step in (("before", -1), ("itself", 0), ("after", 1))
    }
