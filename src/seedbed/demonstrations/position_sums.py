"""What a network reads: a word's vector plus its position's, and what it cannot tell apart without the latter.

Lectures: recurrence 3.9; transformer 6.1, 6.4; pretraining 3. All networks are untrained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from seedbed.batching import Mask, Packed, pack
from seedbed.demonstrations.numpy_positions import require_pairs, vectors
from seedbed.documents import Documents
from seedbed.messages import require_at_least
from seedbed.models import recurrent, transformer
from seedbed.models.attention import attention_weights
from seedbed.models.initialisation import fill, unfilled
from seedbed.models.inspection import weights
from seedbed.models.mixers.attention import Mixer as SelfAttention
from seedbed.models.positions import sinusoidal
from seedbed.observations import Observation, Scalar

NEEDS = ("rng",)

Network = TypeVar("Network", bound=nn.Module)

POSITIONS = ("none", "sinusoidal", "learned")
#: "Trust is what builds trust": the first word again at the end.
_TRUST = (0, 1, 2, 3, 0)
#: The same words in another order, the last one in its place.
_ORDERS = ((0, 1, 2, 3), (2, 0, 1, 3))


@dataclass(frozen=True)
class Options:
    """Sizes of the networks, and how many identical words a head without positions reads."""

    width: int = 16
    heads: int = 2
    layers: int = 2
    identical: int = 20

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: an odd width, heads that do not divide it, or a size below 1.
        """
        require_pairs(self.width)
        require_at_least(1, heads=self.heads, layers=self.layers, identical=self.identical)
        if self.width % self.heads:
            raise ValueError(f"heads {self.heads}: expected a divisor of width {self.width}")


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """By positions (none, sinusoidal or learned), what goes into a Transformer and what comes out.

    ``sum_difference`` is the largest difference of its input from embedding plus position, ``word_difference``
    that of what is added to two different words at one position. The two equal words of a text that is seen whole
    differ by ``twin_distance`` (the largest difference of their vectors at the ``input``, or of their logits at
    the ``output``), and by ``score_difference`` in the weights that the last one gives to each. ``order_change``
    is how much the last word's logits change, by network, if the words before come in another order.
    ``identical_weight`` are the smallest and largest weights that a head with random queries gives to identical
    words.
    """
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    for positions in POSITIONS:
        network = _transformer(options, positions, generator)
        yield from _sums(network, {"positions": positions})
        yield from _twins(network, {"positions": positions})
        yield _order(network, f"transformer-{positions}", whole=True)
    for cell in ("rnn", "gru", "lstm"):
        yield _order(_recurrent(options, cell, generator), cell, whole=False)
    yield from _identical(options, rng)


@torch.no_grad()
def _order(network: nn.Module, name: str, whole: bool) -> Observation:
    """How much the last word's logits change with the order of those before it."""
    one, other = (network(_batch(words, whole))[-1] for words in _ORDERS)
    return Observation("order_change", float((one - other).abs().max()), {"network": name}, "nat")


def _filled(make: Callable[[], Network], generator: torch.Generator) -> Network:
    network = unfilled(make)
    fill(network, generator)
    return network.double()


def _transformer(options: Options, positions: str, generator: torch.Generator) -> transformer.Model:
    sizes = transformer.Options(
        d_model=options.width,
        heads=options.heads,
        layers=options.layers,
        d_ff=4 * options.width,
        positions=positions,  # type: ignore[arg-type]
        max_positions=len(_TRUST),
        position_std=1,
        embedding_std=1,
        scale_embedding=False,
    )
    return _filled(lambda: transformer.Model(sizes, len(_TRUST)), generator)


def _recurrent(options: Options, cell: str, generator: torch.Generator) -> recurrent.Model:
    sizes = recurrent.Options(cell, options.width, options.width)  # type: ignore[arg-type]
    return _filled(lambda: recurrent.Model(sizes, len(_TRUST)), generator)


def _batch(words: Sequence[int], whole: bool) -> Packed:
    """One text, seen from the left or as a whole."""
    return pack(Documents.of([words]), [len(words)] if whole else None)


@torch.no_grad()
def _read(network: transformer.Model, words: Sequence[int]) -> tuple[Tensor, Tensor]:
    """What goes into the first layer, [words, width], and the logits, [words, vocabulary]."""
    inputs: list[Tensor] = []
    hook = network.layers[0].register_forward_pre_hook(lambda _, given: inputs.append(given[0]))
    logits = network(_batch(words, whole=True))
    hook.remove()
    return inputs[0], logits


def _added(network: transformer.Model, words: Sequence[int]) -> Tensor:
    return _read(network, words)[0] - network.embedding.weight.detach()[list(words)]


def _sums(network: transformer.Model, of: dict[str, Scalar]) -> Iterator[Observation]:
    """What is added to the embeddings is a row for each position, whichever words stand there."""
    width, rows = network.embedding.weight.shape[1], torch.zeros(())
    if network.positions == "sinusoidal":
        rows = torch.from_numpy(vectors(range(len(_TRUST)), width))
    elif network.table is not None:
        rows = network.table.weight.detach()
    added = _added(network, _TRUST)
    yield Observation("sum_difference", float((added - rows).abs().max()), of, "deviation")
    others = _added(network, [(word + 1) % len(_TRUST) for word in _TRUST])
    yield Observation("word_difference", float((added - others).abs().max()), of, "deviation")


def _twins(network: transformer.Model, of: dict[str, Scalar]) -> Iterator[Observation]:
    """The first and the last word are equal."""
    inputs, logits = _read(network, _TRUST)
    for after, read in (("input", inputs), ("output", logits)):
        distance = float((read[0] - read[-1]).abs().max())
        yield Observation("twin_distance", distance, of | {"after": after}, "deviation")
    mixer = network.get_submodule("layers.0.mixer")
    assert isinstance(mixer, SelfAttention)
    layout = mixer.arrange(_batch(_TRUST, whole=True))
    with torch.no_grad():
        given = weights(mixer, inputs, layout, torch.tensor([len(_TRUST) - 1]))[0]  # [heads, slots]
    difference = float((given[:, 0] - given[:, len(_TRUST) - 1]).abs().max())
    yield Observation("score_difference", difference, of, "share")


def _identical(options: Options, rng: np.random.Generator) -> Iterator[Observation]:
    """One word again and again, with queries by a random matrix."""
    words = np.repeat(rng.standard_normal((1, options.width)), options.identical, axis=0)
    placed = words + sinusoidal(*words.shape).double().numpy()
    matrix = rng.standard_normal((options.width, options.width))
    everything = Mask.of(torch.ones(1, options.identical, options.identical, dtype=torch.bool))
    for positions, read in (("none", words), ("sinusoidal", placed)):
        queries, keys = torch.from_numpy(read @ matrix)[None], torch.from_numpy(read)[None]
        given = attention_weights(queries, keys, everything)
        for of, weight in (("smallest", given.min()), ("largest", given.max())):
            yield Observation("identical_weight", float(weight), {"positions": positions, "of": of}, "share")
