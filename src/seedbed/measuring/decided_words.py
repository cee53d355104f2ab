"""How well a predictor knows a word that its antecedent decides, inside and outside a window (objectives 5.1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from seedbed.languages.exact import antecedent_distances
from seedbed.measuring.context import Context
from seedbed.observations import Observation, mean


def score_decided_words(
    predicted: NDArray[np.float64], context: Context, slot: str, antecedent: str, window: int
) -> Iterator[Observation]:
    """Probability and accuracy of the right word over the whole vocabulary, by whether its antecedent is near.

    ``pronoun_accuracy`` is the share of places where no token is more probable than the right one; a tie between
    k tokens counts 1/k. ``pronoun_count`` is the number of places.

    Args:
        predicted: [tokens - documents, vocabulary], log probabilities of what follows each token but the last.
        context: The test set, and its language.
        slot: Every word in this slot is asked for.
        antecedent: The slot that decides it.
        window: ``inside`` are the words whose antecedent's last word is at most this many words back.
    """
    test = context.test
    places, distances = antecedent_distances(context.language, test, slot, antecedent)
    predicted = predicted[places - test.owners[places] - 1]
    right = predicted[np.arange(len(places)), test.tokens[places]]
    scores = {"pronoun_probability": np.exp(right), "pronoun_accuracy": _hits(predicted, right)}
    inside = distances <= window
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
