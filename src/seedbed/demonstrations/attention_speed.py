"""How the time of attention grows with the text, against loops over its pairs and over its tokens.

All in NumPy, on a process of its own (transformer 1.4, 3.4; recurrence 3.4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from seedbed.messages import require_positive
from seedbed.observations import Observation
from seedbed.timer import Timer, ratio

NEEDS = ("rng", "timer")
REHEARSED = {"looped": 8}

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Options:
    """What is timed."""

    width: int = 64
    tokens: tuple[int, ...] = (32, 64, 128, 256, 512, 1024, 2048)  # each twice the one before
    looped: int = 256  # tokens of the text whose pairs are visited one by one

    def __post_init__(self) -> None:
        """Check the sizes.

        Raises:
            ValueError: a size below 1, or numbers of tokens that do not double.
        """
        require_positive(width=self.width, looped=self.looped)
        if any(2 * one != two for one, two in zip(self.tokens, self.tokens[1:], strict=False)):
            raise ValueError(f"tokens {list(self.tokens)}: expected each to be twice the one before")


def demonstrate(options: Options, *, rng: np.random.Generator, timer: Timer) -> Iterator[Observation]:
    """Seconds by number of tokens, and ratios of them.

    ``doubling`` is how many times as long attention takes for twice the tokens, ``recurrent_ratio`` how many times
    as long a recurrent loop takes as attention, and ``loop_ratio`` the same of a loop over all pairs of tokens.
    """
    weights = rng.standard_normal((3, options.width, options.width)) / np.sqrt(options.width)
    texts = {tokens: rng.standard_normal((tokens, options.width)) for tokens in options.tokens}
    attentions = {f"attention {tokens}": partial(attend, text, weights) for tokens, text in texts.items()}
    recurrences = {f"recurrence {tokens}": partial(recur, text, weights) for tokens, text in texts.items()}
    seconds = timer.seconds(attentions | recurrences)
    for tokens in options.tokens:
        yield Observation(
            "recurrent_ratio",
            ratio(seconds, f"recurrence {tokens}", f"attention {tokens}"),
            {"tokens": tokens},
            "ratio",
        )
    for tokens in options.tokens[1:]:
        grown = ratio(seconds, f"attention {tokens}", f"attention {tokens // 2}")
        yield Observation("doubling", grown, {"tokens": tokens}, "ratio")
    text = rng.standard_normal((options.looped, options.width))
    seconds = timer.seconds({"matrix": lambda: attend(text, weights), "loop": lambda: loop(text, weights)})
    yield Observation("loop_ratio", ratio(seconds, "loop", "matrix"), {}, "ratio")


def attend(text: Array, weights: Array) -> Array:
    """Self-attention of one head by products of matrices.

    Args:
        text: [tokens, width].
        weights: Those of queries, keys and values, [3, width, width].
    """
    query, key, value = text @ weights
    scores = query @ key.T / np.sqrt(text.shape[1])
    raised = np.exp(scores - scores.max(1, keepdims=True))
    mixed: Array = raised @ value / raised.sum(1, keepdims=True)
    return mixed


def loop(text: Array, weights: Array) -> Array:
    """The same, pair by pair."""
    query, key, value = text @ weights
    mixed = np.zeros_like(text)
    for at, asking in enumerate(query):
        scores = np.array([asking @ one for one in key]) / np.sqrt(text.shape[1])
        raised = np.exp(scores - scores.max())
        for weight, one in zip(raised / raised.sum(), value, strict=True):
            mixed[at] += weight * one
    return mixed


def recur(text: Array, weights: Array) -> Array:
    """The states of Elman's network, token by token, [tokens, width]."""
    state, states = np.zeros(text.shape[1]), np.empty_like(text)
    for at, token in enumerate(text):
        state = np.tanh(token @ weights[0] + state @ weights[1])
        states[at] = state
    return states
