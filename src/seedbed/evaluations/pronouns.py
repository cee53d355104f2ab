"""Whether a predictor knows a word that was decided long before: the possessive in a tail (objectives 5.1).

The subject of the sentence decides it, and is inside or outside the window that a model with a short memory sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seedbed.measuring.context import Context, Predictor
from seedbed.measuring.decided_words import score_decided_words
from seedbed.messages import require_positive
from seedbed.observations import Observation

NEEDS = ("log_probabilities",)
SOURCE = "language"


@dataclass(frozen=True)
class Options:
    """Which words are asked for, what decides them, and the window."""

    slot: str  # every word of the test set that is in this slot
    antecedent: str  # the slot that decides it
    window: int = 5  # inside it are the words whose antecedent's last word is at most this many words back

    def __post_init__(self) -> None:
        require_positive(window=self.window)


def evaluate(model: Predictor, context: Context, options: Options) -> Iterator[Observation]:
    """``pronoun_probability``, ``pronoun_accuracy`` and ``pronoun_count``, inside and outside the window."""
    predicted = model.log_probabilities(context.test.without_last())
    yield from score_decided_words(predicted, context, options.slot, options.antecedent, options.window)
