"""What an early token says must survive every state between: the recurrence as a relay (recurrence 2.1, 4.4).

Networks are untrained. Where one state on the way is replaced, nothing of the token is left behind it. The same
product of derivatives decides how far a gradient reaches down a stack of layers, with and without residual
connections, and how fast it can grow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from seedbed.messages import require_positive
from seedbed.observations import Observation, Scalar

NEEDS = ("rng",)


@dataclass(frozen=True)
class Options:
    """Sizes of the networks."""

    width: int = 32
    steps: int = 12  # of the recurrent network
    layers: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)  # of the stacks
    gains: tuple[float, ...] = (1, 4, 16)  # of the initial hidden weights of an LSTM, as multiples of PyTorch's
    far: int = 50  # steps of that LSTM

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, or fewer than three steps.
        """
        require_positive(width=self.width, far=self.far)
        if self.steps < 3:
            raise ValueError(f"steps {self.steps}: expected at least 3")
        if min(self.layers) < 1:
            raise ValueError(f"layers {list(self.layers)}: expected at least 1 each")


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """Sizes of derivatives in untrained networks.

    ``relayed`` is the size of the derivative of the last state of Elman's network by the first input, as it is or
    with one state between replaced by another. ``depth_gradient`` is that of a stack's output by its input, by
    layers and by whether its layers are ``plain`` (tanh), ``pre`` or ``post`` (norm before or after a residual
    connection), relative to one layer. ``time_gradient`` is that of an LSTM's last state by the first input, with
    larger hidden weights, relative to PyTorch's.
    """
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    yield from _relay(options, generator)
    yield from _depths(options, generator)
    yield from _gains(options, generator)


def _randn(*shape: int, generator: torch.Generator) -> Tensor:
    return torch.randn(*shape, generator=generator, dtype=torch.double)


def _relay(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    width = options.width
    read, kept = (_randn(width, width, generator=generator) / width**0.5 for _ in range(2))
    inputs = _randn(options.steps, width, generator=generator).requires_grad_()
    for replaced in (False, True):
        state = torch.zeros(width, dtype=torch.double)
        for at, given in enumerate(inputs):
            state = torch.tanh(read @ given + kept @ state)
            if replaced and at == options.steps // 2:
                state = _randn(width, generator=generator)
        (found,) = torch.autograd.grad(state.sum(), inputs)
        way = "one state replaced" if replaced else "all states kept"
        yield Observation("relayed", float(found[0].norm()), {"way": way}, "number")


def _depths(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    width = options.width
    vectors = _randn(64, width, generator=generator)
    weights = [_randn(width, width, generator=generator) / width**0.5 / 2 for _ in range(max(options.layers))]
    for kind in ("plain", "pre", "post"):
        sizes = {}
        for layers in options.layers:
            given = vectors.clone().requires_grad_()
            (found,) = torch.autograd.grad(_stack(kind, given, weights[:layers]).sum(), given)
            sizes[layers] = float(found.norm())
        for layers, size in sizes.items():
            of: dict[str, Scalar] = {"stack": kind, "layers": layers}
            yield Observation("depth_gradient", size / sizes[options.layers[0]], of, "ratio")


def _stack(kind: str, vectors: Tensor, weights: list[Tensor]) -> Tensor:
    """Layers of tanh alone, or with a residual connection and a norm before or after it; times fixed numbers."""
    width = vectors.shape[1]
    for weight in weights:
        if kind == "plain":
            vectors = torch.tanh(vectors @ weight.T)
        elif kind == "pre":
            vectors = vectors + torch.tanh(nn.functional.layer_norm(vectors, [width]) @ weight.T)
        else:
            vectors = nn.functional.layer_norm(vectors + torch.tanh(vectors @ weight.T), [width])
    return vectors * torch.linspace(-1, 1, width, dtype=torch.double)


def _gains(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    layer = nn.LSTM(options.width, options.width).double()
    hidden_weight = layer.get_parameter("weight_hh_l0")
    for parameter in layer.parameters():
        nn.init.uniform_(parameter, -(options.width**-0.5), options.width**-0.5, generator=generator)
    drawn = hidden_weight.detach().clone()
    inputs = _randn(options.far, options.width, generator=generator).requires_grad_()
    sizes = []
    for gain in options.gains:
        with torch.no_grad():
            hidden_weight.copy_(gain * drawn)
        (found,) = torch.autograd.grad(layer(inputs)[0][-1].sum(), inputs)
        sizes.append(float(found[0].norm()))
        yield Observation("time_gradient", sizes[-1] / sizes[0], {"gain": gain}, "ratio")
