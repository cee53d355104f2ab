"""How widely scores spread by the width of their vectors, and what a divisor of them does to attention.

A query is scored against keys, all with independent components of mean 0. The scores are divided by nothing, by
the root of the width, or by the width (objectives 2.4, exercise 2; recurrence 3.5, exercise 4; transformer 4,
exercises 2 and 9; pretraining 5; Vaswani et al. 2017, section 3.2.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from seedbed.demonstrations import numpy_layers
from seedbed.messages import require_at_least, require_positive
from seedbed.observations import Observation, Scalar

NEEDS = ("rng",)

Numbers = NDArray[np.float64]

#: This many queries are scored against the same keys; each query alone has the same distribution as with keys of
#: its own.
_SHARED = 100


@dataclass(frozen=True)
class Options:
    """Widths, and the numbers of what is drawn."""

    widths: tuple[int, ...] = (4, 16, 64, 256, 1024)  # of a query and a key, d_k
    keys: tuple[int, ...] = (16, 32, 64)
    queries: int = 2000
    deviations: tuple[float, ...] = (0.5, 2.0)  # of the components, beside 1
    model_width: int = 256  # of the vectors that are projected to queries and keys
    head_width: int = 64  # of these queries and keys
    inputs: tuple[int, ...] = (16, 256)  # of a linear unit

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, fewer than two keys, or a deviation that is not above 0.
        """
        require_positive(queries=self.queries, model_width=self.model_width, head_width=self.head_width)
        require_at_least(1, widths=min(self.widths, default=0), inputs=min(self.inputs, default=1))
        require_at_least(2, keys=min(self.keys, default=0))
        if not all(deviation > 0 for deviation in self.deviations):
            raise ValueError(f"deviations {list(self.deviations)}: expected each above 0")


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """By width ``d_k`` and divisor: ``score_mean``, ``score_deviation``, and statistics of softmax by ``keys``.

    ``score_difference`` is the mean distance of two keys' scores. ``max_weight``, ``entropy`` and
    ``jacobian_norm`` (Frobenius, of the weights by the scores) are means over queries; ``saturated_share`` is the
    share of queries with a weight above 0.99. ``term_mean`` and ``term_variance`` are of a product of two
    components, and ``score_variance`` of their sum, by the components' deviation ``sigma``; ``divided_deviation``
    is that of scores divided by σ² sqrt(d_k). ``component_variance`` and ``attended_share`` are of queries and
    keys that are projected from vectors of variance 1 by weights of an ``initial`` variance of 1 / width or of
    PyTorch's rule; the share is exp(entropy) relative to the keys. ``unit_variance`` is that of a sum of weighted
    inputs that are halved at 0, ``unit_formula`` n Var(w) E[x²]. ``output_change`` compares attention without a
    divisor and attention with one whose query weights are sqrt(d_k) times as large, after ``steps`` of gradient
    descent.
    """
    for width in options.widths:
        scores = _scores(width, 1.0, options.queries, options, rng)
        yield from _variance(scores, width, 1.0)
        for deviation in options.deviations:
            yield from _variance(
                _scores(width, deviation, -(-options.queries // 2), options, rng), width, deviation
            )
        for divisor, by in (("none", 1.0), ("root", width**0.5), ("width", float(width))):
            of: dict[str, Scalar] = {"d_k": width, "divisor": divisor}
            divided = scores / by
            yield Observation("score_mean", float(divided.mean()), of, "score")
            yield Observation("score_deviation", float(divided.std()), of, "score")
            distance = float(np.abs(divided[:, 0] - divided[:, 1]).mean())
            yield Observation("score_difference", distance, of, "score")
            for keys in options.keys:
                yield from _softmax(divided[:, :keys], of | {"keys": keys})
    for deviation in (1.0, *options.deviations):
        terms = np.prod(rng.normal(0, deviation, (2, 20_000)), axis=0)
        yield Observation("term_mean", float(terms.mean()), {"sigma": deviation}, "score")
        yield Observation("term_variance", float(terms.var()), {"sigma": deviation}, "score")
    yield from _projected(options, rng)
    yield from _units(options, rng)
    yield from _without_divisor(options, rng)


def _scores(width: int, deviation: float, number: int, options: Options, rng: np.random.Generator) -> Numbers:
    """[number of queries, keys], dot products of queries and keys with normal components."""
    blocks = -(-number // _SHARED)
    queries = rng.normal(0, deviation, (blocks, _SHARED, width))
    keys = rng.normal(0, deviation, (blocks, max(options.keys), width))
    scores: Numbers = (queries @ keys.swapaxes(1, 2)).reshape(-1, max(options.keys))
    return scores[:number]


def _softmax(scores: Numbers, of: dict[str, Scalar]) -> Iterator[Observation]:
    weights = numpy_layers.softmax(scores)
    largest = weights.max(1)
    yield Observation("max_weight", float(largest.mean()), of, "share")
    yield Observation("entropy", float(entropy(weights).mean()), of, "nat")
    yield Observation("jacobian_norm", float(jacobian_norm(weights).mean()), of, "ratio")
    yield Observation("saturated_share", float((largest > 0.99).mean()), of, "share")


def entropy(weights: Numbers) -> Numbers:
    """[queries], of weights [queries, keys], in nats."""
    return np.asarray(-(weights * np.log(np.where(weights > 0, weights, 1))).sum(-1))


def jacobian_norm(weights: Numbers) -> Numbers:
    """[queries], the Frobenius norm of diag(p) - p p^T, from the sums of its squares on and off the diagonal."""
    squares = weights**2
    total = squares.sum(-1)
    on = (squares * (1 - weights) ** 2).sum(-1)
    off = total**2 - (squares**2).sum(-1)
    return np.asarray(np.sqrt(on + np.maximum(off, 0)))


def _variance(scores: Numbers, width: int, deviation: float) -> Iterator[Observation]:
    of: dict[str, Scalar] = {"d_k": width, "sigma": deviation}
    yield Observation("score_variance", float(scores.var()), of, "score")
    divided = scores / (deviation**2 * width**0.5)
    yield Observation("divided_deviation", float(divided.std()), of, "score")


def _projected(options: Options, rng: np.random.Generator) -> Iterator[Observation]:
    """Queries and keys of random weights, for random vectors of 16, 32 ... tokens that attend to each other."""
    width, head = options.model_width, options.head_width
    for initial, spread in (("variance", 1 / width), ("pytorch", 1 / (3 * width))):
        bound = (3 * spread) ** 0.5  # a uniform distribution with this variance
        components, scores, shares = [], [], []
        for _ in range(8):
            vectors = rng.standard_normal((max(options.keys), width))
            query, key = (vectors @ rng.uniform(-bound, bound, (width, head)) for _ in range(2))
            components += [query, key]
            scores.append(query @ key.T / head**0.5)
            shares.append(np.exp(entropy(numpy_layers.softmax(scores[-1]))) / max(options.keys))
        of = {"initial": initial}
        yield Observation("component_variance", float(np.var(components)), of, "deviation")
        yield Observation("projected_deviation", float(np.std(scores)), of, "score")
        yield Observation("attended_share", float(np.mean(shares)), of, "share")


def _units(options: Options, rng: np.random.Generator) -> Iterator[Observation]:
    """A sum of inputs of mean 0.4 with random weights: its variance, and that of the derivation."""
    for inputs, spread in product(options.inputs, ("one", "one over inputs")):
        deviation = 1.0 if spread == "one" else inputs**-0.5
        given = np.maximum(rng.standard_normal((5_000, inputs)), 0)
        weights = rng.normal(0, deviation, (5_000, inputs))
        of: dict[str, Scalar] = {"inputs": inputs, "weights": spread}
        yield Observation("unit_variance", float((given * weights).sum(1).var()), of, "score")
        yield Observation("unit_formula", inputs * float(weights.var() * (given**2).mean()), of, "score")


def _without_divisor(options: Options, rng: np.random.Generator) -> Iterator[Observation]:
    """Attention without a divisor, and with larger query weights, before and after a step of gradient descent."""
    width, tokens = 16, 16
    vectors, asked = rng.standard_normal((2, tokens, width))
    parameters = {f"{name}.weight": rng.normal(0, width**-0.5, (width, width)) for name in ("query", "key")}
    larger = parameters | {"query.weight": parameters["query.weight"] * width**0.5}
    for steps in (0, 1):
        plain, scaled = _attended(vectors, parameters, 1.0), _attended(vectors, larger, width**0.5)
        change = float(np.abs(plain - scaled).max())
        yield Observation("output_change", change, {"steps": steps}, "deviation")
        parameters, larger = (
            _descended(vectors, asked, parameters, 1.0),
            _descended(vectors, asked, larger, width**0.5),
        )


def _attended(vectors: Numbers, parameters: numpy_layers.Parameters, divisor: float) -> numpy_layers.Array:
    query, key = (vectors @ parameters[f"{name}.weight"].swapaxes(-1, -2) for name in ("query", "key"))
    return np.asarray(numpy_layers.softmax(query @ key.swapaxes(-1, -2) / divisor) @ vectors)


def _descended(
    vectors: Numbers, asked: Numbers, parameters: numpy_layers.Parameters, divisor: float
) -> dict[str, numpy_layers.Array]:
    """The parameters after a step that lowers a weighted sum of the outputs."""
    gradients = numpy_layers.complex_step(
        lambda given: (_attended(vectors, given, divisor) * asked).sum((-1, -2)), parameters
    )
    return {name: value - 0.1 * gradients[name] for name, value in parameters.items()}
