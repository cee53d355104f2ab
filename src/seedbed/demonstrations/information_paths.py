"""How far apart two positions are in a network: the steps on the way of information from one to the other.

A step is what has to wait for another one: an update of a recurrent state, or a layer of attention. Each is
marked in PyTorch's own graph of the computation, and marks are counted on the ways through that graph
(objectives 1.3, 2.1, 3.1; recurrence 3.1, 4.1; transformer 1.2, 3.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from seedbed.batching import pack
from seedbed.documents import Documents
from seedbed.models.initialisation import fill
from seedbed.models.mixers.attention import Mixer as SelfAttention
from seedbed.observations import Observation, Scalar

NEEDS = ("rng",)

#: A node of PyTorch's graph.
Node = Any


@dataclass(frozen=True)
class Options:
    """The networks, and the texts that they read."""

    width: int = 8
    heads: int = 2
    tokens: int = 50
    distances: tuple[int, ...] = (1, 2, 10, 49)
    growing: tuple[int, ...] = (8, 16, 32)  # tokens of the texts whose connections are counted

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a distance that no two tokens have, or heads that do not divide the width.
        """
        if not all(0 < distance < self.tokens for distance in self.distances):
            raise ValueError(
                f"distances {list(self.distances)}: expected each from 1 and below tokens {self.tokens}"
            )
        if min(self.growing, default=1) < 1:
            raise ValueError(f"growing {list(self.growing)}: expected at least 1 each")
        if self.heads < 1 or self.width % self.heads:
            raise ValueError(f"heads {self.heads}: expected a divisor of width {self.width}")


@dataclass(frozen=True)
class Positions:
    """What a network makes of a text.

    Attributes:
        read: By position, what later steps know of the token: the state after it, or its vector.
        outputs: By position, the output.
    """

    read: Sequence[Tensor]
    outputs: Sequence[Tensor]


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """By network: ``path_length`` by distance, ``sequential_steps`` and, by number of tokens, ``connections``.

    ``path_length`` is the least number of steps from a token to the output that many positions later,
    ``longest_path`` the largest. ``sequential_steps`` is the longest chain of steps that wait for
    each other. ``connections`` are the pairs of a step and what it reads of another step or of a token's vector.
    """
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    for name, network in _networks(options, generator).items():
        found = network(_vectors(options, options.tokens, generator))
        of: dict[str, Scalar] = {"network": name, "tokens": options.tokens}
        yield Observation("sequential_steps", longest(found.outputs[-1].grad_fn), of, "count")
        for distance in options.distances:
            source, output = found.read[-1 - distance], found.outputs[-1]
            steps = shortest(output.grad_fn, source.grad_fn), longest(output.grad_fn, source.grad_fn)
            for metric, value in zip(("path_length", "longest_path"), steps, strict=True):
                yield Observation(metric, value, {"network": name, "distance": distance}, "count")
        for tokens in options.growing:
            grown = network(_vectors(options, tokens, generator))
            yield Observation("connections", _connections(grown), {"network": name, "tokens": tokens}, "count")


def _vectors(options: Options, tokens: int, generator: torch.Generator) -> list[Tensor]:
    drawn = torch.randn(tokens, options.width, generator=generator, dtype=torch.double)
    return [one.requires_grad_() for one in drawn]


class Step(torch.autograd.Function):
    """Marks what is computed in one step; its values stay as they are."""

    @staticmethod
    def forward(ctx: Any, *states: Tensor) -> tuple[Tensor, ...]:  # noqa: ANN401 - torch gives it no public type
        """Copy the values."""
        return tuple(state.clone() for state in states)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:  # noqa: ANN401
        """Give the gradients on."""
        return gradients


def step(*states: Tensor) -> tuple[Tensor, ...]:
    """The same values, marked as computed in one step."""
    marked: tuple[Tensor, ...] = Step.apply(*states)  # type: ignore[no-untyped-call]
    return marked


def _networks(options: Options, generator: torch.Generator) -> dict[str, Callable[[Sequence[Tensor]], Positions]]:
    width = options.width
    attention = SelfAttention(width, options.heads)
    fill(attention, generator)
    cells = {"rnn": nn.RNNCell(width, width), "gru": nn.GRUCell(width, width), "lstm": nn.LSTMCell(width, width)}
    for cell in cells.values():
        for parameter in cell.parameters():
            nn.init.uniform_(parameter, -(width**-0.5), width**-0.5, generator=generator)
    return {
        **{name: _recurrent(cell.double()) for name, cell in cells.items()},
        "attention": _attentive(attention.double(), causal=False),
        "causal-attention": _attentive(attention, causal=True),
    }


def _recurrent(cell: nn.Module) -> Callable[[Sequence[Tensor]], Positions]:
    def read(vectors: Sequence[Tensor]) -> Positions:
        state, states = None, []
        for vector in vectors:
            after = cell(vector[None], state)
            marked = step(*after) if isinstance(after, tuple) else step(after)
            state = marked if isinstance(after, tuple) else marked[0]
            states.append(marked[0])
        return Positions(states, states)

    return read


def _attentive(attention: SelfAttention, causal: bool) -> Callable[[Sequence[Tensor]], Positions]:
    def read(vectors: Sequence[Tensor]) -> Positions:
        tokens = len(vectors)
        batch = pack(Documents.of([range(tokens)]), None if causal else [tokens])
        given = [vector.clone() for vector in vectors]
        (attended,) = step(attention(torch.stack(given), attention.arrange(batch)))
        return Positions(given, list(attended))

    return read


def longest(node: Node, source: Node = None) -> int:
    """The largest number of steps on a way from a node back to a source, the source's own step not counted.

    Args:
        node: Where the way ends.
        source: Where it begins; None is anywhere.

    Raises:
        ValueError: there is no way.
    """
    return _steps(node, source, max)


def shortest(node: Node, source: Node) -> int:
    """The least number of steps on a way from a node back to a source, see `longest`."""
    return _steps(node, source, min)


def _steps(node: Node, source: Node, choose: Callable[..., int]) -> int:
    known: dict[Node, int | None] = {}
    waiting = [node]
    while waiting:
        one = waiting[-1]
        before = [other for other, _ in one.next_functions if other is not None]
        missing = [other for other in before if other not in known]
        if one is source or not before:
            known[waiting.pop()] = 0 if source is None or one is source else None
        elif missing:
            waiting += missing
        else:
            ways = [steps for other in before if (steps := known[other]) is not None]
            known[waiting.pop()] = choose(ways) + _is_step(one) if ways else None
    found = known[node]
    if found is None:
        raise ValueError("there is no way from the source to the node")
    return found


def _is_step(node: Node) -> bool:
    return type(node).__name__ == "StepBackward"


def _connections(found: Positions) -> int:
    """What each output reads of another position, one step away and with a gradient that is not 0."""
    total = 0
    for output in found.outputs:
        others = [one for one in found.read if one is not output]
        gradients = (
            torch.autograd.grad(output.sum(), others, retain_graph=True, allow_unused=True) if others else ()
        )
        for one, gradient in zip(others, gradients, strict=True):
            if gradient is not None and gradient.any():
                total += shortest(output.grad_fn, one.grad_fn) == 1
    return total
