"""How much of a learned position table training reached (objectives 5.5, recurrence 6.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torch import nn

from seedbed.measuring.context import Context
from seedbed.measuring.trained import TrainedModel
from seedbed.observations import Observation

#: The name that a model gives the parameter whose row p is added at position p.
TABLE = "table.weight"


NEEDS = ("log_probabilities", "network", "initial", "corpus")
SOURCE = "language"


@dataclass(frozen=True)
class Options:
    """Nothing to choose."""


def evaluate(model: TrainedModel, context: Context, options: Options) -> Iterator[Observation]:
    """``untouched_positions``, the rows beyond the longest input; ``moved_positions``, rows that training moved.

    A model that predicts the next token never reads the last one of a document, so a document of n tokens reaches
    rows 0 to n - 2. The others have no gradient; whether they keep their initial values is read off the weights.

    Raises:
        ValueError: the model has no learned position table, or began with another run's weights.
    """
    table, initial = _table(model.network), _table(model.initial())
    longest = int(model.corpus.lengths.max(initial=1)) - 1
    yield Observation("untouched_positions", max(0, len(table) - longest), unit="count")
    yield Observation("moved_positions", int((table != initial).any(1).sum()), unit="count")


def _table(network: nn.Module) -> nn.Parameter:
    parameters = dict(network.named_parameters())
    found = [name for name in parameters if f".{name}".endswith(f".{TABLE}")]
    if len(found) != 1:
        raise ValueError(
            f"untouched measures runs with a learned position table, one parameter named {TABLE}, and this model "
            f"has {len(found)}: name only such runs under evaluations.untouched.runs"
        )
    return parameters[found[0]]
