"""What a model recalls, by the distance of the key from the query (recurrence 5.2 to 5.4)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seedbed.documents import Tokens
from seedbed.measuring.context import Predictor, TaskContext
from seedbed.measuring.recall_questions import answers, ask, losses, questions_each, readable, require_rising
from seedbed.observations import Observation, mean

NEEDS = ("log_probabilities",)
SOURCE = "task"


@dataclass(frozen=True)
class Options:
    """Which questions."""

    distances: tuple[int, ...] = (1, 2, 5, 10, 20, 35, 50, 75, 100, 118, 150, 200)

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: no distances, negative ones, or ones that do not rise.
        """
        require_rising(distances=self.distances)


def evaluate(model: Predictor, context: TaskContext, options: Options) -> Iterator[Observation]:
    """``recall_accuracy``, ``recall_loss`` and ``recall_information`` by distance.

    At each distance there are as many questions as the data set has test documents.

    The answer is the most probable token, the first one of a tie; the loss is that of the key.
    A distance whose questions are longer than a learned position table has no observation.
    """
    for distance in readable(model, options.distances):
        asked = ask(context, distance, questions_each(context))
        predicted = answers(model, asked)
        given, condition = predicted.argmax(1), {"distance": distance}
        yield mean("recall_accuracy", given == asked.keys, condition, "share")
        yield mean("recall_loss", losses(predicted, asked.keys), condition, "nat")
        yield Observation("recall_information", information(asked.keys, given), condition, "bit")


def information(keys: Tokens, given: Tokens) -> float:
    """The mutual information of key and answer in bits, where every key was asked for equally often.

    It is the information of the table of counts minus Miller and Madow's (1955) estimate of the part that is
    chance: (k - r - c + 1) / 2n nats, for a table with r rows, c columns and k cells that are not empty. For fixed
    keys the information is convex in the answers, so chance never lowers it and the correction never raises it. A
    network that is always right has exactly 3 bits.
    """
    table = np.zeros((int(keys.max()) + 1, int(given.max()) + 1))
    np.add.at(table, (keys, given), 1)
    rows, columns, seen = table.sum(1), table.sum(0), table > 0
    independent = np.outer(rows, columns) / len(keys)
    plain = float((table[seen] * np.log(table[seen] / independent[seen])).sum()) / len(keys)
    surplus = int(seen.sum() - (rows > 0).sum() - (columns > 0).sum()) + 1
    return (plain - max(0, surplus) / (2 * len(keys))) / math.log(2)
