"""How many parameters networks have: counted in modules, and by the formulas of the lectures.

Modules are built on PyTorch's meta device, where GPT-3 takes no memory. Networks of the kind ``gpt`` and
``encoder-decoder`` are ours, those of the kind ``transformer`` and ``bert`` are made of `torch.nn`. Sources:
objectives 3.3, 4.4; recurrence 4.7; transformer 5.2, 7.4, 13.3; Vaswani et al. 2017; Devlin et al. 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NotRequired, TypedDict

import torch
from torch import nn

from seedbed.messages import require_positive
from seedbed.models import encoder_decoder, transformer
from seedbed.models.encoder_decoder import DecoderLayer
from seedbed.models.layers import Layer
from seedbed.models.mixers.attention import Mixer as SelfAttention
from seedbed.models.recurrence import Recurrence
from seedbed.observations import Observation, Scalar

NEEDS = ()


class Sizes(TypedDict):
    """A network."""

    name: str
    kind: Literal["gpt", "encoder-decoder", "transformer", "bert"]
    layers: int
    width: int
    heads: int
    vocabulary: int
    positions: NotRequired[int]  # of a learned table
    reported: NotRequired[int]  # parameters that its authors report


class Cell(TypedDict):
    """A recurrent layer, and the widths of its inputs and its state."""

    cell: Literal["rnn", "gru", "lstm"]
    inputs: int
    hidden: int


@dataclass(frozen=True)
class Options:
    """Which networks, layers and cells are counted."""

    networks: tuple[Sizes, ...]
    widths: tuple[int, ...]  # of layers with feed-forward networks of four times the width
    heads: tuple[int, ...]  # of attention, where they divide the width
    cells: tuple[Cell, ...] = ()

    def __post_init__(self) -> None:
        """Check the sizes.

        Raises:
            ValueError: a size below 1, or one of the kind bert without positions.
        """
        for network in self.networks:
            require_positive(**{size: value for size, value in network.items() if isinstance(value, int)})
            if network["kind"] == "bert" and "positions" not in network:
                raise ValueError(f"networks: {network['name']}: bert needs positions")
        for cell in self.cells:
            require_positive(inputs=cell["inputs"], hidden=cell["hidden"])
        if min((*self.widths, *self.heads), default=1) < 1:
            raise ValueError(f"widths {list(self.widths)}, heads {list(self.heads)}: expected at least 1 each")


def demonstrate(options: Options) -> Iterator[Observation]:
    """Numbers of parameters, counted in modules; ``formula`` in a metric's name: computed from sizes alone.

    ``parameters`` are of whole networks, ``part_parameters`` of their parts; ``over_reported`` is how much more
    that is than was reported, relative to it. ``embedding_share`` is that of all tables, of tokens and of
    positions. ``attention_parameters`` are by width, heads and module, ``layer_parameters`` by width and part;
    ``feed_forward_share`` is that of an encoder's layer, ``doubling`` the ratio of layers of twice the width.
    ``blocks_ratio`` and ``total_ratio`` compare the first encoder-decoder with the first network of the kind
    gpt. ``cell_parameters`` are of recurrent layers, by cell and widths.
    """
    with torch.device("meta"):
        for network in options.networks:
            yield from _network(network)
        yield from _ratios(options.networks)
        for width in options.widths:
            yield from _attention(width, options.heads)
            yield from _layer(width)
        for cell in options.cells:
            yield from _cell(**cell)


def count(*modules: nn.Module) -> int:
    """The numbers in all their parameters; one that occurs twice is counted once."""
    found = {id(one): one.numel() for module in modules for one in module.parameters()}
    return sum(found.values())


def _network(one: Sizes) -> Iterator[Observation]:
    of: dict[str, Scalar] = {"network": one["name"]}
    kind = _KINDS[one["kind"]]
    module = kind.build(one)
    counted = count(module)
    yield Observation("parameters", counted, of, "count")
    yield Observation("parameters_formula", kind.formula(one), of, "count")
    if reported := one.get("reported"):
        yield Observation("over_reported", counted / reported - 1, of, "ratio")
    parts = dict(module.named_children())
    for name, part in parts.items():
        yield Observation("part_parameters", count(part), of | {"part": name}, "count")
    tables = [part for name, part in parts.items() if name in _TABLES]
    yield Observation("embedding_share", count(*tables) / counted, of, "share")


#: The names of tables of tokens, positions and kinds of sentences in the networks below and in ours.
_TABLES = ("embedding", "table", "positions", "segments")


def _ratios(networks: Sequence[Sizes]) -> Iterator[Observation]:
    """An encoder-decoder against a decoder alone, with and without the embedding."""
    pairs = [next((one for one in networks if one["kind"] == kind), None) for kind in ("encoder-decoder", "gpt")]
    if None in pairs:
        return
    both, one = (_KINDS[pair["kind"]].build(pair) for pair in pairs if pair)
    blocks = count(both.encoder, both.decoder) / count(one.layers)  # type: ignore[arg-type]
    yield Observation("blocks_ratio", blocks, unit="ratio")
    yield Observation("total_ratio", count(both) / count(one), unit="ratio")


def _attention(width: int, heads: tuple[int, ...]) -> Iterator[Observation]:
    yield Observation("attention_parameters_formula", 4 * width**2 + 4 * width, {"width": width}, "count")
    for number in heads:
        if width % number == 0:
            made = {"seedbed": SelfAttention(width, number), "torch": nn.MultiheadAttention(width, number)}
            for module, attention in made.items():
                of: dict[str, Scalar] = {"width": width, "heads": number, "module": module}
                yield Observation("attention_parameters", count(attention), of, "count")


def _layer(width: int) -> Iterator[Observation]:
    """The parts of our layers of encoder and decoder, and the whole ones of PyTorch."""
    inner, norm = 4 * width, 2 * width
    encoder, decoder = Layer(width, SelfAttention(width, 1), inner), DecoderLayer(width, 1, inner)
    counted = {
        "attention": count(encoder.mixer),  # type: ignore[arg-type]
        "feed-forward": count(encoder.feed_forward),
        "norms": count(encoder.mixer_norm, encoder.feed_forward_norm),
        "encoder-layer": count(encoder),
        "torch-encoder-layer": count(nn.TransformerEncoderLayer(width, 1, inner)),
        "cross-attention": count(decoder.cross),
        "cross-norm": count(decoder.cross_norm),
        "decoder-layer": count(decoder),
        "torch-decoder-layer": count(nn.TransformerDecoderLayer(width, 1, inner)),
    }
    for part, number in counted.items():
        yield Observation("layer_parameters", number, {"width": width, "part": part}, "count")
    attention, feed_forward = 4 * width**2 + 4 * width, 2 * width * inner + inner + width
    layer = attention + feed_forward + 2 * norm
    for part, number in (("encoder-layer", layer), ("decoder-layer", layer + attention + norm)):
        yield Observation("layer_parameters_formula", number, {"width": width, "part": part}, "count")
    short = 12 * width**2 + 13 * width
    yield Observation("layer_parameters_formula", short, {"width": width, "part": "encoder-layer, short"}, "count")
    of = {"width": width}
    yield Observation("feed_forward_share", counted["feed-forward"] / counted["encoder-layer"], of, "share")
    yield Observation("feed_forward_ratio", counted["feed-forward"] / counted["attention"], of, "ratio")
    yield Observation("decoder_ratio", counted["decoder-layer"] / counted["encoder-layer"], of, "ratio")
    yield Observation("decoder_extra", counted["decoder-layer"] - counted["encoder-layer"], of, "count")
    twice = count(Layer(2 * width, SelfAttention(2 * width, 1), 2 * inner))
    yield Observation("doubling", twice / counted["encoder-layer"], of, "ratio")


_TORCH_CELLS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


def _cell(cell: str, inputs: int, hidden: int) -> Iterator[Observation]:
    of: dict[str, Scalar] = {"cell": cell, "inputs": inputs, "hidden": hidden}
    counts = {
        "torch": count(_TORCH_CELLS[cell](inputs, hidden)),
        "seedbed": count(Recurrence(cell, inputs, hidden, two_biases=True)),
    }
    for module, number in counts.items():
        yield Observation("cell_parameters", number, of | {"module": module}, "count")
    gates = {"rnn": 1, "gru": 3, "lstm": 4}[cell]
    yield Observation("cell_parameters_formula", gates * (hidden * inputs + hidden**2 + 2 * hidden), of, "count")


@dataclass(frozen=True)
class _Kind:
    """How a network is built, and what it should have by the formula."""

    build: Callable[[Sizes], nn.Module]
    formula: Callable[[Sizes], int]


def _gpt(sizes: Sizes) -> nn.Module:
    """Ours, with learned positions if it has a number of them; pre-norm, and the embedding again as output."""
    chosen = transformer.Options(
        d_model=sizes["width"],
        heads=sizes["heads"],
        layers=sizes["layers"],
        d_ff=4 * sizes["width"],
        positions="learned" if "positions" in sizes else "sinusoidal",
        max_positions=sizes.get("positions", 1),
    )
    return transformer.Model(chosen, sizes["vocabulary"])


def _gpt_formula(sizes: Sizes) -> int:
    """``L (12 d² + 13 d) + V d + T d + 2 d`` (recurrence 4.7)."""
    width, tables = sizes["width"], sizes["vocabulary"] + sizes.get("positions", 0)
    return sizes["layers"] * (12 * width**2 + 13 * width) + tables * width + 2 * width


def _encoder_decoder(sizes: Sizes) -> nn.Module:
    """Ours: pre-norm, with a norm at the end of each stack, and one embedding."""
    layers, width = sizes["layers"], sizes["width"]
    chosen = encoder_decoder.Options(width, sizes["heads"], layers, layers, 4 * width)
    return encoder_decoder.Model(chosen, sizes["vocabulary"])


def _encoder_decoder_formula(sizes: Sizes) -> int:
    """That of `_transformer_formula`, and a norm for each stack."""
    return _transformer_formula(sizes) + 4 * sizes["width"]


def _transformer(sizes: Sizes) -> nn.Module:
    """The original: post-norm, so without a norm at the end; one embedding for both languages and the output."""
    width, inner = sizes["width"], 4 * sizes["width"]
    encoder = [nn.TransformerEncoderLayer(width, sizes["heads"], inner) for _ in range(sizes["layers"])]
    decoder = [nn.TransformerDecoderLayer(width, sizes["heads"], inner) for _ in range(sizes["layers"])]
    parts = {"embedding": nn.Embedding(sizes["vocabulary"], width)}
    return nn.ModuleDict(parts | {"encoder": nn.ModuleList(encoder), "decoder": nn.ModuleList(decoder)})


def _transformer_formula(sizes: Sizes) -> int:
    """``N (encoder + decoder) + V d``, with ``encoder = 12 d² + 13 d`` and ``decoder = encoder + 4 d² + 6 d``."""
    width = sizes["width"]
    encoder = 12 * width**2 + 13 * width
    return sizes["layers"] * (2 * encoder + 4 * width**2 + 6 * width) + sizes["vocabulary"] * width


def _bert(sizes: Sizes) -> nn.Module:
    """Devlin et al. 2019: three tables with a norm, post-norm layers, and a dense layer over the first token."""
    width, heads = sizes["width"], sizes["heads"]
    layers = [nn.TransformerEncoderLayer(width, heads, 4 * width) for _ in range(sizes["layers"])]
    return nn.ModuleDict(
        {
            "embedding": nn.Embedding(sizes["vocabulary"], width),
            "positions": nn.Embedding(sizes["positions"], width),
            "segments": nn.Embedding(2, width),
            "norm": nn.LayerNorm(width),
            "layers": nn.ModuleList(layers),
            "first": nn.Linear(width, width),
        }
    )


def _bert_formula(sizes: Sizes) -> int:
    width, tables = sizes["width"], sizes["vocabulary"] + sizes["positions"] + 2
    layers = sizes["layers"] * (12 * width**2 + 13 * width)
    return layers + tables * width + 2 * width + width**2 + width


_KINDS = {
    "gpt": _Kind(_gpt, _gpt_formula),
    "encoder-decoder": _Kind(_encoder_decoder, _encoder_decoder_formula),
    "transformer": _Kind(_transformer, _transformer_formula),
    "bert": _Kind(_bert, _bert_formula),
}
