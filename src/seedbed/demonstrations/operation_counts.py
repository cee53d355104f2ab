"""How many multiplications and additions layers need: counted while they run, and by the formulas of the lectures.

PyTorch's counter watches the matrix products. Its own layers run on the meta device, where 100,000 tokens take
neither time nor memory; ours run on small inputs. What is no matrix product (softmax, norms, biases, gates) is not
counted, as in the lectures (objectives 3.1, 4.4; recurrence 2.5, 4.9; transformer 3.4, 13.7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from seedbed.batching import Mask, Packed, cross_layout, pack, time_steps
from seedbed.documents import Documents
from seedbed.messages import require_positive
from seedbed.models.attention import attention_weights
from seedbed.models.encoder_decoder import DecoderLayer
from seedbed.models.heads import cross_heads
from seedbed.models.initialisation import fill
from seedbed.models.layers import Layer
from seedbed.models.mixers.attention import Mixer as SelfAttention
from seedbed.models.recurrence import CELLS, Recurrence
from seedbed.observations import Observation, Scalar

NEEDS = ()


class Sizes(TypedDict):
    """A layer, and the text that it reads."""

    width: int
    tokens: int
    heads: int


@dataclass(frozen=True)
class Options:
    """What is counted; feed-forward networks are four times as wide as the layer."""

    layers: tuple[Sizes, ...]  # of PyTorch
    own: tuple[Sizes, ...]  # ours; tokens by eights, as ours pads to these
    recurrent: tuple[Sizes, ...]  # attention against Elman's network of the same width
    inputs: int = 32  # width of what recurrent cells read
    state: int = 64  # and of what they remember
    crossing: tuple[int, ...] = ()  # widths for which it is searched where attention costs as much as the rest

    def __post_init__(self) -> None:
        """Check the sizes.

        Raises:
            ValueError: a number below 1, heads that do not divide the width, or tokens of ours that are not by
                eights.
        """
        require_positive(inputs=self.inputs, state=self.state)
        for one in (*self.layers, *self.own, *self.recurrent):
            require_positive(tokens=one["tokens"])
            require_divisor(one["width"], one["heads"])
        for one in self.own:
            if one["tokens"] % 8:
                raise ValueError(
                    f"own: tokens {one['tokens']}: expected a multiple of 8, since ours pads to these"
                )


def require_divisor(width: int, heads: int) -> None:
    """Check that heads divide a width.

    Raises:
        ValueError: they do not, or a number is below 1.
    """
    require_positive(width=width, heads=heads)
    if width % heads:
        raise ValueError(f"heads {heads}: expected a divisor of width {width}")


def demonstrate(options: Options) -> Iterator[Observation]:
    """By width, tokens and heads of a layer, module and part: ``multiply_adds``, and ``flops``, twice as many.

    Parts are the four ``projections``, both products of ``attention``, and ``feed-forward``; ``linear`` is all
    but attention. ``formula`` in a metric's name: computed from sizes alone. ``attention_share`` is that of all,
    ``attention_ratio`` relative to linear. ``flops_per_parameter`` is for a token, without attention. ``growth``
    is the ratio of twice as many tokens to once. ``crossing`` is the least number of tokens with which attention
    costs as much as the rest. ``cost`` compares attention with Elman's network: its scores, both products, and
    all with projections (layer), against the products with the state, and those with the inputs too (layer).
    ``step_cost`` is that of a step of a recurrent cell. ``stack_cost`` compares the layers of an encoder-decoder
    with one of a decoder alone, with as many tokens in both streams and without attention's products.
    """
    for one in options.layers:
        yield from _of_layer("torch", **one)
    for width, tokens in dict.fromkeys((one["width"], one["tokens"]) for one in options.layers):
        yield from _formulas(width, tokens)
    for one in options.own:
        yield from _of_layer("seedbed", **one)
        yield from _stacks(**one)
    for one in options.recurrent:
        yield from _against_recurrence(**one)
    for width in options.crossing:
        yield Observation("crossing", _crossing(width), {"width": width}, "token")
    yield from _cells(options.inputs, options.state)


def flops(compute: Callable[[], object]) -> int:
    """Multiplications and additions of all matrix products that are computed."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        compute()
    return int(counter.get_total_flops())


def _of_layer(module: str, width: int, tokens: int, heads: int) -> Iterator[Observation]:
    parts = _parts(module, width, tokens, heads)
    of: dict[str, Scalar] = {"module": module, "width": width, "tokens": tokens, "heads": heads}
    for part, number in parts.items():
        yield Observation("flops", number, of | {"part": part}, "operation")
        yield Observation("multiply_adds", number / 2, of | {"part": part}, "operation")
    ratio = parts["attention"] / parts["linear"]
    share = parts["attention"] / (parts["attention"] + parts["linear"])
    yield Observation("attention_share", share, of, "share")
    yield Observation("attention_ratio", ratio, of, "ratio")
    layer = nn.TransformerEncoderLayer(width, heads, 4 * width, device="meta")
    parameters = sum(one.numel() for one in layer.parameters())
    yield Observation("flops_per_parameter", parts["linear"] / tokens / parameters, of, "operation")
    twice = _parts(module, width, 2 * tokens, heads)
    for part in ("attention", "linear"):
        yield Observation("growth", twice[part] / parts[part], of | {"part": part}, "ratio")


