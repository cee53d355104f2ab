"""Whether a model finds the key where training never had one: among the distractors (recurrence 5.4).

In training the key comes first. A model that looks for what is a key, wherever it stands, recalls a moved one as
well; one that looks for the first token, or counts, does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seedbed.evaluations.context import Predictor, TaskContext
from seedbed.evaluations.recall import losses
from seedbed.evaluations.recall_questions import answers, ask, counts, questions_each, readable
from seedbed.evaluations.sizes import require_positive
from seedbed.observations import Observation, mean


@dataclass(frozen=True)
class Options:
    """Which questions."""

    distractors: str = "20 50 100"
    parts: int = (
        4  # the key stands behind none, one, and so on up to all of so many equal parts of the distractors
    )

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: numbers of distractors that are none, or no part.
        """
        counts(self.distractors)
        require_positive(parts=self.parts)


def evaluate(model: Predictor, context: TaskContext, options: Options) -> Iterator[Observation]:
    """``moved_accuracy`` and ``moved_loss`` by the number of distractors and of those before the key.

    With all of them before it the key is followed by the query; with none it is where training had it. Fewer
    distractors than parts have fewer places. What ends behind a learned position table yields no observation.
    """
    for distractors in readable(model, counts(options.distractors)):
        for before in sorted({distractors * part // options.parts for part in range(options.parts + 1)}):
            asked = ask(context, distractors, questions_each(context), before)
            predicted = answers(model, asked)
            condition = {"distractors": distractors, "before": before}
            yield mean("moved_accuracy", predicted.argmax(1) == asked.keys, condition, "share")
            yield mean("moved_loss", losses(predicted, asked.keys), condition, "nat")
