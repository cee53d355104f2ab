"""How much the last output depends on each input, by distance, in an untrained RNN and in untrained attention.

The measure is the Frobenius norm of the derivative, written out by hand (transformer 1.2). The lecture does not
say its network's width and weights: 32 and normal ones of variance 1 / width give figures like its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.demonstrations import numpy_layers
from seedbed.messages import require_positive
from seedbed.observations import Observation, Scalar

NEEDS = ("rng",)

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Options:
    """Sizes, and over which distances means are taken."""

    width: int = 32
    tokens: int = 64
    sequences: int = 5
    distances: tuple[int, ...] = (0, 1, 2, 4, 8, 16, 32, 48, 63)  # those that are shown one by one
    near: int = 8  # the largest near distance
    far: int = 32  # the least far distance

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, near and far that overlap or exceed the sequence, or a distance that no two
                tokens have.
        """
        require_positive(**{name: value for name, value in vars(self).items() if name != "distances"})
        if not self.near < self.far < self.tokens:
            raise ValueError(f"near {self.near}, far {self.far}: expected near < far < tokens {self.tokens}")
        if not all(0 <= distance < self.tokens for distance in self.distances):
            raise ValueError(
                f"distances {list(self.distances)}: expected each from 0 and below tokens {self.tokens}"
            )


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """By network and distance: ``sensitivity``, a mean over sequences, and ``log10_sensitivity``, its logarithm.

    ``mean_sensitivity`` is that over near and over far distances, ``smallest`` and ``largest`` are the extremes
    without distance 0. ``persistence`` is how fast the logarithm falls from ``far`` to the end, a step, relative
    to how fast it falls from 1 to ``far``: 1 if the decay is exponential, less if it slows down.
    """
    width, sequences = options.width, rng.standard_normal((options.sequences, options.tokens, options.width))
    recurrent, inputs, query, key, value = rng.standard_normal((5, width, width)) / np.sqrt(width)
    found = {
        "rnn": np.mean([rnn_norms(one, recurrent, inputs) for one in sequences], axis=0),
        "attention": np.mean([attention_norms(one, query, key, value) for one in sequences], axis=0),
    }
    for network, norms in found.items():
        of: dict[str, Scalar] = {"network": network}
        logarithms = np.log10(norms)
        for distance in options.distances:
            at: dict[str, Scalar] = {**of, "distance": distance}
            yield Observation("sensitivity", float(norms[distance]), at, "deviation")
            yield Observation("log10_sensitivity", float(logarithms[distance]), at, "decade")
        for part, distances in (("near", slice(1, options.near + 1)), ("far", slice(options.far, None))):
            mean = float(norms[distances].mean())
            yield Observation("mean_sensitivity", mean, {**of, "distances": part}, "deviation")
        yield Observation("smallest", float(norms[1:].min()), of, "deviation")
        yield Observation("largest", float(norms[1:].max()), of, "deviation")
        last = len(norms) - 1
        early = (logarithms[1] - logarithms[options.far]) / (options.far - 1)
        late = (logarithms[options.far] - logarithms[last]) / (last - options.far)
        yield Observation("persistence", float(late / early), of, "share")


def rnn_norms(sequence: Numbers, recurrent: Numbers, inputs: Numbers) -> Numbers:
    """[distances], of the last state of h' = tanh(W h + U x) by each input, the last one first.

    Args:
        sequence: [tokens, width].
        recurrent: [width, width], W.
        inputs: [width, width], U.
    """
    state, slopes = np.zeros(len(recurrent)), []
    for vector in sequence:
        state = np.tanh(recurrent @ state + inputs @ vector)
        slopes.append(1 - state**2)
    norms, behind = [], np.eye(len(recurrent))  # the derivative of the last state by the state after each step
    for slope in reversed(slopes):
        before = behind * slope
        norms.append(np.linalg.norm(before @ inputs))
        behind = before @ recurrent
    return np.array(norms)


def attention_norms(sequence: Numbers, query: Numbers, key: Numbers, value: Numbers) -> Numbers:
    """[distances], of the last output of attention by each input, the last one first.

    An input enters by its value, weighted, and by its score, which moves the output towards that value. The last
    one also asks: its query moves all scores.

    Args:
        sequence: [tokens, width].
        query: [width, width], as the other two, for column vectors.
        key: Of keys.
        value: Of values.
    """
    asked, keys, values = query @ sequence[-1], sequence @ key.T, sequence @ value.T
    root = np.sqrt(len(asked))
    weights = numpy_layers.softmax((keys @ asked)[None] / root)[0]
    pull = weights[:, None] * (values - weights @ values)  # of the output by each score
    by_value = weights[:, None, None] * value
    by_key = pull[:, :, None] * (key.T @ asked) / root
    derivative = by_value + by_key
    derivative[-1] += pull.T @ keys @ query / root
    return np.asarray(np.linalg.norm(derivative, axis=(1, 2))[::-1])
