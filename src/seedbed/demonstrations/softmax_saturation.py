"""What large scores do to softmax: weights near one-hot, and derivatives near 0.

Sources: objectives 2.2, 2.4; recurrence 3.5; transformer 4.3; pretraining 5.
Derivatives are taken by complex steps, without any rule of differentiation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from seedbed.demonstrations.numpy_layers import Array, Parameters, complex_step, softmax
from seedbed.demonstrations.score_scaling import entropy
from seedbed.messages import require_at_least
from seedbed.observations import Observation, Scalar

NEEDS = ()

Numbers = NDArray[np.float64]

#: Words with what each is: a subject, a verb, a noun (objectives 2.2).
_WORDS = {
    "she": (1.0, 0.0, 0.0),
    "picks": (0.0, 1.0, 0.0),
    "her": (0.0, 0.0, 0.0),
    "ripe": (0.0, 0.0, 0.0),
    "plum": (0.0, 0.0, 1.0),
    "from": (0.0, 0.0, 0.0),
}


@dataclass(frozen=True)
class Options:
    """The scores."""

    gaps: tuple[float, ...] = (0.0, 1.0, 4.0, 8.0, 16.0, 30.0, 32.0)  # of the first score above the others, 0
    keys: tuple[int, ...] = (16, 32, 64)
    scores: tuple[float, ...] = (0.1, -0.2, 0.3, -0.2, 0.5)
    factors: tuple[float, ...] = (1.0, 8.0, 64.0, 512.0)  # of these scores
    lengths: tuple[float, ...] = (0.0, 1.0, 2.0, 4.0, 8.0)  # of a query that asks for the subject

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a gap or length below 0, fewer than two keys or scores, or two largest scores.
        """
        require_at_least(0, gaps=min(self.gaps, default=0), lengths=min(self.lengths, default=0))
        require_at_least(2, keys=min(self.keys, default=0))
        if list(self.scores).count(max(self.scores, default=0)) != 1 or len(self.scores) < 2:
            raise ValueError(f"scores {list(self.scores)}: expected two or more, one of them the largest")


def demonstrate(options: Options) -> Iterator[Observation]:
    """Numbers by ``keys`` and the ``gap`` of one score above the others, by ``factor`` of scores, by ``length``.

    Of a gap: ``weight_ratio`` of the first weight to another, ``other_derivative``, the largest derivative of
    another weight by a score, ``largest_derivative`` and ``jacobian_norm`` of all, ``formula_difference`` of the
    derivatives from diag(p) - p p^T, and ``projection_gradient``, the norm of the gradient of what attention
    gathers by the weights of the queries and of the keys. Of scores times a factor: ``max_weight``, ``entropy``,
    ``jacobian_norm`` and ``argmax_distance``, the largest difference from the one-hot vector of the largest score.
    ``onehot_jacobian`` is the largest entry of diag(p) - p p^T at such a vector, ``argmax_change`` the largest
    change of it where one score changes a little. ``uniform_entropy`` is that of equal scores. Of the length
    of a query: ``word_weight`` by word, and ``lookup_entropy``.
    """
    for keys in options.keys:
        yield Observation(
            "uniform_entropy", float(entropy(softmax(np.zeros((1, keys))))[0]), {"keys": keys}, "nat"
        )
        for gap in options.gaps:
            yield from _gap(gap, keys, options.keys[0])
    yield from _factors(options)
    yield from _lookup(options)


def derivatives(scores: Numbers) -> Numbers:
    """[weights, scores], of softmax."""

    def weight(place: int, given: Parameters) -> Array:
        return np.asarray(softmax(given["scores"][:, None])[:, 0, place])

    rows = (complex_step(partial(weight, place), {"scores": scores}) for place in range(len(scores)))
    return np.stack([row["scores"] for row in rows])


def _gap(gap: float, keys: int, first: int) -> Iterator[Observation]:
    scores = np.zeros(keys)
    scores[0] = gap
    of: dict[str, Scalar] = {"gap": gap, "keys": keys}
    weights, found = softmax(scores[None])[0], derivatives(scores)
    yield Observation("weight_ratio", float(weights[0] / weights[1]), of, "ratio")
    yield Observation("other_derivative", float(np.abs(found[1]).max()), of, "ratio")
    yield Observation("largest_derivative", float(np.abs(found).max()), of, "ratio")
    yield Observation("jacobian_norm", float(np.linalg.norm(found)), of, "ratio")
    formula = np.diag(weights) - np.outer(weights, weights)
    yield Observation("formula_difference", float(np.abs(found - formula).max()), of, "deviation")
    if keys == first:
        for name, gradient in _projection_gradients(gap, keys).items():
            yield Observation(
                "projection_gradient", float(np.linalg.norm(gradient)), {"gap": gap, "of": name}, "ratio"
            )


def _projection_gradients(gap: float, keys: int) -> dict[str, Array]:
    """A query that scores ``gap`` at the first of as many orthogonal keys; the values are 0, 1, 2 ..."""

    def gathered(parameters: Parameters) -> Array:
        query, key = parameters["query"][..., :, :1].swapaxes(-1, -2), parameters["key"]
        return np.asarray((softmax(query @ key) @ np.arange(keys))[..., 0])

    return complex_step(gathered, {"query": gap * np.eye(keys), "key": np.eye(keys)})


def _factors(options: Options) -> Iterator[Observation]:
    scores = np.array(options.scores)
    onehot = _onehot(scores)
    for factor in options.factors:
        of: dict[str, Scalar] = {"factor": factor}
        weights = softmax(factor * scores[None])
        yield Observation("max_weight", float(weights.max()), of, "share")
        yield Observation("entropy", float(entropy(weights)[0]), of, "nat")
        yield Observation("jacobian_norm", float(np.linalg.norm(derivatives(factor * scores))), of, "ratio")
        yield Observation("argmax_distance", float(np.abs(weights[0] - onehot).max()), of, "share")
    jacobian = np.diag(onehot) - np.outer(onehot, onehot)
    yield Observation("onehot_jacobian", float(np.abs(jacobian).max()), unit="ratio")
    moved = [_onehot(scores + sign * 1e-3 * one) for one in np.eye(len(scores)) for sign in (-1, 1)]
    yield Observation("argmax_change", float(max(np.abs(one - onehot).max() for one in moved)), unit="ratio")


def _onehot(scores: Numbers) -> Numbers:
    """1 where the largest score is, else 0."""
    return np.asarray(scores == scores.max(), np.float64)


def _lookup(options: Options) -> Iterator[Observation]:
    keys = np.array(list(_WORDS.values()))
    for length in options.lengths:
        weights = softmax(np.array([[length, 0.0, 0.0]]) @ keys.T)
        for word, weight in zip(_WORDS, weights[0], strict=True):
            yield Observation("word_weight", float(weight), {"length": length, "word": word}, "share")
        yield Observation("lookup_entropy", float(entropy(weights)[0]), {"length": length}, "nat")