def _formulas(width: int, tokens: int) -> Iterator[Observation]:
    """What the lectures compute, in multiplications and additions together."""
    size: dict[str, Scalar] = {"width": width, "tokens": tokens}
    by_formula = {
        "projections": 8 * tokens * width**2,
        "feed-forward": 16 * tokens * width**2,
        "linear": 24 * tokens * width**2,
        "attention": 4 * tokens**2 * width,
    }
    for part, number in by_formula.items():
        yield Observation("flops_formula", number, size | {"part": part}, "operation")
    yield Observation("attention_share_formula", tokens / (6 * width + tokens), size, "share")
    yield Observation("attention_ratio_formula", tokens / (6 * width), size, "ratio")


def _parts(module: str, width: int, tokens: int, heads: int) -> dict[str, int]:
    """The operations of a layer, by part."""
    attention, whole = _torch(width, tokens, heads) if module == "torch" else _own(width, tokens, heads)
    linear = nn.Linear(width, width, device="meta")
    projections = 4 * flops(lambda: linear(torch.empty(tokens, width, device="meta")))
    return {
        "projections": projections,
        "feed-forward": whole - attention,
        "linear": whole - attention + projections,
        "attention": attention - projections,
    }


def _torch(width: int, tokens: int, heads: int) -> tuple[int, int]:
    """Attention with its projections, and the whole layer."""
    with torch.device("meta"):
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0, batch_first=True)
        vectors = torch.empty(1, tokens, width)
    return flops(lambda: layer.self_attn(vectors, vectors, vectors)), flops(lambda: layer(vectors))


def _documents(tokens: int) -> Packed:
    return pack(Documents.of([np.zeros(tokens, np.int64)]))


def _own(width: int, tokens: int, heads: int) -> tuple[int, int]:
    """The same of ours."""
    mixer = SelfAttention(width, heads)
    layer = Layer(width, mixer, 4 * width)
    vectors, arranged = torch.zeros(tokens, width), mixer.arrange(_documents(tokens))
    return flops(lambda: mixer(vectors, arranged)), flops(lambda: layer(vectors, arranged))


def _stacks(width: int, tokens: int, heads: int) -> Iterator[Observation]:
    """Matrix products without those of scores, of a source and a target of the same length."""
    target, vectors = _documents(tokens), torch.zeros(tokens, width)
    source = replace(target, prefixes=target.lengths.numpy())
    alone = _parts("seedbed", width, tokens, heads)
    mixer = SelfAttention(width, heads)
    encoder, read = Layer(width, mixer, 4 * width), mixer.arrange(source)
    decoder = DecoderLayer(width, heads, 4 * width)
    written = decoder.attention.arrange(target)
    cross = cross_heads(cross_layout(target, source), target.positions, source.positions, heads)
    counted = {
        "input": flops(lambda: encoder(vectors, read)) - alone["attention"],
        "target": flops(lambda: decoder(vectors, written, vectors, cross)) - 2 * alone["attention"],
    }
    for token, number in counted.items():
        of: dict[str, Scalar] = {"width": width, "token": token}
        yield Observation("stack_cost", number / alone["linear"], of, "ratio")


def _against_recurrence(width: int, tokens: int, heads: int) -> Iterator[Observation]:
    head = torch.zeros(heads, tokens, width // heads)
    everything = Mask.of(torch.ones(1, 1, tokens, dtype=torch.bool).expand(1, tokens, tokens))
    attention, _ = _torch(width, tokens, heads)
    parts = _parts("torch", width, tokens, heads)
    linear = nn.Linear(width, width, device="meta")
    inputs = flops(lambda: linear(torch.empty(tokens, width, device="meta")))
    network = _recurrence("rnn", width, width, tokens)
    counted = {
        "attention scores": flops(lambda: attention_weights(head, head, everything)),
        "attention products": parts["attention"],
        "attention layer": attention,
        "rnn state": network - inputs,
        "rnn layer": network,
    }
    of: dict[str, Scalar] = {"width": width, "tokens": tokens}
    for part, number in counted.items():
        yield Observation("cost", number / 2, of | {"part": part}, "operation")
    yield Observation("cost_ratio", counted["attention scores"] / counted["rnn state"], of, "ratio")
    yield Observation("cost_ratio_formula", tokens / width, of, "ratio")


def _recurrence(cell: str, width: int, hidden: int, tokens: int) -> int:
    layer, inputs = Recurrence(cell, width, hidden, two_biases=True), torch.zeros(tokens, width)
    fill(layer, torch.Generator().manual_seed(0))
    steps = time_steps(torch.tensor([tokens]))
    return flops(lambda: layer(inputs, steps))


def _cells(width: int, hidden: int) -> Iterator[Observation]:
    counts = {cell: _recurrence(cell, width, hidden, 1) / 2 for cell in CELLS}
    for cell, number in counts.items():
        of: dict[str, Scalar] = {"cell": cell, "inputs": width, "hidden": hidden}
        yield Observation("step_cost", number, of, "operation")
        yield Observation("step_cost_ratio", number / counts["rnn"], of, "ratio")


def _crossing(width: int) -> int:
    """By halving the range in which it lies."""

    def dearer(tokens: int) -> bool:
        parts = _parts("torch", width, tokens, 1)
        return parts["attention"] >= parts["linear"]

    return least(dearer, width * 64)


def least(holds: Callable[[int], bool], most: int) -> int:
    """The least number from 1 for which something holds, if it holds for all above it.

    Raises:
        ValueError: it does not hold for ``most``.
    """
    if not holds(most):
        raise ValueError(f"it does not even hold for {most}")
    numbers: Sequence[int] = range(1, most + 1)
    low, high = 0, len(numbers) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(numbers[middle]) else (middle + 1, high)
    return numbers[low]
