"""Whether a predictor knows a word that was decided long before: the possessive in a tail (objectives 5.1).

The subject of its sentence decides it, and stands inside or outside what a model with a short window sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.evaluations.context import Context, Predictor
from seedbed.evaluations.sizes import require_positive
from seedbed.languages.exact import antecedent_distances
from seedbed.observations import Observation, mean


@dataclass(frozen=True)
class Options:
    """Which words are asked for, what decides them, and the window."""

    slot: str = "tail possessive"  # every word of the test set that stands in this slot
    antecedent: str = "subject"  # the slot that decides it
    window: int = 5  # the antecedent's last word is at most so many words back: inside

    def __post_init__(self) -> None:
        require_positive(window=self.window)


def evaluate(model: Predictor, context: Context, options: Options) -> Iterator[Observation]:
    """Probability and accuracy of the right word over the whole vocabulary, inside and outside the window.

    ``pronoun_accuracy`` is the share of places where no token is more probable than the right one; a tie between
    k tokens counts 1/k. ``pronoun_count`` is the number of places.
    """
    yield from known(model.log_probabilities(context.test.without_last()), context, options)


def known(predicted: NDArray[np.float64], context: Context, options: Options) -> Iterator[Observation]:
    """The same for log probabilities [tokens - documents, vocabulary] of what follows each token but the last."""
    test = context.test
    places, distances = antecedent_distances(context.language, test, options.slot, options.antecedent)
    predicted = predicted[places - test.owners[places] - 1]
    right = predicted[np.arange(len(places)), test.tokens[places]]
    scores = {"pronoun_probability": np.exp(right), "pronoun_accuracy": _hits(predicted, right)}
    inside = distances <= options.window
    for name, part in {"inside": inside, "outside": ~inside}.items():
        condition = {"window": name}
        for metric, values in scores.items():
            yield mean(metric, values[part], condition, "share", clusters=test.owners[places[part]])
        yield Observation("pronoun_count", int(part.sum()), condition, "count")


def _hits(predicted: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """[places], 1 where the right token of log probability ``right`` is the most probable; a tie is shared."""
    best = predicted.max(axis=1)
    tied = (predicted == best[:, None]).sum(axis=1)
    return np.asarray((right == best) / tied)
