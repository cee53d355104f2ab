"""What attention knows of the order of its inputs: they are permuted, or two of them swapped.

Lectures: objectives 3.5; recurrence 3.4, 3.9; transformer 3.2 and exercise 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from seedbed.batching import pack
from seedbed.demonstrations import numpy_layers
from seedbed.documents import Documents
from seedbed.messages import require_positive
from seedbed.models import transformer
from seedbed.models.initialisation import fill, unfilled
from seedbed.models.mixers import attention
from seedbed.models.positions import sinusoidal
from seedbed.observations import Observation

NEEDS = ("rng",)

Numbers = NDArray[np.float64]
POSITIONS = ("none", "sinusoidal")


@dataclass(frozen=True)
class Options:
    """Sizes of the networks, and of what they read."""

    width: int = 16
    heads: int = 4
    inner: int = 64
    layers: int = 2
    tokens: int = 6
    swapped: int = 4  # tokens of the text whose second and third are swapped

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, an odd width, heads that do not divide it, or too few tokens.
        """
        require_positive(**vars(self))
        if self.width % 2 or self.width % self.heads:
            raise ValueError(f"width {self.width}: expected an even multiple of heads {self.heads}")
        if self.tokens < 2 or self.swapped < 4:
            raise ValueError(f"tokens {self.tokens}, swapped {self.swapped}: expected at least 2 and 4")


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """By positions: ``difference`` of f(P X) from P f(X), for a permutation P that leaves nothing in its place.

    Here f is a network of ours, by mask, or one attention by itself (``attention_difference``).
    ``softmax_difference`` is that of softmax(P A P') from P softmax(A) P'. ``swap_change`` is how much each output
    of a causal attention changes if the second and the third input are swapped; outputs are counted from 0.
    """
    order = cycle(options.tokens, rng)
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    for positions in POSITIONS:
        for mask in ("none", "causal"):
            difference = _network_difference(options, positions, mask, order, generator)
            yield Observation("difference", difference, {"positions": positions, "mask": mask}, "nat")
    words, projections = rng.standard_normal((options.tokens, options.width)), _projections(options.width, rng)
    for positions in POSITIONS:
        permuted = _attention(_placed(words[order], positions), projections)
        plain = _attention(_placed(words, positions), projections)
        difference = float(np.abs(permuted - plain[order]).max())
        yield Observation("attention_difference", difference, {"positions": positions}, "deviation")
    scores, permutation = rng.standard_normal((options.tokens, options.tokens)), np.eye(options.tokens)[order]
    outside = permutation @ numpy_layers.softmax(scores) @ permutation.T
    inside = numpy_layers.softmax(permutation @ scores @ permutation.T)
    yield Observation("softmax_difference", float(np.abs(inside - outside).max()), unit="share")
    yield from _swap(options, rng)


def cycle(length: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """[length], a random permutation that moves everything: one ring, in random order."""
    ring = rng.permutation(length)
    order = np.empty(length, np.int64)
    order[ring] = np.roll(ring, 1)
    return order


def _network_difference(
    options: Options, positions: str, mask: str, order: NDArray[np.int64], generator: torch.Generator
) -> float:
    sizes = transformer.Options(
        options.width,
        options.heads,
        options.layers,
        options.inner,
        positions,  # type: ignore[arg-type]
        mixer=attention.__name__.rpartition(".")[2],  # imported, so that the fingerprint covers it
    )
    network = unfilled(lambda: transformer.Model(sizes, options.tokens))
    fill(network, generator)
    network.double()
    with torch.no_grad():
        read = [
            network(pack(Documents.of([text]), None if mask == "causal" else [len(text)]))
            for text in (np.arange(options.tokens), order)
        ]
    return float((read[1] - read[0][order]).abs().max())


def _projections(width: int, rng: np.random.Generator) -> Numbers:
    """[3, width, width], of queries, keys and values."""
    return np.asarray(rng.standard_normal((3, width, width)) / np.sqrt(width))


def _placed(words: Numbers, positions: str) -> Numbers:
    if positions == "none":
        return words
    return np.asarray(words + sinusoidal(*words.shape).double().numpy())


def _attention(vectors: Numbers, projections: Numbers, allowed: NDArray[np.bool_] | None = None) -> Numbers:
    """softmax(Q K' / sqrt(width)) V."""
    query, key, value = vectors @ projections
    return np.asarray(numpy_layers.softmax(query @ key.T / np.sqrt(vectors.shape[1]), allowed) @ value)


def _swap(options: Options, rng: np.random.Generator) -> Iterator[Observation]:
    words, projections = rng.standard_normal((options.swapped, options.width)), _projections(options.width, rng)
    other, causal = words.copy(), numpy_layers.causal(options.swapped)
    other[[1, 2]] = words[[2, 1]]
    for positions in POSITIONS:
        before, after = (_attention(_placed(read, positions), projections, causal) for read in (words, other))
        for output, change in enumerate(np.abs(after - before).max(1)):
            yield Observation(
                "swap_change", float(change), {"positions": positions, "output": output}, "deviation"
            )
