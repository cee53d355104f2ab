"""What becomes of the states of a text if it grows: the reason why a causal model can keep keys and values.

Lectures: objectives 4.2, 4.3 and exercise 4. Layers of ours with random weights; nothing is trained.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from seedbed.batching import pack
from seedbed.documents import Documents
from seedbed.messages import require_positive
from seedbed.models.initialisation import fill
from seedbed.models.layers import Layer
from seedbed.models.mixers.attention import Mixer as SelfAttention
from seedbed.observations import Observation, Scalar

NEEDS = ("rng",)


@dataclass(frozen=True)
class Options:
    """Sizes of the layers, and of the text."""

    width: int = 16
    heads: int = 4
    inner: int = 64
    layers: int = 3
    tokens: int = 8  # before the text grows
    prefix: int = 3  # of the prefix model
    depths: tuple[int, ...] = (1, 2, 3, 6)  # numbers of layers whose dependences are counted

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, a prefix that is longer than the text, or heads that do not divide the
                width.
        """
        require_positive(**{name: value for name, value in vars(self).items() if name != "depths"})
        if self.prefix > self.tokens:
            raise ValueError(f"prefix {self.prefix}: expected at most tokens {self.tokens}")
        if min(self.depths, default=0) < 1:
            raise ValueError(f"depths {list(self.depths)}: expected at least one, each from 1")
        if self.width % self.heads:
            raise ValueError(f"heads {self.heads}: expected a divisor of width {self.width}")


@torch.no_grad()
def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """By kind of text and layer: ``change``, how much earlier states change when a token is added to the text.

    The token is added behind the text and all earlier positions are compared; to a ``grown prefix`` it is added
    behind the prefix, whose positions are compared. ``least_change`` is that of the position that changes least.
    ``dependences`` counts the outputs, over all tokens, that change with a ``later`` token, or with their own or
    an earlier one (``seen``), by number of layers under a causal mask.
    """
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    layers = _layers(max(options.layers, *options.depths), options, generator)
    text = torch.randn(options.tokens, options.width, generator=generator, dtype=torch.double)
    token = torch.randn(1, options.width, generator=generator, dtype=torch.double)
    behind = torch.cat([text, token])
    within = torch.cat([text[: options.prefix], token, text[options.prefix :]])
    prefix, whole = options.prefix, options.tokens
    # The kind of model; what it reads before and after, how much of the text all see each time, what is compared.
    cases: list[tuple[str, tuple[Tensor, int], tuple[Tensor, int], int]] = [
        ("causal", (text, 0), (behind, 0), whole),
        ("bidirectional", (text, whole), (behind, whole + 1), whole),
        ("prefix", (text, prefix), (behind, prefix), whole),
        ("grown prefix", (text, prefix), (within, prefix + 1), prefix),
    ]
    for name, before, after, compared in cases:
        states = zip(_states(layers, *before), _states(layers, *after), strict=True)
        for number, (old, new) in enumerate(states, 1):
            if number > options.layers:
                break
            change = (new[:compared] - old[:compared]).abs().amax(1)
            of: dict[str, Scalar] = {"text": name, "layer": number}
            yield Observation("change", float(change.max()), of, "deviation")
            yield Observation("least_change", float(change.min()), of, "deviation")
    yield from _dependences(layers, text, options, generator)


def _layers(number: int, options: Options, generator: torch.Generator) -> list[Layer]:
    layers = []
    for _ in range(number):
        layer = Layer(options.width, SelfAttention(options.width, options.heads), options.inner)
        fill(layer, generator)
        layers.append(layer.double())
    return layers


def _states(layers: list[Layer], text: Tensor, prefix: int) -> list[Tensor]:
    """[tokens, width] after each layer, of a text whose leading positions all see each other."""
    batch = pack(Documents.of([range(len(text))]), [prefix])
    arranged, states = layers[0].mixer.arrange(batch), []
    for layer in layers:
        text = layer(text, arranged)
        states.append(text)
    return states


def _dependences(
    layers: list[Layer], text: Tensor, options: Options, generator: torch.Generator
) -> Iterator[Observation]:
    """One token is changed after the other, and every output compared."""
    plain = _states(layers, text, 0)
    later, seen = np.zeros(len(layers), int), np.zeros(len(layers), int)
    for place in range(len(text)):
        other = text.clone()
        other[place] = torch.randn(options.width, generator=generator, dtype=torch.double)
        for layer, (old, new) in enumerate(zip(plain, _states(layers, other, 0), strict=True)):
            differs = (old != new).any(1)
            later[layer] += int(differs[:place].sum())
            seen[layer] += int(differs[place:].sum())
    for depth in options.depths:
        for token, found in (("later", later), ("seen", seen)):
            yield Observation("dependences", int(found[depth - 1]), {"layers": depth, "token": token}, "count")
