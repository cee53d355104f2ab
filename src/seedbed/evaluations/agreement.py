"""Whether the verb agrees with a subject that other nouns separate from it (recurrence 6.2).

Up to as many attractors as training had, and beyond. A predictor is right where it finds the form of the subject's
number more probable than the other form of the same verb; equally probable counts half. Where it gives neither
form any probability, it holds the beginning for impossible: that tells nothing and is not counted. So the language
itself has figures up to as many attractors as its sentences have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.evaluations.context import Context, Predictor
from seedbed.languages import agreement
from seedbed.languages.agreement import SentencePrefixes
from seedbed.observations import Observation, mean


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
        for name, least in (("most_attractors", 0), ("pairs", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} {getattr(self, name)}: expected at least {least}")


def evaluate(model: Predictor, context: Context, options: Options) -> Iterator[Observation]:
    """``agreement_accuracy`` by the number of attractors, all opposite to the subject or each of a random number.

    For all sentences; by the number of the subject, which tells a constant form from one that follows the
    attractors; and for random numbers by whether the nearest attractor has the subject's.
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


def hits(model: Predictor, test: SentencePrefixes) -> NDArray[np.float64]:
    """[documents], 1 where the right form is more probable than the wrong one, 0 where it is less, else one half.

    NaN where neither has any probability.
    """
    predicted = model.log_probabilities(test.documents)[test.documents.offsets[1:] - 1]
    each = np.arange(len(test.documents))
    right, wrong = predicted[each, test.right], predicted[each, test.wrong]
    scores = np.where(right == wrong, 0.5, right > wrong)
    return np.where(np.maximum(right, wrong) == -np.inf, np.nan, scores)


def _parts(test: SentencePrefixes, numbers: str) -> Iterator[tuple[dict[str, str], NDArray[np.bool_]]]:
    """What is added to the condition, and the sentences that it holds for."""
    subject, nearest = test.numbers[:, 0], test.numbers[:, -1]
    yield {}, np.ones(len(subject), dtype=np.bool_)
    yield {"subject": "singular"}, subject == agreement.SINGULAR
    yield {"subject": "plural"}, subject == agreement.PLURAL
    if numbers == "mixed" and test.numbers.shape[1] > 1:
        yield {"nearest": "same"}, nearest == subject
        yield {"nearest": "opposite"}, nearest != subject
