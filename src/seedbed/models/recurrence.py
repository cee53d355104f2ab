"""Recurrent layers over documents of unequal length: Elman's, the GRU and the LSTM.

A cell is one step, and the way its gradient takes back; a layer owns the weights and goes through time. At every
step only the documents that are still running take part, so nothing is computed on padding.

The gradient is written out, because a step of a small network is mostly bookkeeping. What a gate's gradient is
multiplied with is computed for all tokens at once, so that the way back needs two to five small operations a step,
and the gradient of the hidden weights is one product for all steps: a training step takes 0.6 to 0.65 of what
`torch.nn`'s layers need for a PackedSequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from seedbed.batching import Times

#: What a cell remembers, each [documents, hidden]. The first is what it shows.
State = tuple[Tensor, ...]


@dataclass(frozen=True, eq=False)
class History:
    """What a cell went through in a batch, all tokens in the order of the times.

    Attributes:
        states: After each token, [tokens, hidden] each.
        before: The states that each of these steps began with.
        kept: [tokens, kept * hidden], what the steps left for the gradient.
        weight: [gates * hidden, hidden], the hidden weights.
        sizes: How many documents each step had.
    """

    states: State
    before: State
    kept: Float[Tensor, "tokens kept_hidden"]
    weight: Float[Tensor, "gates_hidden hidden"]
    sizes: list[int]


#: From the projected inputs [documents, gates * hidden], the state, the hidden weights and, if it is an inner one,
#: the hidden bias to the next state; fills the last argument, [documents, kept * hidden].
Step = Callable[[Tensor, State, Tensor, Tensor | None, Tensor], State]
#: From the gradients of the states to those of the projected inputs and of the products of hidden states and
#: weights, [tokens, gates * hidden] both. Those of the states are [documents + tokens, hidden], the start's in
#: front; at first they say what the readers of the states want, and the way back completes them in place.
Back = Callable[[State, History], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Cell:
    """A kind of recurrence. Its blocks are columns of ``hidden`` width, in PyTorch's order.

    Attributes:
        gates: Blocks of pre-activations.
        states: Tensors in a state.
        kept: Blocks that a step leaves for its gradient.
        inner_bias: Whether the hidden bias has a place of its own; else it adds to the input's bias.
        step: One step.
        back: The way back through all steps.
    """

    gates: int
    states: int
    kept: int
    inner_bias: bool
    step: Step
    back: Back


def _rnn_step(projected: Tensor, state: State, weight: Tensor, bias: Tensor | None, kept: Tensor) -> State:
    """Elman 1990: ``h' = tanh(x + W h)``."""
    return (torch.addmm(projected, state[0], weight.t(), out=kept).tanh_(),)


def _rnn_back(gradients: State, past: History) -> tuple[Tensor, Tensor]:
    slope = 1 - past.kept.square()
    result = torch.empty_like(slope)
    for (to_hidden,), (to_before,), slope_now, now in _backwards(past.sizes, gradients, slope, result):
        torch.mul(to_hidden, slope_now, out=now)
        to_before.addmm_(now, past.weight)
    return result, result


def _gru_step(projected: Tensor, state: State, weight: Tensor, bias: Tensor | None, kept: Tensor) -> State:
    """Cho et al. 2014, with the reset gate behind the product: ``h' = z h + (1 - z) tanh(x + r (W h + b))``."""
    (hidden,), size = state, weight.shape[1]
    gates, inner, new = kept[:, : 2 * size], kept[:, 2 * size : 3 * size], kept[:, 3 * size :]
    if bias is None:
        torch.mm(hidden, weight.t(), out=kept[:, : 3 * size])
    else:
        torch.addmm(bias, hidden, weight.t(), out=kept[:, : 3 * size])
    gates.add_(projected[:, : 2 * size]).sigmoid_()
    torch.addcmul(projected[:, 2 * size :], gates[:, :size], inner, out=new).tanh_()
    return (torch.lerp(new, hidden, gates[:, size:]),)


