"""How many parameters networks have: counted in modules, and by the formulas of the lectures.

Modules are built on PyTorch's meta device, where GPT-3 takes no memory. Networks of the kind ``gpt`` and
``encoder-decoder`` are ours, those of the kind ``transformer`` and ``bert`` are made of `torch.nn`. Sources:
objectives 3.3, 4.4; recurrence 4.7; transformer 5.2, 7.4, 13.3; Vaswani et al. 2017; Devlin et al. 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Options:
    """Which networks, layers and cells are counted.

    A network is described by its name, its kind, and pairs of a size and its value, as in ``gpt-1 gpt layers 12
    width 768 heads 12 vocabulary 40478 positions 512``. ``reported`` may be one more: what its authors say.
    """

    describe: tuple[str, ...]
    widths: tuple[int, ...]  # of layers with feed-forward networks of four times the width
    heads: tuple[int, ...]  # of attention, where they divide the width
    cells: tuple[str, ...] = ()  # each the name of a cell, the width of its inputs and that of its state

    def __post_init__(self) -> None:
        """Check the descriptions.

        Raises:
            ValueError: a description with an unknown kind, or without a size that its kind needs.
        """
        for text in self.describe:
            Description.of(text)
        for text in self.cells:
            cell_of(text)
        if min((*self.widths, *self.heads), default=1) < 1:
            raise ValueError(f"widths {list(self.widths)}, heads {list(self.heads)}: expected at least 1 each")


@dataclass(frozen=True)
class Description:
    """A network in words, read."""

    name: str
    kind: str
    sizes: dict[str, int]

    @staticmethod
    def of(text: str) -> Description:
        """Read a description.

        Raises:
            ValueError: an unknown kind, a size that is missing or no whole number from 1.
        """
        name, kind, *rest = [*text.split(), "", ""][: max(2, len(text.split()))]
        if kind not in _KINDS:
            raise ValueError(f"describe: {text!r}: expected a name and one of {', '.join(_KINDS)}")
        try:
            sizes = {size: int(value) for size, value in zip(rest[::2], rest[1::2], strict=True)}
            require_positive(**sizes)
        except ValueError as error:
            raise ValueError(f"describe: {text!r}: expected pairs of a size and a number from 1") from error
        needed = _KINDS[kind].needs
        if missing := [size for size in needed if size not in sizes]:
            raise ValueError(f"describe: {text!r}: {kind} needs {', '.join(missing)}")
        if unknown := [size for size in sizes if size not in (*needed, "reported", "positions")]:
            raise ValueError(f"describe: {text!r}: {kind} has no {', '.join(unknown)}")
        return Description(name, kind, sizes)


def cell_of(text: str) -> tuple[str, int, int]:
    """Read the name of a cell, the width of its inputs and that of its state.

    Raises:
        ValueError: it is not of that form.
    """
    cell, *sizes = text.split()
    if cell not in _TORCH_CELLS or len(sizes) != 2 or not all(size.isdecimal() for size in sizes):
        raise ValueError(f"cells: {text!r}: expected one of {', '.join(_TORCH_CELLS)} and two widths")
    return cell, int(sizes[0]), int(sizes[1])


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
        for text in options.describe:
            yield from _network(Description.of(text))
        yield from _ratios([Description.of(text) for text in options.describe])
        for width in options.widths:
            yield from _attention(width, options.heads)
            yield from _layer(width)
        for text in options.cells:
            yield from _cell(*cell_of(text))


def count(*modules: nn.Module) -> int:
    """The numbers in all their parameters; one that occurs twice is counted once."""
    found = {id(one): one.numel() for module in modules for one in module.parameters()}
    return sum(found.values())


def _network(one: Description) -> Iterator[Observation]:
    of: dict[str, Scalar] = {"network": one.name}
    kind = _KINDS[one.kind]
    module = kind.build(one.sizes)
    counted = count(module)
    yield Observation("parameters", counted, of, "count")
    yield Observation("parameters_formula", kind.formula(one.sizes), of, "count")
    if "reported" in one.sizes:
        yield Observation("over_reported", counted / one.sizes["reported"] - 1, of, "ratio")
    parts = dict(module.named_children())
    for name, part in parts.items():
        yield Observation("part_parameters", count(part), of | {"part": name}, "count")
    tables = [part for name, part in parts.items() if name in _TABLES]
    yield Observation("embedding_share", count(*tables) / counted, of, "share")


#: The names of tables of tokens, positions and kinds of sentences in the networks below and in ours.
_TABLES = ("embedding", "table", "positions", "segments")


def _ratios(described: list[Description]) -> Iterator[Observation]:
    """An encoder-decoder against a decoder alone, with and without the embedding."""
    pairs = [next((one for one in described if one.kind == kind), None) for kind in ("encoder-decoder", "gpt")]
    if None in pairs:
        return
    both, one = (_KINDS[pair.kind].build(pair.sizes) for pair in pairs if pair)
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


def _cell(cell: str, width: int, hidden: int) -> Iterator[Observation]:
    of: dict[str, Scalar] = {"cell": cell, "inputs": width, "hidden": hidden}
    counts = {
        "torch": count(_TORCH_CELLS[cell](width, hidden)),
        "seedbed": count(Recurrence(cell, width, hidden, two_biases=True)),
    }
    for module, number in counts.items():
        yield Observation("cell_parameters", number, of | {"module": module}, "count")
    gates = {"rnn": 1, "gru": 3, "lstm": 4}[cell]
    yield Observation("cell_parameters_formula", gates * (hidden * width + hidden**2 + 2 * hidden), of, "count")


Sizes = dict[str, int]


@dataclass(frozen=True)
class _Kind:
    """How a network is built, and what it should have by the formula."""

    needs: tuple[str, ...]
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


_SIZES = ("layers", "width", "heads", "vocabulary")
_KINDS = {
    "gpt": _Kind(_SIZES, _gpt, _gpt_formula),
    "encoder-decoder": _Kind(_SIZES, _encoder_decoder, _encoder_decoder_formula),
    "transformer": _Kind(_SIZES, _transformer, _transformer_formula),
    "bert": _Kind((*_SIZES, "positions"), _bert, _bert_formula),
}
