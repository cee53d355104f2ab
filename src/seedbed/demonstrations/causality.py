"""Which inputs an output depends on, under each mask: one input is changed, or the derivative is taken.

Lectures: recurrence 2.6, 3.7; transformer 8.1; pretraining 6. Positions are counted from 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from seedbed.batching import cross_layout, pack
from seedbed.demonstrations import numpy_layers
from seedbed.demonstrations.layer_versions import batch_of
from seedbed.documents import Documents
from seedbed.messages import require_positive
from seedbed.models.encoder_decoder import DecoderLayer
from seedbed.models.heads import cross_heads
from seedbed.models.initialisation import fill
from seedbed.models.mixers.attention import Mixer as SelfAttention
from seedbed.observations import Observation, Scalar

NEEDS = ("rng",)


@dataclass(frozen=True)
class Options:
    """Sizes of the layers, and of what they read."""

    width: int = 16
    heads: int = 4
    inner: int = 64
    tokens: int = 6
    changed: int = 3  # the first position whose input is replaced
    source: int = 4  # tokens that a decoder's layer attends to
    influenced: int = 4  # tokens under each of the three masks that are compared

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, nothing before or behind what is changed, or heads that do not divide the
                width.
        """
        require_positive(**vars(self))
        if not 0 < self.changed < self.tokens:
            raise ValueError(f"changed {self.changed}: expected from 1 and below tokens {self.tokens}")
        if self.influenced < 2:
            raise ValueError(f"influenced {self.influenced}: expected at least 2")
        if self.width % self.heads:
            raise ValueError(f"heads {self.heads}: expected a divisor of width {self.width}")


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """Dependences of outputs on inputs.

    ``future_change`` is how much the outputs before ``changed`` change if all inputs from there on are others,
    by mask of an attention. ``jacobian`` is the norm of the derivative of a decoder layer's output by its input,
    by mask, query (the output) and key (the input); ``ahead_largest`` and ``ahead_smallest`` are its extremes
    over inputs behind the output. ``influences`` is 1 if an input changes the second output of an attention, by
    what the mask hides. ``steps_before`` is how much the outputs of an LSTM change before a step whose input
    changes, ``steps_after`` how much from it on.
    """
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    yield from _future(options, generator)
    yield from _jacobian(options, generator)
    yield from _influence(options, rng)
    yield from _lstm(options, generator)


def _normal(generator: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=generator, dtype=torch.double)


@torch.no_grad()
def _future(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    attention = SelfAttention(options.width, options.heads)
    fill(attention, generator)
    attention.double()
    vectors = _normal(generator, options.tokens, options.width)
    replaced = vectors.clone()
    replaced[options.changed :] = _normal(generator, options.tokens - options.changed, options.width)
    for mask in ("causal", "none"):
        layout = attention.arrange(batch_of((options.tokens,), mask == "causal"))
        before, after = (attention(read, layout)[: options.changed] for read in (vectors, replaced))
        yield Observation("future_change", float((after - before).abs().max()), {"mask": mask}, "deviation")


def _jacobian(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    """Of a whole layer: attention to the text and to a source, feed-forward network, norms."""
    layer = DecoderLayer(options.width, options.heads, options.inner)
    fill(layer, generator)
    layer.double()
    source = pack(Documents.of([range(options.source)]), [options.source])
    memory = _normal(generator, options.source, options.width)
    vectors = _normal(generator, options.tokens, options.width)
    for mask in ("causal", "none"):
        target = batch_of((options.tokens,), mask == "causal")
        cross = cross_heads(cross_layout(target, source), target.positions, source.positions, options.heads)
        norms = _norms(layer, vectors, layer.attention.arrange(target), memory, cross)
        for (query, key), norm in np.ndenumerate(norms):
            yield Observation("jacobian", float(norm), {"mask": mask, "query": query, "key": key}, "deviation")
        ahead = norms[np.triu_indices(options.tokens, 1)]
        yield Observation("ahead_largest", float(ahead.max()), {"mask": mask}, "deviation")
        yield Observation("ahead_smallest", float(ahead.min()), {"mask": mask}, "deviation")


def _norms(layer: DecoderLayer, vectors: Tensor, *arguments: Any) -> NDArray[np.float64]:  # noqa: ANN401
    """[outputs, inputs], the Frobenius norm of each block of the derivative."""
    given = vectors.clone().requires_grad_()
    outputs = layer(given, *arguments)
    rows = [torch.autograd.grad(one, given, retain_graph=True)[0] for one in outputs.flatten()]
    derivative = torch.stack(rows).view(*outputs.shape, *given.shape)
    norms: NDArray[np.float64] = derivative.norm(dim=(1, 3)).numpy()
    return norms


def _influence(options: Options, rng: np.random.Generator) -> Iterator[Observation]:
    """The three masks of the lecture: without what came before, without what comes after, itself alone."""
    tokens, width = options.influenced, options.width
    parameters = {}
    for name in ("query", "key", "value", "output"):
        parameters[f"{name}.weight"] = rng.standard_normal((width, width)) / np.sqrt(width)
        parameters[f"{name}.bias"] = np.zeros((1, width))
    vectors = rng.standard_normal((tokens, width))
    causal = numpy_layers.causal(tokens)
    for mask, allowed in (("not before", causal.T), ("not after", causal), ("itself", causal & causal.T)):
        plain = numpy_layers.attention(vectors, vectors, parameters, 1, allowed)
        for position in range(tokens):
            other = vectors.copy()
            other[position] = rng.standard_normal(width)
            changed = numpy_layers.attention(other, other, parameters, 1, allowed)
            of: dict[str, Scalar] = {"mask": mask, "position": position}
            yield Observation("influences", float((changed[1] != plain[1]).any()), of, "share")


@torch.no_grad()
def _lstm(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    vectors = _normal(generator, options.tokens, options.width)
    other = vectors.clone()
    other[options.changed] = _normal(generator, options.width)
    for name, bidirectional in (("one direction", False), ("both directions", True)):
        network = nn.LSTM(options.width, options.width, bidirectional=bidirectional).double()
        for parameter in network.parameters():
            nn.init.uniform_(parameter, -(options.width**-0.5), options.width**-0.5, generator=generator)
        change = (network(other)[0] - network(vectors)[0]).abs()
        for metric, part in (
            ("steps_before", change[: options.changed]),
            ("steps_after", change[options.changed :]),
        ):
            yield Observation(metric, float(part.max()), {"lstm": name}, "deviation")
