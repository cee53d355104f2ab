"""What a residual connection leaves open, and what layers add up (recurrence 4.4; pretraining 8, 10, 11).

Ours is a pre-norm Transformer, untrained, in double precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import jacrev as jacobian_of

from seedbed.batching import Packed, pack
from seedbed.documents import Documents
from seedbed.messages import require_positive
from seedbed.models.initialisation import fill
from seedbed.models.layers import Layer
from seedbed.models.mixers.attention import Mixer as SelfAttention
from seedbed.observations import Observation

NEEDS = ("rng",)


@dataclass(frozen=True)
class Options:
    """Sizes of the layers, and of the text."""

    width: int = 8
    heads: int = 2
    layers: int = 3
    tokens: int = 6

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, or heads that do not divide the width.
        """
        require_positive(**vars(self))
        if self.width % self.heads:
            raise ValueError(f"heads {self.heads}: expected a divisor of width {self.width}")


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """Largest differences, 0 up to rounding errors where a law holds.

    ``jacobian_difference`` is that of ``x + f(x)`` from the identity plus that of f, and ``identity_difference``
    that of its output from x where f is 0. ``idle_difference`` is how far a layer of ours changes vectors when the
    last matrices of attention and feed-forward network are 0. ``stream_difference`` compares the vectors after all
    layers with the first ones plus all that the parts have added. ``beyond_values`` is how far attention's outputs
    lie outside the range of its values, ``value_linearity`` how far they are from linear in the values.
    ``wide_refused`` is 1 if a part of another width cannot be added.
    """
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    yield from _jacobians(options, generator)
    width = options.width
    mixers = [SelfAttention(width, options.heads).double() for _ in range(options.layers)]
    layers = [Layer(width, mixer, 4 * width).double() for mixer in mixers]
    for layer in layers:
        fill(layer, generator)
    batch = pack(Documents.of([range(options.tokens)]))
    vectors = torch.randn(options.tokens, options.width, generator=generator, dtype=torch.double)
    with torch.no_grad():
        yield Observation("stream_difference", _stream_difference(layers, vectors, batch), {}, "deviation")
        yield from _mixtures(options, generator)
        for part in (mixers[0].output, layers[0].feed_forward.contract):
            for parameter in part.parameters():
                parameter.zero_()
        idle = layers[0](vectors, mixers[0].arrange(batch))
        yield Observation("idle_difference", float((idle - vectors).abs().max()), {}, "deviation")
        yield Observation("wide_refused", float(_refuses_another_width(options)), {}, "share")


def _jacobians(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    width = options.width
    weight = torch.randn(width, width, generator=generator, dtype=torch.double)
    vector = torch.randn(width, generator=generator, dtype=torch.double)

    def part(given: Tensor) -> Tensor:
        return torch.tanh(weight @ given)

    whole, alone = (jacobian_of(function)(vector) for function in (lambda given: given + part(given), part))
    difference = whole - alone - torch.eye(width, dtype=torch.double)
    yield Observation("jacobian_difference", float(difference.abs().max()), {}, "deviation")
    weight = torch.zeros_like(weight)
    yield Observation("identity_difference", float((vector + part(vector) - vector).abs().max()), {}, "deviation")


def _stream_difference(layers: list[Layer], vectors: Tensor, batch: Packed) -> float:
    """The last vectors less the first ones and all outputs of the parts, which hooks collect."""
    added: list[Tensor] = []

    def collect(_: nn.Module, __: object, output: Tensor) -> None:
        added.append(output)

    parts = [
        part for layer in layers for name, part in layer.named_children() if name in ("mixer", "feed_forward")
    ]
    hooks = [part.register_forward_hook(collect) for part in parts]
    hidden = vectors
    for layer in layers:
        hidden = layer(hidden, layer.mixer.arrange(batch))
    for hook in hooks:
        hook.remove()
    return float((hidden - vectors - sum(added)).abs().max())


def _mixtures(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    """Attention alone, with weights that stay as they are."""
    shape = (2, options.tokens, options.width)
    query, key = torch.randn(*shape, generator=generator, dtype=torch.double)
    first, second = torch.randn(*shape, generator=generator, dtype=torch.double)

    def attend(values: Tensor) -> Tensor:
        return nn.functional.scaled_dot_product_attention(query[None], key[None], values[None])[0]

    beyond = torch.maximum(attend(first) - first.max(0).values, first.min(0).values - attend(first)).max()
    yield Observation("beyond_values", max(0.0, float(beyond)), {}, "deviation")
    linear = attend(2 * first + 3 * second) - 2 * attend(first) - 3 * attend(second)
    yield Observation("value_linearity", float(linear.abs().max()), {}, "deviation")


def _refuses_another_width(options: Options) -> bool:
    vectors = torch.zeros(options.tokens, options.width)
    try:
        vectors + nn.Linear(options.width, options.width + 1)(vectors)
    except RuntimeError:
        return True
    return False
