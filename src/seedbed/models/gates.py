"""The gates of an LSTM at every token (recurrence 5.6).

This works from outside on any recurrent network whose first layer is an LSTM: the layer steps as usual, and its
gates are computed again from its weights and the states before each step.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from seedbed.models.recurrence import CELLS, Recurrence
from seedbed.models.recurrent import Model


@dataclass(frozen=True, eq=False)
class Gates:
    """The parts of ``c' = forget c + input candidate, h' = output tanh(c')`` at every token.

    Attributes:
        input_gate: [documents, time, hidden], as all others.
        forget_gate: How much of the cell state is kept.
        candidate: The new content; ``input_gate * candidate`` is what is written to the cell state.
        output_gate: How much of the cell state the hidden state has.
    """

    input_gate: Float[Tensor, "documents time hidden"]
    forget_gate: Float[Tensor, "documents time hidden"]
    candidate: Float[Tensor, "documents time hidden"]
    output_gate: Float[Tensor, "documents time hidden"]


@torch.no_grad()
def gates(network: nn.Module, tokens: Int[Tensor, "documents time"]) -> Gates:
    """The gates of the first layer, over documents of one length.

    Raises:
        ValueError: the network has no LSTM there.
    """
    embedding, layer = _parts(network)
    state, parts = layer.start(len(tokens)), []
    for inputs in embedding(tokens).unbind(1):
        hidden = F.linear(state[0], layer.hidden_weight, layer.hidden_bias)
        parts.append(F.linear(inputs, layer.input_weight, layer.input_bias) + hidden)
        state = layer.step(inputs, state)
    input_gate, forget_gate, candidate, output_gate = torch.stack(parts, 1).chunk(4, -1)
    return Gates(input_gate.sigmoid(), forget_gate.sigmoid(), candidate.tanh(), output_gate.sigmoid())


def _parts(network: nn.Module) -> tuple[nn.Module, Recurrence]:
    if isinstance(network, Model):
        layer = network.layers[0]
        if isinstance(layer, Recurrence) and layer.cell == CELLS["lstm"]:
            return network.embedding, layer
    raise ValueError("the model has no LSTM: name only runs that have one under the evaluation's `runs`")
