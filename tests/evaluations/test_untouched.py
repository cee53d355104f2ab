from __future__ import annotations

import pytest
import torch
from torch import nn

from seedbed.documents import Documents
from seedbed.evaluations.context import Context
from seedbed.evaluations.trained import TrainedModel
from seedbed.evaluations.untouched import Options, evaluate
from seedbed.log import Log


class Positioned(nn.Module):
    """A network with nothing but a table of positions."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.table = nn.Embedding(rows, 2)


def untouched(network: nn.Module, lengths: list[int], context: Context) -> float:
    corpus = Documents.of([range(length) for length in lengths])
    (found,) = evaluate(TrainedModel(network, None, Log(), lambda: corpus), context, Options())
    assert found.metric == "untouched_positions"
    return found.value


def test_rows_beyond_the_longest_input_are_untouched(context: Context) -> None:
    # The last of 207 tokens is predicted and never read: rows 0 to 205 are.
    assert untouched(Positioned(512), [25, 207, 3], context) == 306


def test_the_rows_without_gradient_are_the_untouched_ones(context: Context) -> None:
    network, corpus = Positioned(8), Documents.of([range(4), range(6)])
    network.table(torch.from_numpy(corpus.without_last().positions)).sum().backward()
    gradient = network.table.weight.grad
    assert gradient is not None
    assert untouched(network, [4, 6], context) == int((gradient == 0).all(1).sum())


def test_a_table_may_be_part_of_a_part(context: Context) -> None:
    assert untouched(nn.ModuleDict({"embedding": Positioned(8)}), [6], context) == 3


def test_a_table_that_is_used_up_has_no_untouched_rows(context: Context) -> None:
    assert untouched(Positioned(4), [9], context) == 0


def test_a_model_without_a_table_is_refused_with_the_remedy(context: Context) -> None:
    with pytest.raises(ValueError, match=r"table\.weight.*evaluations\.untouched\.runs"):
        untouched(nn.Linear(2, 2), [3], context)
