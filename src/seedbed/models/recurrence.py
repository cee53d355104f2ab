"""Recurrent layers over documents of unequal length: Elman's, the GRU and the LSTM.

A cell defines one step and the backward pass through all steps; a layer owns the weights and goes through time. At
every step only the documents that still have a token take part, so nothing is computed on padding.

The gradient is written out, because a step of a small network is mostly the start-up of operators. The factors of
the gates' gradients are computed for all tokens at once, so that the backward pass needs two to five small
operations a step, and the gradient of the hidden weights is one product for all steps: a training step takes 0.6
to 0.65 of what `torch.nn`'s layers need for a PackedSequence.
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

from seedbed.batching import TimeSteps

#: What a cell remembers, each [documents, hidden]. The first is the hidden state, which is also its output.
State = tuple[Tensor, ...]


@dataclass(frozen=True, eq=False)
class History:
    """What the steps of a batch left for the backward pass, all tokens in the order of the time steps.

    Attributes:
        states: After each token, [tokens, hidden] each.
        before: The states before each token.
        kept: [tokens, kept * hidden], what each step stored.
        weight: [gates * hidden, hidden], the hidden weights.
        sizes: How many documents each step had.
    """

    states: State
    before: State
    kept: Float[Tensor, "tokens kept_hidden"]
    weight: Float[Tensor, "gates_hidden hidden"]
    sizes: list[int]


#: The next state, given the projected inputs [documents, gates * hidden], the state, the hidden weights and, if it
#: is an inner one, the hidden bias. A step fills the last argument, [documents, kept * hidden].
Step = Callable[[Tensor, State, Tensor, Tensor | None, Tensor], State]
#: The gradients of the projected inputs and of the products of hidden states and weights, [tokens, gates * hidden]
#: both, given those of the states, [documents + tokens, hidden], the start state's in front. At first these come
#: from the layers above alone; the backward pass adds in place what comes from later steps.
Backward = Callable[[State, History], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class RecurrentCell:
    """A kind of recurrence. Its parts are ``hidden`` columns each, in PyTorch's order.

    Attributes:
        gates: How many parts the pre-activations have.
        states: How many tensors a state has.
        kept: How many parts a step stores for its gradient.
        inner_bias: Whether the hidden bias is inside a gate; else it is added to the input's bias.
        step: One step.
        backward: The backward pass through all steps.
    """

    gates: int
    states: int
    kept: int
    inner_bias: bool
    step: Step
    backward: Backward


def _rnn_step(projected: Tensor, state: State, weight: Tensor, bias: Tensor | None, kept: Tensor) -> State:
    """Elman 1990: ``h' = tanh(x + W h)``."""
    return (torch.addmm(projected, state[0], weight.t(), out=kept).tanh_(),)


def _rnn_backward(gradients: State, past: History) -> tuple[Tensor, Tensor]:
    slope = 1 - past.kept.square()
    result = torch.empty_like(slope)
    for (to_hidden,), (to_before,), slope_now, now in _reversed_steps(past.sizes, gradients, slope, result):
        torch.mul(to_hidden, slope_now, out=now)
        to_before.addmm_(now, past.weight)
    return result, result


def _gru_step(projected: Tensor, state: State, weight: Tensor, bias: Tensor | None, kept: Tensor) -> State:
    """Cho et al. 2014, with the reset gate after the product: ``h' = z h + (1 - z) tanh(x + r (W h + b))``."""
    (hidden,), size = state, weight.shape[1]
    gates, inner, new = kept[:, : 2 * size], kept[:, 2 * size : 3 * size], kept[:, 3 * size :]
    if bias is None:
        torch.mm(hidden, weight.t(), out=kept[:, : 3 * size])
    else:
        torch.addmm(bias, hidden, weight.t(), out=kept[:, : 3 * size])
    gates.add_(projected[:, : 2 * size]).sigmoid_()
    torch.addcmul(projected[:, 2 * size :], gates[:, :size], inner, out=new).tanh_()
    return (torch.lerp(new, hidden, gates[:, size:]),)


def _gru_backward(gradients: State, past: History) -> tuple[Tensor, Tensor]:
    reset, update, inner, new = past.kept.chunk(4, 1)
    to_new = (1 - update) * (1 - new.square())
    to_inner = to_new * reset
    to_update = (past.before[0] - new) * update * (1 - update)
    slope = torch.stack([to_inner * inner * (1 - reset), to_update, to_inner], 1)
    result = torch.empty_like(slope)
    for (to_hidden,), (to_before,), slope_now, update_now, now in _reversed_steps(
        past.sizes, gradients, slope, update, result
    ):
        torch.mul(to_hidden[:, None], slope_now, out=now)
        to_before.addcmul_(to_hidden, update_now).addmm_(now.flatten(1), past.weight)
    to_hidden = gradients[0][past.sizes[0] :]
    return torch.cat([result[:, :2].flatten(1), to_hidden * to_new], 1), result.flatten(1)