def _gru_back(gradients: State, past: History) -> tuple[Tensor, Tensor]:
    reset, update, inner, new = past.kept.chunk(4, 1)
    to_new = (1 - update) * (1 - new.square())
    to_inner = to_new * reset
    to_update = (past.before[0] - new) * update * (1 - update)
    slope = torch.stack([to_inner * inner * (1 - reset), to_update, to_inner], 1)
    result = torch.empty_like(slope)
    for (to_hidden,), (to_before,), slope_now, update_now, now in _backwards(
        past.sizes, gradients, slope, update, result
    ):
        torch.mul(to_hidden[:, None], slope_now, out=now)
        to_before.addcmul_(to_hidden, update_now).addmm_(now.flatten(1), past.weight)
    to_hidden = gradients[0][past.sizes[0] :]
    return torch.cat([result[:, :2].flatten(1), to_hidden * to_new], 1), result.flatten(1)


def _lstm_step(projected: Tensor, state: State, weight: Tensor, bias: Tensor | None, kept: Tensor) -> State:
    """Hochreiter and Schmidhuber 1997, with Gers et al.'s forget gate: ``c' = f c + i g, h' = o tanh(c')``."""
    (hidden, cell), size = state, weight.shape[1]
    torch.addmm(projected, hidden, weight.t(), out=kept)
    enter, forget, new, show = kept.chunk(4, 1)
    kept[:, : 2 * size].sigmoid_()
    new.tanh_()
    show.sigmoid_()
    cell = (forget * cell).addcmul_(enter, new)
    return cell.tanh().mul_(show), cell


def _lstm_back(gradients: State, past: History) -> tuple[Tensor, Tensor]:
    enter, forget, new, show = past.kept.chunk(4, 1)
    shown = past.states[1].tanh()
    to_cell = show * (1 - shown.square())
    slope = torch.stack(
        [
            new * enter * (1 - enter),
            past.before[1] * forget * (1 - forget),
            enter * (1 - new.square()),
            shown * show * (1 - show),
        ],
        1,
    )
    result = torch.empty_like(slope)
    for (hidden, cell), (hidden_before, cell_before), slope_now, through, forget_now, now in _backwards(
        past.sizes, gradients, slope, to_cell, forget, result
    ):
        cell.addcmul_(hidden, through)
        torch.mul(cell[:, None], slope_now[:, :3], out=now[:, :3])
        torch.mul(hidden, slope_now[:, 3], out=now[:, 3])
        torch.mul(cell, forget_now, out=cell_before)
        hidden_before.addmm_(now.flatten(1), past.weight)
    return result.flatten(1), result.flatten(1)


def _backwards(sizes: list[int], gradients: State, *values: Tensor) -> Iterator[tuple[Any, ...]]:
    """Steps from the last to the first: gradients of the states after and before it, and the values at it."""
    states = list(zip(*(torch.split(part, [sizes[0], *sizes]) for part in gradients), strict=True))
    parts = list(zip(*(torch.split(value, sizes) for value in values), strict=True))
    for step in reversed(range(len(sizes))):
        yield states[step + 1], tuple(part[: sizes[step]] for part in states[step]), *parts[step]


CELLS = {
    "rnn": Cell(1, 1, 1, False, _rnn_step, _rnn_back),
    "gru": Cell(3, 1, 4, True, _gru_step, _gru_back),
    "lstm": Cell(4, 2, 4, False, _lstm_step, _lstm_back),
}


