from __future__ import annotations

import copy

import pytest
import torch
from networks import Kind, close, random_documents
from torch import nn

from seedbed.batching import pack
from seedbed.models import recurrent, transformer
from seedbed.models.gates import gates


@pytest.mark.parametrize("two_biases", [True, False])
def test_gates_are_those_of_torchs_lstm(two_biases: bool) -> None:
    options = recurrent.Options(cell="lstm", embedding=6, hidden=5, two_biases=two_biases, forget_bias=1.0)
    network = Kind(recurrent, options).make()
    tokens = torch.from_numpy(random_documents([9] * 4).tokens).view(4, 9)
    layer = network.layers[0]  # type: ignore[index]
    theirs = nn.LSTM(6, 5, batch_first=True)
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(layer.input_weight)
        theirs.weight_hh_l0.copy_(layer.hidden_weight)
        theirs.bias_ih_l0.copy_(layer.input_bias)
        theirs.bias_hh_l0.copy_(layer.hidden_bias if two_biases else torch.zeros(20))
        states = theirs(network.embedding(tokens))[0]
    found, cell, hidden = gates(network, tokens), torch.zeros(4, 5), []
    for time in range(9):
        cell = found.forget_gate[:, time] * cell + found.input_gate[:, time] * found.candidate[:, time]
        hidden.append(found.output_gate[:, time] * cell.tanh())
    close(torch.stack(hidden, 1), states, 1e-6)


def test_looking_changes_nothing() -> None:
    network = Kind(recurrent, recurrent.Options(cell="lstm", embedding=6, hidden=5)).make()
    documents = random_documents([7, 7])
    with torch.no_grad():
        before = network(pack(documents))
        gates(network, torch.from_numpy(documents.tokens).view(2, 7))
        assert torch.equal(network(pack(documents)), before)


@pytest.mark.parametrize(
    "kind", [Kind(recurrent, recurrent.Options(cell="gru")), Kind(transformer, transformer.Options())], ids=str
)
def test_a_network_without_an_lstm_is_refused_with_the_remedy(kind: Kind) -> None:
    with pytest.raises(ValueError, match="no LSTM: name only runs that have one"):
        gates(kind.make(), torch.zeros(1, 2, dtype=torch.int64))


def test_a_copy_of_a_network_has_the_same_gates() -> None:
    network = Kind(recurrent, recurrent.Options(cell="lstm", embedding=6, hidden=5)).make()
    tokens = torch.zeros(1, 3, dtype=torch.int64)
    assert torch.equal(gates(copy.deepcopy(network), tokens).forget_gate, gates(network, tokens).forget_gate)
