"""Whether the verb agrees with a subject that other nouns separate from it (recurrence 6.2).

The number of attractors goes up to that of training and beyond. A predictor is right if the form of the subject's
number is more probable than the other form of the same verb; if both are equally probable, it counts half. If
neither has any probability, the predictor takes the beginning for impossible, and the sentence is not counted. So
the language itself has figures only up to the number of attractors of its sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.languages import agreement
from seedbed.languages.agreement import SentencePrefixes
from seedbed.measuring.context import Context, Predictor
from seedbed.measuring.verb_hits import hits
from seedbed.messages import require_at_least
from seedbed.observations import Observation, mean

NEEDS = ("log_probabilities",)
SOURCE = "language"
REHEARSED = {"pairs": 8}


@dataclass(frozen=True)
class Options:
    """How many attractors, and how many sentences."""

    most_attractors: int = 8  # none, one, and so on up to these
    pairs: int = 200  # of sentences, with a singular and a plural subject, for each number of attractors

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: an option below its least value.
        """
        require_at_least(0, most_attractors=self.most_attractors)
        require_at_least(1, pairs=self.pairs)


def evaluate(model: Predictor, context: Context, options: Options) -> Iterator[Observation]:
    """``agreement_accuracy`` by the number of attractors, all opposite to the subject or each of a random number.

    For all sentences, and by the number of the subject: this distinguishes a predictor that always takes the same
    form from one that follows the attractors. For random numbers, also by whether the nearest attractor has the
    subject's number.
    """
    numbers: agreement.Attractors
    for numbers in ("opposite", "mixed"):
        for attractors in range(options.most_attractors + 1):
            test = agreement.sentence_prefixes(context.language, attractors, numbers, options.pairs)
            scores = hits(model, test)
            for part, chosen in _parts(test, numbers):
                counted = chosen & ~np.isnan(scores)
                condition = {"attractors": attractors, "numbers": numbers, **part}
                if counted.any():
                    yield mean(
                        "agreement_accuracy", scores[counted], condition, "share", clusters=test.pairs[counted]
                    )


def _parts(test: SentencePrefixes, numbers: str) -> Iterator[tuple[dict[str, str], NDArray[np.bool_]]]:
    """What is added to the condition, and the sentences that it holds for."""
    subject, nearest = test.numbers[:, 0], test.numbers[:, -1]
    yield {}, np.ones(len(subject), dtype=np.bool_)
    yield {"subject": "singular"}, subject == agreement.SINGULAR
    yield {"subject": "plural"}, subject == agreement.PLURAL
    if numbers == "mixed" and test.numbers.shape[1] > 1:
        yield {"nearest": "same"}, nearest == subject
        yield {"nearest": "opposite"}, nearest != subject
