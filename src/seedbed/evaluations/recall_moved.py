"""Whether a model finds the key where training never had one: among the distractors (recurrence 5.4).

In training the key comes first. A model that looks for any key recalls a moved one as well; a model that looks at
the first token, or counts positions, does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seedbed.measuring.context import Predictor, TaskContext
from seedbed.measuring.recall_questions import answers, ask, losses, questions_each, readable, require_rising
from seedbed.messages import require_positive
from seedbed.observations import Observation, mean

NEEDS = ("log_probabilities",)
SOURCE = "task"


@dataclass(frozen=True)
class Options:
    """Which questions."""

    distractors: tuple[int, ...] = (20, 50, 100)
    # The distractors are divided into parts of equal size; the key follows none of them, one, and so on up to all.
    parts: int = 4

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: no distractors, negative numbers or ones that do not rise, or parts below 1.
        """
        require_rising(distractors=self.distractors)
        require_positive(parts=self.parts)


def evaluate(model: Predictor, context: TaskContext, options: Options) -> Iterator[Observation]:
    """``moved_accuracy`` and ``moved_loss`` by the number of distractors and of those before the key.

    With all distractors before it, the key is followed by the query; with none, it is first as in training. Fewer
    distractors than parts have fewer places. Questions longer than a learned position table have no observation.
    """
    for distractors in readable(model, options.distractors):
        for before in sorted({distractors * part // options.parts for part in range(options.parts + 1)}):
            asked = ask(context, distractors, questions_each(context), before)
            predicted = answers(model, asked)
            condition = {"distractors": distractors, "before": before}
            yield mean("moved_accuracy", predicted.argmax(1) == asked.keys, condition, "share")
            yield mean("moved_loss", losses(predicted, asked.keys), condition, "nat")
