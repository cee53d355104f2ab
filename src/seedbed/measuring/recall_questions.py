"""The questions of the evaluations of recall, and the answers of a model (recurrence 5).

The questions of each distance come from a stream of their own, so they are the same for every run and every
evaluation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.decoding.following import rows_as_documents
from seedbed.documents import Documents, Tokens
from seedbed.measuring.context import Predictor, TaskContext
from seedbed.measuring.trained import TrainedModel
from seedbed.models.inspection import longest_document
from seedbed.randomness import stream
from seedbed.tasks import recall


@dataclass(frozen=True, eq=False)
class Questions:
    """Sequences up to the query, all of one length.

    Attributes:
        tokens: [questions, distractors + 2]: the key among the distractors, the query last.
        keys: [questions], the right answers; every key equally often.
    """

    tokens: Tokens
    keys: Tokens

    @property
    def documents(self) -> Documents:
        """All of them as documents, each without its answer."""
        return rows_as_documents(self.tokens)

    @property
    def answered(self) -> Documents:
        """All of them as documents, each with its answer."""
        return rows_as_documents(np.column_stack([self.tokens, self.keys]))


def ask(context: TaskContext, distractors: int, items: int, before: int = 0) -> Questions:
    """Questions with this many distractors, ``before`` of them before the key.

    Raises:
        ValueError: the task is another one.
    """
    if not isinstance(context.task, recall.Task):
        raise ValueError(f"this measures recall, not {type(context.task).__module__.rpartition('.')[2]}")
    rng = stream(0, f"recall of {distractors} distractors, {before} before the key")
    found = recall.balanced_sequences(rng, items, distractors, before)
    return Questions(found[:, :-1], found[:, -1])


def questions_each(context: TaskContext) -> int:
    """How many questions of a kind are asked: as many as test documents, rounded down to equally many per key."""
    return max(1, len(context.test) // recall.KEYS) * recall.KEYS


def answers(model: Predictor, asked: Questions) -> NDArray[np.float64]:
    """[questions, vocabulary], the log probability of each token to come after the query, in nats."""
    documents = asked.documents
    return model.log_probabilities(documents)[documents.offsets[1:] - 1]


def readable(model: Predictor, distractors: Iterable[int]) -> list[int]:
    """The numbers of distractors that a model can read with key and query; a position table may be too short."""
    longest = longest_document(model.network) if isinstance(model, TrainedModel) else None
    return [number for number in distractors if longest is None or number + 2 <= longest]


def losses(predicted: NDArray[np.float64], keys: Tokens) -> NDArray[np.float64]:
    """[questions], the loss of each key in nats, of log probabilities [questions, vocabulary]."""
    return -predicted[np.arange(len(keys)), keys]


def require_rising(**numbers: tuple[int, ...]) -> None:
    """Refuse an option that is no list of rising numbers, none below 0.

    Raises:
        ValueError: the list is empty, or a number is negative or not above the one before it.
    """
    for name, listed in numbers.items():
        if not listed or listed[0] < 0 or list(listed) != sorted(set(listed)):
            raise ValueError(f"{name} {list(listed)}: expected at least one number, each above the one before it")
