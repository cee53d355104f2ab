"""An LSTM whose weights are set by hand so that it remembers, and what its gates are for (recurrence 2.4 to 2.7).

Each cell reads one input. Its input gate is ``sigmoid(40 x - 20)``; the biases of forget gate, candidate and
output gate are 20, so that these are nearly 1. PyTorch's own layer computes it, in double precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from seedbed.demonstrations.memories import WRITTEN, written
from seedbed.messages import require_positive
from seedbed.observations import Observation

NEEDS = ("rng",)

_UNITS = 2
#: The gates in the order of PyTorch's matrices.
GATES = ("input", "forget", "candidate", "output")


@dataclass(frozen=True)
class Options:
    """How long the network is watched, and its noise."""

    steps: int = 1004
    noise: float = 0.05  # the standard deviation of what is added to every input
    bias: float = 20  # of the forget gate, the candidate and the output gate
    draws: int = 10  # of noisy inputs
    width: int = 32  # of the random networks

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, a noise that is not above 0, or fewer steps than the second unit needs.
        """
        require_positive(draws=self.draws, width=self.width)
        if not self.noise > 0:
            raise ValueError(f"noise {self.noise}: expected above 0")
        if self.steps <= WRITTEN[1]:
            raise ValueError(f"steps {self.steps}: expected more than {WRITTEN[1]}")


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """Of the network that is set by hand, of gates that are set to 0, and of random networks.

    ``right_share`` of the answers, yes if both cells are above a half, with and without noise; ``drift`` is the
    mean over noisy inputs of how far the farther cell is at the end from what was written. ``closed_gate`` is the
    input gate that reads 0, ``cell_gradient`` the derivative of a cell by itself 1,000 steps before, its gates
    held. ``left`` is what a forget gate leaves of a 1 by gate and steps; ``needed_gate`` and ``needed_bias`` leave
    a half after 100. By gate, open or at 0, ``passed`` is the largest number that goes the way which it masks.
    ``gate_difference`` compares the derivative of a random network's cells, its gates held, with the product of
    its forget gates. ``untrained_forget_gate`` is the mean one of PyTorch's initial weights, ``weight_rows`` and
    ``weight_columns`` are of its matrices.
    """
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    layer = by_hand(options.bias)
    yield from _held(options, layer, rng)
    yield from _decay()
    yield from _cut(options, generator)
    yield from _random(options, generator)


def by_hand(bias: float) -> nn.LSTM:
    """The network, one cell for each input."""
    layer = nn.LSTM(_UNITS, _UNITS, batch_first=True).double().requires_grad_(False)
    for parameter in layer.parameters():
        parameter.zero_()
    weight, biases = layer.get_parameter("weight_ih_l0"), layer.get_parameter("bias_ih_l0")
    weight[:_UNITS] = 40 * torch.eye(_UNITS, dtype=torch.double)
    biases[:_UNITS] = -20
    biases[_UNITS:] = bias
    return layer


def cells(layer: nn.LSTM, inputs: Tensor) -> Tensor:
    """[..., steps, units], the cells after each step, which PyTorch's layer gives for the last one only."""
    state, found = None, []
    for given in inputs.unbind(-2):
        _, state = layer(given[:, None], state)
        found.append(state[1][0])
    return torch.stack(found, -2)


def _held(options: Options, layer: nn.LSTM, rng: np.random.Generator) -> Iterator[Observation]:
    inputs = torch.from_numpy(written(options.steps))[None]
    noise = torch.from_numpy(options.noise * rng.standard_normal((options.draws, options.steps, _UNITS)))
    yes = torch.arange(1, options.steps + 1) >= WRITTEN[1]
    for name, given in (("none", inputs), ("added", inputs + noise)):
        found = cells(layer, given)
        right = (found > 0.5).all(-1) == yes
        yield Observation("right_share", float(right.double().mean()), {"noise": name}, "share")
    first = torch.stack([found[:, at - 1, unit] for unit, at in enumerate(WRITTEN)], 1)
    drift = (found[:, -1] - first).abs().max(1).values
    yield Observation("drift", float(drift.mean()), {}, "number")
    yield Observation("closed_gate", float(layer.get_parameter("bias_ih_l0")[0].sigmoid()), {}, "share")
    hidden, cell = torch.zeros(2, 1, _UNITS, dtype=torch.double)
    cell.requires_grad_()
    _, (_, after) = layer(torch.zeros(1000, _UNITS, dtype=torch.double), (hidden, cell))
    (gradient,) = torch.autograd.grad(after.sum(), cell)
    yield Observation("cell_gradient", float(gradient.max()), {}, "ratio")