class _Unroll(torch.autograd.Function):
    """A cell through time, from zero states; with its gradient written out."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch gives it no public type
        projected: Float[Tensor, "tokens gates_hidden"],
        weight: Float[Tensor, "gates_hidden hidden"],
        bias: Float[Tensor, " gates_hidden"] | None,
        cell: Cell,
        sizes: list[int],
    ) -> Float[Tensor, "tokens hidden"]:
        size = weight.shape[1]
        state: State = tuple(projected.new_zeros(sizes[0], size) for _ in range(cell.states))
        kept, history = projected.new_empty(len(projected), cell.kept * size), []
        for inputs, keep in zip(torch.split(projected, sizes), torch.split(kept, sizes), strict=True):
            state = cell.step(inputs, tuple(part[: len(inputs)] for part in state), weight, bias, keep)
            history.append(state)
        states = tuple(torch.cat(part) for part in zip(*history, strict=True))
        ctx.save_for_backward(kept, weight, *states)
        ctx.cell, ctx.sizes, ctx.biased = cell, sizes, bias is not None
        return states[0]

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any,  # noqa: ANN401
        gradient: Float[Tensor, "tokens hidden"],
    ) -> tuple[Tensor, Tensor, Tensor | None, None, None]:
        sizes: list[int] = ctx.sizes
        kept, weight, *states = ctx.saved_tensors
        start = gradient.new_zeros(sizes[0], gradient.shape[1])
        before = tuple(_before(start, part, sizes) for part in states)
        unread = [torch.zeros_like(gradient)] * (len(states) - 1)  # only the first is shown to anyone
        gradients = tuple(torch.cat([start, part]) for part in (gradient, *unread))
        to_projected, to_products = ctx.cell.back(gradients, History(tuple(states), before, kept, weight, sizes))
        to_bias = to_products.sum(0) if ctx.biased else None
        return to_projected, to_products.t() @ before[0], to_bias, None, None


def _before(
    start: Float[Tensor, "documents hidden"], states: Float[Tensor, "tokens hidden"], sizes: list[int]
) -> Float[Tensor, "tokens hidden"]:
    """The state that each step began with."""
    ends = zip(torch.split(states, sizes), sizes[1:], strict=False)
    return torch.cat([start, *(part[:size] for part, size in ends)])


class Recurrence(nn.Module):
    """A layer of one cell, from zero states."""

    def __init__(self, cell: str, width: int, hidden: int, two_biases: bool, forget_bias: float = 0.0) -> None:
        """Make the layer.

        Args:
            cell: A name of `CELLS`.
            width: Of the inputs.
            hidden: Of a state.
            two_biases: Whether the hidden states' product has a bias too, as in `torch.nn`.
            forget_bias: What is added to the first bias of the LSTM's forget gate after it is drawn.
        """
        super().__init__()
        self.cell, self.forget_bias = CELLS[cell], forget_bias
        rows = self.cell.gates * hidden
        self.input_weight = nn.Parameter(torch.empty(rows, width))
        self.hidden_weight = nn.Parameter(torch.empty(rows, hidden))
        self.input_bias = nn.Parameter(torch.empty(rows))
        self.hidden_bias = nn.Parameter(torch.empty(rows)) if two_biases else None

    def draw(self, generator: torch.Generator) -> None:
        """Fill all from U(-1/sqrt(hidden), 1/sqrt(hidden)), as PyTorch does, then move the forget gate."""
        hidden = self.hidden_weight.shape[1]
        for parameter in self.parameters(recurse=False):
            parameter.uniform_(-(hidden**-0.5), hidden**-0.5, generator=generator)
        if self.forget_bias:
            self.input_bias[hidden : 2 * hidden] += self.forget_bias

    def forward(self, inputs: Float[Tensor, "tokens width"], times: Times) -> Float[Tensor, "tokens hidden"]:
        """The hidden state after each token; both in the order of the times."""
        if not times.sizes:
            return inputs.new_empty(0, self.hidden_weight.shape[1])
        projected, bias = self._project(inputs)
        hidden: Tensor = _Unroll.apply(projected, self.hidden_weight, bias, self.cell, times.sizes)  # type: ignore[no-untyped-call]
        return hidden

    def start(self, batch: int) -> State:
        """The state before any token."""
        hidden = self.hidden_weight.shape[1]
        return tuple(self.hidden_weight.new_zeros(batch, hidden) for _ in range(self.cell.states))

    @torch.no_grad()
    def step(self, inputs: Float[Tensor, "batch width"], state: State) -> State:
        """The state after one more token each."""
        projected, bias = self._project(inputs)
        kept = projected.new_empty(len(inputs), self.cell.kept * self.hidden_weight.shape[1])
        return self.cell.step(projected, state, self.hidden_weight, bias, kept)

    def _project(self, inputs: Tensor) -> tuple[Tensor, Tensor | None]:
        """The inputs' share of the pre-activations, with every bias that simply adds; and the inner bias."""
        if self.hidden_bias is None or self.cell.inner_bias:
            return F.linear(inputs, self.input_weight, self.input_bias), self.hidden_bias
        return F.linear(inputs, self.input_weight, self.input_bias + self.hidden_bias), None
