from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from seedbed.documents import Documents
from seedbed.evaluations.untouched import Options, evaluate
from seedbed.log import Log
from seedbed.measuring.context import Context
from seedbed.measuring.trained import TrainedModel
from seedbed.models.positions import LearnedPositions

NEXT_TOKEN = SimpleNamespace(log_probabilities=None)


class Positioned(nn.Module):
    """A network with nothing but a table of positions."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.table = LearnedPositions(rows, 2, 0.02)


def model(network: nn.Module, lengths: list[int], objective: object = NEXT_TOKEN) -> TrainedModel:
    corpus = Documents.of([range(length) for length in lengths])
    return TrainedModel(network, objective, Log(), lambda: corpus, initialisation=0)


def measured(network: nn.Module, lengths: list[int], context: Context) -> dict[str, float]:
    return {one.metric: one.value for one in evaluate(model(network, lengths), context, Options())}


def untouched(network: nn.Module, lengths: list[int], context: Context) -> float:
    return measured(network, lengths, context)["untouched_positions"]


def test_rows_beyond_the_longest_input_are_untouched(context: Context) -> None:
    # The last of 207 tokens is predicted and never read: rows 0 to 205 are.
    assert untouched(Positioned(512), [25, 207, 3], context) == 306


def test_what_training_changed_is_what_it_reached(context: Context) -> None:
    network, corpus = model(Positioned(8), []).initial(), Documents.of([range(4), range(6)])
    assert measured(network, [4, 6], context)["moved_positions"] == 0
    adam = torch.optim.Adam(network.parameters())
    network.get_submodule("table")(torch.from_numpy(corpus.without_last().positions)).sum().backward()
    adam.step()
    assert measured(network, [4, 6], context) == {"untouched_positions": 3, "moved_positions": 5}


def test_a_table_may_be_part_of_a_part(context: Context) -> None:
    assert untouched(nn.ModuleDict({"embedding": Positioned(8)}), [6], context) == 3


def test_a_table_that_is_used_up_has_no_untouched_rows(context: Context) -> None:
    assert untouched(Positioned(4), [9], context) == 0


def test_a_model_without_a_table_is_refused_with_the_remedy(context: Context) -> None:
    with pytest.raises(ValueError, match=r"table\.weight.*evaluations\.untouched\.runs"):
        untouched(nn.Linear(2, 2), [3], context)
