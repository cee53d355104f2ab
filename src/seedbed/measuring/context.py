"""What an evaluation is given: something that predicts, and the material to measure it on.

An evaluation's file says in NEEDS what it uses of a model, and in SOURCE what the documents come from. The
protocols below describe what an objective or a reference run may offer. `TrainedModel` has all these methods and
passes the calls on to its objective, so trained models and reference runs are measured alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from seedbed.decoding.following import NextTokenScorer
from seedbed.documents import Documents
from seedbed.languages.automaton import Language
from seedbed.tasks.task import Task


class Predictor(Protocol):
    """It predicts the next token."""

    def log_probabilities(self, documents: Documents) -> NDArray[np.float64]:
        """Log probability of each token to come next, after every token of the documents.

        Returns:
            [tokens, vocabulary], in nats, in the order of ``documents.tokens``. A row sums to 1 after exp, or to 0
            if the predictor takes what was read for impossible, as the language itself can.
        """
        ...


class Filler(Protocol):
    """It predicts the word in a hole of a document, and sees both sides of the hole."""

    def fill(self, documents: Documents, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Log probability of each token at one place of each document; the token at that place is not seen.

        Args:
            documents: One hole each.
            places: [documents], the place of the hole in its document, from 0.

        Returns:
            [documents, vocabulary], in nats.
        """
        ...


class Infiller(Protocol):
    """It writes all words of a hole, and sees both sides of the hole but not how many words are missing."""

    def infill(
        self, documents: Documents, places: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Log probability that the hole of each document holds exactly the tokens that are there.

        Args:
            documents: One hole each.
            places: [documents], where the hole begins, from 0.
            sizes: [documents], how many tokens it holds, from 1.

        Returns:
            [documents], in nats.
        """
        ...


class Continuer(Protocol):
    """It gives the rest of a document a probability, in its natural way."""

    def continuation(self, documents: Documents, starts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Log probability of each token from ``starts`` on, given all before it.

        Args:
            documents: Whole documents.
            starts: [documents], the first place of each document that is scored, from 1.

        Returns:
            [scored tokens], in nats, in document order.
        """
        ...


class Writer(Protocol):
    """It writes documents from scratch, token by token, in its natural way."""

    def beginning(self, documents: int) -> tuple[list[int], NextTokenScorer]:
        """The first tokens of this many documents, and a scorer of what follows them and each later token."""
        ...


@dataclass(frozen=True)
class Context:
    """The material of an evaluation on a language.

    Attributes:
        language: The full language, withheld pairs included.
        test: Documents of the full language, the same for every seed and run of a study.
        seed: The seed of the run, for evaluations that draw; 0 for a reference run.
    """

    language: Language
    test: Documents
    seed: int = 0


@dataclass(frozen=True)
class TaskContext:
    """The material of an evaluation on a task.

    Attributes:
        task: What the documents are drawn from.
        test: Its test documents, the same for every seed and run of a study.
    """

    task: Task
    test: Documents
