"""How much of a learned position table no training document reached (objectives 5.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seedbed.evaluations.context import Context
from seedbed.evaluations.trained import TrainedModel
from seedbed.observations import Observation

#: The name that a model gives the parameter whose row p is added at position p.
TABLE = "table.weight"


@dataclass(frozen=True)
class Options:
    """Nothing to choose."""


def evaluate(model: TrainedModel, context: Context, options: Options) -> Iterator[Observation]:
    """``untouched_positions``, the rows beyond the longest input of the seed's training corpus.

    A model that predicts the next token never reads the last one of a document, so a document of n tokens reaches
    rows 0 to n - 2. The others keep their initial values.

    Raises:
        ValueError: the model has no learned position table.
    """
    longest = int(model.corpus.lengths.max(initial=1)) - 1
    yield Observation("untouched_positions", max(0, _rows(model) - longest), unit="count")


def _rows(model: TrainedModel) -> int:
    parameters = dict(model.network.named_parameters())
    found = [name for name in parameters if f".{name}".endswith(f".{TABLE}")]
    if len(found) != 1:
        raise ValueError(
            f"untouched measures runs with a learned position table, one parameter named {TABLE}, and this model "
            f"has {len(found)}: name only such runs under evaluations.untouched.runs"
        )
    return len(parameters[found[0]])