def _lstm_step(projected: Tensor, state: State, weight: Tensor, bias: Tensor | None, kept: Tensor) -> State:
    """Hochreiter and Schmidhuber 1997, with Gers et al.'s forget gate: ``c' = f c + i g, h' = o tanh(c')``."""
    (hidden, cell_state), size = state, weight.shape[1]
    torch.addmm(projected, hidden, weight.t(), out=kept)
    input_gate, forget_gate, candidate, output_gate = kept.chunk(4, 1)
    kept[:, : 2 * size].sigmoid_()
    candidate.tanh_()
    output_gate.sigmoid_()
    cell_state = (forget_gate * cell_state).addcmul_(input_gate, candidate)
    return cell_state.tanh().mul_(output_gate), cell_state


def _lstm_backward(gradients: State, past: History) -> tuple[Tensor, Tensor]:
    input_gate, forget_gate, candidate, output_gate = past.kept.chunk(4, 1)
    squashed = past.states[1].tanh()
    to_cell = output_gate * (1 - squashed.square())
    slope = torch.stack(
        [
            candidate * input_gate * (1 - input_gate),
            past.before[1] * forget_gate * (1 - forget_gate),
            input_gate * (1 - candidate.square()),
            squashed * output_gate * (1 - output_gate),
        ],
        1,
    )
    result = torch.empty_like(slope)
    for (hidden, cell), (hidden_before, cell_before), slope_now, to_cell_now, forget_now, now in _reversed_steps(
        past.sizes, gradients, slope, to_cell, forget_gate, result
    ):
        cell.addcmul_(hidden, to_cell_now)
        torch.mul(cell[:, None], slope_now[:, :3], out=now[:, :3])
        torch.mul(hidden, slope_now[:, 3], out=now[:, 3])
        torch.mul(cell, forget_now, out=cell_before)
        hidden_before.addmm_(now.flatten(1), past.weight)
    return result.flatten(1), result.flatten(1)


def _reversed_steps(sizes: list[int], gradients: State, *values: Tensor) -> Iterator[tuple[Any, ...]]:
    """Steps from the last to the first: gradients of the states after and before each, and the values at it."""
    states = list(zip(*(torch.split(part, [sizes[0], *sizes]) for part in gradients), strict=True))
    parts = list(zip(*(torch.split(value, sizes) for value in values), strict=True))
    for step in reversed(range(len(sizes))):
        yield states[step + 1], tuple(part[: sizes[step]] for part in states[step]), *parts[step]


CELLS = {
    "rnn": RecurrentCell(1, 1, 1, False, _rnn_step, _rnn_backward),
    "gru": RecurrentCell(3, 1, 4, True, _gru_step, _gru_backward),
    "lstm": RecurrentCell(4, 2, 4, False, _lstm_step, _lstm_backward),
}


class _Unroll(torch.autograd.Function):
    """A cell through time, from zero states, with its gradient written out."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch gives it no public type
        projected: Float[Tensor, "tokens gates_hidden"],
        weight: Float[Tensor, "gates_hidden hidden"],
        bias: Float[Tensor, " gates_hidden"] | None,
        cell: RecurrentCell,
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
        unread = [torch.zeros_like(gradient)] * (len(states) - 1)  # only the hidden state is read from outside
        gradients = tuple(torch.cat([start, part]) for part in (gradient, *unread))
        to_projected, to_products = ctx.cell.backward(
            gradients, History(tuple(states), before, kept, weight, sizes)
        )
        to_bias = to_products.sum(0) if ctx.biased else None
        return to_projected, to_products.t() @ before[0], to_bias, None, None


def _before(
    start: Float[Tensor, "documents hidden"], states: Float[Tensor, "tokens hidden"], sizes: list[int]
) -> Float[Tensor, "tokens hidden"]:
    """The state before each token."""
    ends = zip(torch.split(states, sizes), sizes[1:], strict=False)
    return torch.cat([start, *(part[:size] for part, size in ends)])


class Recurrence(nn.Module):
    """A layer of one cell, from zero states."""

    def __init__(self, cell: str, width: int, hidden: int, two_biases: bool, forget_bias: float = 0.0) -> None:
        """Make the layer.

        Args:
            cell: A name of `CELLS`.
            width: Of the inputs.
            hidden: Width of a state.
            two_biases: Whether the product with the hidden state has a bias too, as in `torch.nn`.
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
        """Fill all from U(-1/sqrt(hidden), 1/sqrt(hidden)), as PyTorch does; then move the forget gate's bias."""
        hidden = self.hidden_weight.shape[1]
        for parameter in self.parameters(recurse=False):
            parameter.uniform_(-(hidden**-0.5), hidden**-0.5, generator=generator)
        if self.forget_bias:
            self.input_bias[hidden : 2 * hidden] += self.forget_bias

    def forward(self, inputs: Float[Tensor, "tokens width"], steps: TimeSteps) -> Float[Tensor, "tokens hidden"]:
        """The hidden state after each token; tokens come and go in the order of the time steps."""
        if not steps.sizes:
            return inputs.new_empty(0, self.hidden_weight.shape[1])
        projected, bias = self._project(inputs)
        hidden: Tensor = _Unroll.apply(projected, self.hidden_weight, bias, self.cell, steps.sizes)  # type: ignore[no-untyped-call]
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
        """The inputs' part of the pre-activations, with each bias that is not inside a gate; the inner bias."""
        if self.hidden_bias is None or self.cell.inner_bias:
            return F.linear(inputs, self.input_weight, self.input_bias), self.hidden_bias
        return F.linear(inputs, self.input_weight, self.input_bias + self.hidden_bias), None