def _decay() -> Iterator[Observation]:
    """What a cell that reads nothing more keeps, by its forget gate."""
    for gate, steps in ((0.9, 50), (0.99, 50), (0.999, 50)):
        cell = 1.0
        for _ in range(steps):
            cell = gate * cell
        yield Observation("left", cell, {"gate": gate, "steps": steps}, "share")
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if np.prod(np.full(100, middle)) >= 0.5 else (middle, high)
    yield Observation("needed_gate", high, {}, "share")
    yield Observation("needed_bias", float(np.log(high / (1 - high))), {}, "number")


def step(
    layer: nn.LSTMCell, given: Tensor, hidden: Tensor, cell: Tensor, closed: str = "", held: bool = False
) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """One step by the six equations (recurrence 2.4), one gate closed, or all of them held.

    Returns:
        The hidden state, the cell and the gates.
    """
    both = layer.weight_ih @ given + layer.bias_ih + layer.weight_hh @ hidden + layer.bias_hh
    parts = dict(zip(GATES, both.chunk(4), strict=True))
    gates = {name: part.tanh() if name == "candidate" else part.sigmoid() for name, part in parts.items()}
    if closed:
        gates[closed] = torch.zeros_like(gates[closed])
    if held:
        gates = {name: gate.detach() for name, gate in gates.items()}
    after = gates["forget"] * cell + gates["input"] * gates["candidate"]
    return gates["output"] * after.tanh(), after, gates


def _cut(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    """What each gate cuts where it is 0: the way from what is read, from the old cell, and to the next state."""
    layer = _drawn(options.width, generator)
    given, hidden, cell = torch.randn(3, options.width, generator=generator, dtype=torch.double)
    ways = {"input": "candidate", "forget": "old cell", "output": "hidden state"}
    for closed, way in ways.items():
        for gate in ("", closed):
            cell = cell.detach().requires_grad_()
            given = given.detach().requires_grad_()
            after_hidden, after, gates = step(layer, given, hidden, cell, gate, held=way == "old cell")
            if way == "candidate":
                found = gates["input"] * gates["candidate"]
            elif way == "old cell":
                (found,) = torch.autograd.grad(after.sum(), cell)
            else:
                found = after_hidden
            named = {"gate": closed, "is": "0" if gate else "open", "way": way}
            yield Observation("passed", float(found.detach().abs().max()), named, "number")


def _random(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    """A random network over 20 steps; PyTorch's own one is drawn in the same way."""
    layer = _drawn(options.width, generator)
    hidden = torch.zeros(options.width, dtype=torch.double)
    start = torch.randn(options.width, generator=generator, dtype=torch.double).requires_grad_()
    cell, product, forgotten = start, torch.ones_like(start), []
    for _ in range(20):
        given = torch.randn(options.width, generator=generator, dtype=torch.double)
        hidden, cell, gates = step(layer, given, hidden.detach(), cell, held=True)
        product = product * gates["forget"]
        forgotten.append(gates["forget"])
    (found,) = torch.autograd.grad(cell.sum(), start)
    yield Observation("gate_difference", float((found - product).abs().max()), {}, "deviation")
    yield Observation("untrained_forget_gate", float(torch.stack(forgotten).mean()), {}, "share")
    for name, matrix in (("input", layer.weight_ih), ("hidden", layer.weight_hh)):
        yield Observation("weight_rows", matrix.shape[0] / options.width, {"matrix": name}, "ratio")
        yield Observation("weight_columns", matrix.shape[1] / options.width, {"matrix": name}, "ratio")


def _drawn(width: int, generator: torch.Generator) -> nn.LSTMCell:
    layer = nn.LSTMCell(width, width).double()
    for parameter in layer.parameters():
        nn.init.uniform_(parameter, -(width**-0.5), width**-0.5, generator=generator)
    return layer
