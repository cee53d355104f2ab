"""What becomes of weights that a mask hides, by the way in which it is applied: softmax by hand.

Lectures: objectives 2.5; recurrence 3.7; transformer 8.1 and exercise 4; pretraining 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.observations import Observation

NEEDS = ("rng",)

Numbers = NDArray[np.floating]
Allowed = NDArray[np.bool_]


@dataclass(frozen=True)
class Options:
    """The scores, and what a finite mask adds to them."""

    tokens: int = 5
    width: int = 4  # of vectors that are averaged
    penalty: float = -1e9

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: fewer than 2 tokens, no width, or a penalty that hides nothing.
        """
        if self.tokens < 2 or self.width < 1:
            raise ValueError(f"tokens {self.tokens}, width {self.width}: expected at least 2 and 1")
        if not self.penalty < -1000:
            raise ValueError(f"penalty {self.penalty}: expected far below 0, under -1000")


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """By the way in which a causal mask is applied: ``weight`` by query and key, and ``row_sum`` by query.

    ``hidden_weight`` is the largest weight that a mask should have hidden. Of a row that sees no key,
    ``nan_entries`` is the share of weights that are no number, ``from_uniform`` the largest distance from equal
    weights and ``from_unmasked`` from those without a mask; the last two are left out if there is no number.
    ``nan_rows`` counts the positions that are no number after each of two layers, if one position, which nobody
    sees, sees nothing in the first.
    """
    scores = rng.standard_normal((options.tokens, options.tokens))
    allowed = np.tri(options.tokens, dtype=bool)
    for rule, weights in _masked(scores, allowed, options.penalty).items():
        for (query, key), weight in np.ndenumerate(weights):
            yield Observation("weight", float(weight), {"mask": rule, "query": query, "key": key}, "share")
        for query, total in enumerate(weights.sum(1)):
            yield Observation("row_sum", float(total), {"mask": rule, "query": query}, "share")
        yield Observation("hidden_weight", float(weights[~allowed].max()), {"mask": rule}, "share")
    yield from _blind_row(scores[0], options.penalty)
    yield from _spread(scores, rng.standard_normal((options.tokens, options.width)))


def softmax(scores: Numbers) -> Numbers:
    """exp(s) / sum of exp(s) along the last axis, as it is written; 0/0 is no number."""
    with np.errstate(invalid="ignore"):
        powers = np.exp(scores)
        return np.asarray(powers / powers.sum(-1, keepdims=True))


def _masked(scores: Numbers, allowed: Allowed, penalty: float) -> dict[str, Numbers]:
    """[queries, keys], the weights by way of masking."""
    return {
        "none": softmax(scores),
        "minus infinity": softmax(scores + np.where(allowed, 0, -np.inf)),
        "penalty": softmax(scores + (1 - allowed) * penalty),
        "multiplied after": softmax(scores) * allowed,
    }


def _shifted(scores: Numbers) -> Numbers:
    """Softmax without overflow and underflow: the largest score is taken off all."""
    return softmax(scores - scores.max(-1, keepdims=True))


def _blind_row(scores: Numbers, penalty: float) -> Iterator[Observation]:
    """A query that may see nothing; with a finite penalty all depends on how it is applied."""
    single = scores.astype(np.float32)
    found = {
        "minus infinity": softmax(np.full_like(scores, -np.inf)),
        "penalty replaces": _shifted(np.full_like(scores, penalty)),
        "penalty added in 32 bits": _shifted(single + np.float32(penalty)),
        "penalty added in 64 bits": _shifted(scores + penalty),
    }
    for rule, weights in found.items():
        missing = np.isnan(weights)
        yield Observation("nan_entries", float(missing.mean()), {"mask": rule}, "share")
        if not missing.any():
            for metric, other in (("from_uniform", 1 / len(scores)), ("from_unmasked", softmax(scores))):
                yield Observation(metric, float(np.abs(weights - other).max()), {"mask": rule}, "share")


def _spread(scores: Numbers, vectors: Numbers) -> Iterator[Observation]:
    """The last position is hidden from all, and sees nothing in the first layer; weights of 0 stop no NaN."""
    hidden = np.zeros_like(scores)
    hidden[:, -1] = -np.inf
    blind = hidden.copy()
    blind[-1] = -np.inf
    for layer, mask in ((1, blind), (2, hidden)):
        vectors = softmax(scores + mask) @ vectors
        yield Observation("nan_rows", int(np.isnan(vectors).any(1).sum()), {"layer": layer}, "count")
