"""Looking into an LSTM: what its gates let through at every token (recurrence 5.6).

It works on any recurrent network whose first layer is an LSTM, from outside: the layer steps as ever, and its
gates are computed again from its weights and the states that it passed through.
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
    """The parts of ``c' = forget c + enter candidate, h' = show tanh(c')`` at every token.

    Attributes:
        enter: The input gate, [documents, time, hidden] as the others.
        forget: The forget gate.
        candidate: The new content; ``enter * candidate`` is what is written.
        show: The output gate.
    """

    enter: Float[Tensor, "documents time hidden"]
    forget: Float[Tensor, "documents time hidden"]
    candidate: Float[Tensor, "documents time hidden"]
    show: Float[Tensor, "documents time hidden"]


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
    enter, forget, candidate, show = torch.stack(parts, 1).chunk(4, -1)
    return Gates(enter.sigmoid(), forget.sigmoid(), candidate.tanh(), show.sigmoid())


def _parts(network: nn.Module) -> tuple[nn.Module, Recurrence]:
    if isinstance(network, Model):
        layer = network.layers[0]
        if isinstance(layer, Recurrence) and layer.cell == CELLS["lstm"]:
            return network.embedding, layer
    raise ValueError("the model has no LSTM: name only runs that have one under the evaluation's `runs`")
