"""Every layer that studies train, three times: ours, PyTorch's and one in NumPy, with the same parameters.

The parts of the NumPy version name the parameters. A module of PyTorch or of ours holds them one below the other,
and is called with them in the place of its own, so that gradients reach the same leaves in all versions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from seedbed.batching import Packed, cross_layout, pack
from seedbed.demonstrations import numpy_layers
from seedbed.demonstrations.numpy_layers import Array, under
from seedbed.documents import Documents
from seedbed.models.cross_attention import CrossAttention
from seedbed.models.encoder_decoder import DecoderLayer
from seedbed.models.heads import cross_heads
from seedbed.models.layers import FeedForward, Layer
from seedbed.models.mixers.attention import Mixer as SelfAttention
from seedbed.models.recurrence import Recurrence
from seedbed.models.transformer import Model as Transformer
from seedbed.models.transformer import Options as TransformerOptions

#: A layer, given its parameters and inputs by name; the output is [tokens, width].
NumpyVersion = Callable[[Mapping[str, Array]], Array]
TorchVersion = Callable[[Mapping[str, Tensor]], Tensor]
#: The parts of a module, each with the parts of the NumPy version that it holds, one below the other.
Parts = Mapping[str, tuple[str, ...]]

OWN_ATTENTION: Parts = {"project": ("query", "key", "value"), "output": ("output",)}
_OWN_CROSS: Parts = {"query": ("query",), "memory": ("key", "value"), "output": ("output",)}
TORCH_ATTENTION: Parts = {"in_proj": ("query", "key", "value"), "out_proj": ("output",)}
_FEED_FORWARD = {"expand": ("expand",), "contract": ("contract",)}
_GATES = {"rnn": ("",), "gru": ("reset.", "update.", "new."), "lstm": ("write.", "forget.", "candidate.", "read.")}


@dataclass(frozen=True)
class Sizes:
    """Sizes of the layers, and lengths of the documents that they read together."""

    width: int
    heads: int
    inner: int
    vocabulary: int
    lengths: tuple[int, ...]
    source_lengths: tuple[int, ...]


@dataclass(frozen=True)
class Versions:
    """One layer, three times.

    Attributes:
        numpy: By NumPy.
        torch: By PyTorch.
        own: By `seedbed.models`; None where no study has such a layer.
        parts: The parts that have a weight and a bias: outputs and inputs of each.
        norms: The parts that are norms, by width.
        inputs: Vectors that it reads: how many, and their width.
    """

    numpy: NumpyVersion
    torch: TorchVersion
    own: TorchVersion | None
    parts: Mapping[str, tuple[int, int]]
    norms: Mapping[str, int]
    inputs: Mapping[str, tuple[int, int]]

    def draw(self, rng: np.random.Generator) -> dict[str, Array]:
        """Random parameters and inputs; what comes out of a weight is about as large as what goes in."""
        drawn = {name: rng.standard_normal(shape) for name, shape in self.inputs.items()}
        for name, (outputs, inputs) in self.parts.items():
            drawn[f"{name}.weight"] = rng.standard_normal((outputs, inputs)) / np.sqrt(inputs)
            drawn[f"{name}.bias"] = rng.standard_normal((1, outputs)) / 4
        for name, width in self.norms.items():
            drawn[f"{name}.weight"] = 1 + rng.standard_normal((1, width)) / 4
            drawn[f"{name}.bias"] = rng.standard_normal((1, width)) / 4
        return drawn


def layers(sizes: Sizes) -> dict[str, Versions]:
    """Every layer that is compared, by name."""
    return {
        "attention": attention(sizes, causal=False),
        "causal-attention": attention(sizes, causal=True),
        "cross-attention": _cross_attention(sizes),
        "feed-forward-gelu": _feed_forward(sizes, "gelu"),
        "feed-forward-relu": _feed_forward(sizes, "relu"),
        "layer-norm": _layer_norm(sizes),
        "encoder-pre": _encoder(sizes, "pre"),
        "encoder-post": _encoder(sizes, "post"),
        "decoder-pre": _decoder(sizes, "pre"),
        "decoder-post": _decoder(sizes, "post"),
        "language-model": _language_model(sizes),
        **{cell: _recurrence(sizes, cell) for cell in _GATES},
    }


def _called(module: nn.Module, parts: Parts, leaves: Mapping[str, Tensor], *arguments: Any) -> Any:  # noqa: ANN401
    """What a module makes of its arguments, with the parameters of the NumPy version in the place of its own."""
    return functional_call(module, filled(module, parts, leaves), arguments)


def filled(module: nn.Module, parts: Parts, leaves: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The parameters of a module, by its own names, from those of the NumPy version."""
    found = {}
    for name, parameter in module.named_parameters():
        kind = "weight" if "weight" in name else "bias"
        part = name.replace(kind, "").strip("._")
        joined = torch.cat([leaves[f"{one}.{kind}"] for one in parts[part]], 1 if kind == "bias" else 0)
        found[name] = joined.reshape(parameter.shape)
    return found


def _prefixed(own: str, numpy: str, parts: Parts) -> dict[str, tuple[str, ...]]:
    """The same parts inside a larger module."""
    return {f"{own}{part}": tuple(f"{numpy}{one}" for one in held) for part, held in parts.items()}


def by_document(lengths: tuple[int, ...], vectors: Any) -> list[Any]:  # noqa: ANN401 - arrays or tensors
    """The documents, [tokens, width] each, given all their tokens; axes in front stay."""
    ends = np.cumsum(lengths).tolist()
    return [vectors[..., end - length : end, :] for length, end in zip(lengths, ends, strict=True)]


def batch_of(lengths: tuple[int, ...], causal: bool) -> Packed:
    """Documents of these lengths; their tokens see those before them, or all."""
    documents = Documents.of([range(length) for length in lengths])
    return pack(documents, None if causal else list(lengths))


def _numpy_documents(sizes: Sizes, function: Callable[[Array], Array], leaves: Mapping[str, Array]) -> Array:
    """One document after the other."""
    return np.concatenate([function(one) for one in by_document(sizes.lengths, leaves["vectors"])], -2)


def _torch_documents(sizes: Sizes, function: Callable[[Tensor], Tensor], leaves: Mapping[str, Tensor]) -> Tensor:
    """One document after the other, each a batch of its own."""
    found = [function(one[None])[0] for one in by_document(sizes.lengths, leaves["vectors"])]
    return torch.cat(found)


def _hidden(length: int) -> Tensor:
    """[length, length], True where PyTorch's layers must not look."""
    return ~torch.ones(length, length, dtype=torch.bool).tril()


def _vectors(sizes: Sizes) -> dict[str, tuple[int, int]]:
    return {"vectors": (sum(sizes.lengths), sizes.width)}


def _squares(width: int, *names: str) -> dict[str, tuple[int, int]]:
    return dict.fromkeys(names, (width, width))


def attention(sizes: Sizes, causal: bool) -> Versions:
    """Multi-head self-attention; each token sees those before it, or all."""
    width, heads = sizes.width, sizes.heads
    with torch.device("meta"):
        own, other = SelfAttention(width, heads), nn.MultiheadAttention(width, heads, batch_first=True)
    batch = batch_of(sizes.lengths, causal)

    def by_numpy(leaves: Mapping[str, Array]) -> Array:
        def one(x: Array) -> Array:
            allowed = numpy_layers.causal(x.shape[-2]) if causal else None
            return numpy_layers.attention(x, x, leaves, heads, allowed)

        return _numpy_documents(sizes, one, leaves)

    def by_torch(leaves: Mapping[str, Tensor]) -> Tensor:
        def one(x: Tensor) -> Tensor:
            hidden = _hidden(x.shape[1]) if causal else None
            given = filled(other, TORCH_ATTENTION, leaves)
            result: Tensor = functional_call(other, given, (x, x, x), {"attn_mask": hidden})[0]
            return result

        return _torch_documents(sizes, one, leaves)

    def by_own(leaves: Mapping[str, Tensor]) -> Tensor:
        result: Tensor = _called(own, OWN_ATTENTION, leaves, leaves["vectors"], own.arrange(batch))
        return result

    parts = _squares(width, "query", "key", "value", "output")
    return Versions(by_numpy, by_torch, by_own, parts, {}, _vectors(sizes))


def _cross_attention(sizes: Sizes) -> Versions:
    width, heads = sizes.width, sizes.heads
    with torch.device("meta"):
        own, other = CrossAttention(width, heads), nn.MultiheadAttention(width, heads, batch_first=True)
    target, source = batch_of(sizes.lengths, True), batch_of(sizes.source_lengths, False)
    layout = cross_heads(cross_layout(target, source), target.positions, source.positions, heads)

    def by_numpy(leaves: Mapping[str, Array]) -> Array:
        pairs = zip(*_streams(sizes, leaves), strict=True)
        return np.concatenate([numpy_layers.attention(x, read, leaves, heads) for x, read in pairs], -2)

    def by_torch(leaves: Mapping[str, Tensor]) -> Tensor:
        pairs = zip(*_streams(sizes, leaves), strict=True)
        return torch.cat([_called(other, TORCH_ATTENTION, leaves, x, read, read)[0] for x, read in pairs])

    def by_own(leaves: Mapping[str, Tensor]) -> Tensor:
        result: Tensor = _called(own, _OWN_CROSS, leaves, leaves["vectors"], leaves["source"], layout)
        return result

    parts = _squares(width, "query", "key", "value", "output")
    return Versions(by_numpy, by_torch, by_own, parts, {}, _two_streams(sizes))


def _two_streams(sizes: Sizes) -> dict[str, tuple[int, int]]:
    return _vectors(sizes) | {"source": (sum(sizes.source_lengths), sizes.width)}


def _streams(sizes: Sizes, leaves: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """The documents, and the source of each."""
    return (
        by_document(sizes.lengths, leaves["vectors"]),
        by_document(sizes.source_lengths, leaves["source"]),
    )


def _feed_forward(sizes: Sizes, activation: Literal["gelu", "relu"]) -> Versions:
    with torch.device("meta"):
        own = FeedForward(sizes.width, sizes.inner, activation)
        kinds = {"gelu": nn.GELU, "relu": nn.ReLU}
        expand, contract = nn.Linear(sizes.width, sizes.inner), nn.Linear(sizes.inner, sizes.width)
        other = nn.Sequential(expand, kinds[activation](), contract)
    return Versions(
        lambda leaves: numpy_layers.feed_forward(leaves["vectors"], leaves, activation),
        lambda leaves: _called(other, {"0": ("expand",), "2": ("contract",)}, leaves, leaves["vectors"]),
        lambda leaves: _called(own, _FEED_FORWARD, leaves, leaves["vectors"]),
        _inner_sizes(sizes),
        {},
        _vectors(sizes),
    )


def _inner_sizes(sizes: Sizes) -> dict[str, tuple[int, int]]:
    return {"expand": (sizes.inner, sizes.width), "contract": (sizes.width, sizes.inner)}


def _layer_norm(sizes: Sizes) -> Versions:
    with torch.device("meta"):
        other = nn.LayerNorm(sizes.width)
    return Versions(
        lambda leaves: numpy_layers.layer_norm(leaves["vectors"], leaves, "norm"),
        lambda leaves: _called(other, {"": ("norm",)}, leaves, leaves["vectors"]),
        None,  # ours is PyTorch's
        {},
        {"norm": sizes.width},
        _vectors(sizes),
    )


#: A layer of the encoder: ours, and PyTorch's.
_OWN_LAYER = {
    **_prefixed("mixer.", "attention.", OWN_ATTENTION),
    **_prefixed("feed_forward.", "", _FEED_FORWARD),
    "mixer_norm": ("norm_1",),
    "feed_forward_norm": ("norm_2",),
}
_TORCH_LAYER = {
    **_prefixed("self_attn.", "attention.", TORCH_ATTENTION),
    "linear1": ("expand",),
    "linear2": ("contract",),
    "norm1": ("norm_1",),
    "norm2": ("norm_2",),
}


def _layer_sizes(sizes: Sizes, *attentions: str) -> dict[str, tuple[int, int]]:
    roles = [f"{one}.{role}" for one in attentions for role in ("query", "key", "value", "output")]
    return _squares(sizes.width, *roles) | _inner_sizes(sizes)


def _torch_layer(
    kind: type[nn.TransformerEncoderLayer] | type[nn.TransformerDecoderLayer],
    sizes: Sizes,
    order: Literal["pre", "post"],
) -> nn.Module:
    return kind(
        sizes.width,
        sizes.heads,
        sizes.inner,
        dropout=0,
        activation="gelu",
        batch_first=True,
        norm_first=order == "pre",
    )


def _encoder(sizes: Sizes, order: Literal["pre", "post"]) -> Versions:
    with torch.device("meta"):
        own = Layer(sizes.width, SelfAttention(sizes.width, sizes.heads), sizes.inner, order)
        other = _torch_layer(nn.TransformerEncoderLayer, sizes, order)
    arranged = own.mixer.arrange(batch_of(sizes.lengths, False))

    def by_numpy(leaves: Mapping[str, Array]) -> Array:
        return _numpy_documents(sizes, lambda x: numpy_layers.encoder_layer(x, leaves, sizes.heads, order), leaves)

    return Versions(
        by_numpy,
        lambda leaves: _torch_documents(sizes, partial(_called, other, _TORCH_LAYER, leaves), leaves),
        lambda leaves: _called(own, _OWN_LAYER, leaves, leaves["vectors"], arranged),
        _layer_sizes(sizes, "attention"),
        {"norm_1": sizes.width, "norm_2": sizes.width},
        _vectors(sizes),
    )


_OWN_DECODER = {
    **_prefixed("attention.", "attention.", OWN_ATTENTION),
    **_prefixed("cross.", "cross.", _OWN_CROSS),
    **_prefixed("feed_forward.", "", _FEED_FORWARD),
    "attention_norm": ("norm_1",),
    "cross_norm": ("norm_2",),
    "feed_forward_norm": ("norm_3",),
}
_TORCH_DECODER = {
    **_TORCH_LAYER,
    **_prefixed("multihead_attn.", "cross.", TORCH_ATTENTION),
    "norm3": ("norm_3",),
}


def _decoder(sizes: Sizes, order: Literal["pre", "post"]) -> Versions:
    heads = sizes.heads
    with torch.device("meta"):
        own = DecoderLayer(sizes.width, heads, sizes.inner)
        other = _torch_layer(nn.TransformerDecoderLayer, sizes, order)
    target, source = batch_of(sizes.lengths, True), batch_of(sizes.source_lengths, False)
    cross = cross_heads(cross_layout(target, source), target.positions, source.positions, heads)
    arranged = own.attention.arrange(target)

    def by_numpy(leaves: Mapping[str, Array]) -> Array:
        pairs = zip(*_streams(sizes, leaves), strict=True)
        return np.concatenate([numpy_layers.decoder_layer(x, read, leaves, heads, order) for x, read in pairs], -2)

    def by_torch(leaves: Mapping[str, Tensor]) -> Tensor:
        given, found = filled(other, _TORCH_DECODER, leaves), []
        for x, read in zip(*_streams(sizes, leaves), strict=True):
            hidden = {"tgt_mask": _hidden(len(x))}
            found.append(functional_call(other, given, (x[None], read[None]), hidden)[0])
        return torch.cat(found)

    def by_own(leaves: Mapping[str, Tensor]) -> Tensor:
        result: Tensor = _called(own, _OWN_DECODER, leaves, leaves["vectors"], arranged, leaves["source"], cross)
        return result

    norms = {f"norm_{number}": sizes.width for number in (1, 2, 3)}
    parts = _layer_sizes(sizes, "attention", "cross")
    return Versions(by_numpy, by_torch, by_own if order == "pre" else None, parts, norms, _two_streams(sizes))


def _language_model(sizes: Sizes) -> Versions:
    """A whole Transformer of two layers, from tokens to logits; pre-norm, learned positions, tied output."""
    width, heads, longest = sizes.width, sizes.heads, max(sizes.lengths)
    chosen = TransformerOptions(
        d_model=width, heads=heads, layers=2, d_ff=sizes.inner, positions="learned", max_positions=longest
    )
    with torch.device("meta"):
        own = Transformer(chosen, sizes.vocabulary)
        layers = [_torch_layer(nn.TransformerEncoderLayer, sizes, "pre") for _ in range(chosen.layers)]
        other, norm = nn.ModuleList(layers), nn.LayerNorm(width)
    places = np.concatenate([np.arange(length) for length in sizes.lengths])
    tokens = (3 * np.arange(len(places)) + 1) % sizes.vocabulary
    batch = pack(Documents.of(np.split(tokens, np.cumsum(sizes.lengths)[:-1])))

    def by_numpy(leaves: Mapping[str, Array]) -> Array:
        table = leaves["table"]
        vectors = table[..., tokens, :] * np.sqrt(width) + leaves["positions"][..., places, :]

        def one(x: Array) -> Array:
            for layer in range(chosen.layers):
                own = under(leaves, f"{layer}.")
                x = numpy_layers.encoder_layer(x, own, heads, "pre", numpy_layers.causal(x.shape[-2]))
            return numpy_layers.layer_norm(x, leaves, "norm") @ table.swapaxes(-1, -2)

        return _numpy_documents(sizes, one, {"vectors": vectors})

    def by_torch(leaves: Mapping[str, Tensor]) -> Tensor:
        vectors = leaves["table"][tokens] * width**0.5 + leaves["positions"][places]

        def one(x: Tensor) -> Tensor:
            for number, layer in enumerate(other):
                given = filled(layer, _prefixed("", f"{number}.", _TORCH_LAYER), leaves)
                x = functional_call(layer, given, (x,), {"src_mask": _hidden(x.shape[1])})
            result: Tensor = _called(norm, {"": ("norm",)}, leaves, x) @ leaves["table"].T
            return result

        return _torch_documents(sizes, one, {"vectors": vectors})

    def by_own(leaves: Mapping[str, Tensor]) -> Tensor:
        result: Tensor = functional_call(own, _filled_network(own, leaves), (batch,))
        return result

    parts = {
        f"{layer}.{name}": size for layer in (0, 1) for name, size in _layer_sizes(sizes, "attention").items()
    }
    norms = {f"{layer}.norm_{number}": width for layer in (0, 1) for number in (1, 2)} | {"norm": width}
    inputs = {"table": (sizes.vocabulary, width), "positions": (longest, width)}
    return Versions(by_numpy, by_torch, by_own, parts, norms, inputs)


def _filled_network(own: Transformer, leaves: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The parameters of our Transformer, by its own names."""
    given = {"embedding.weight": leaves["table"], "table.weight": leaves["positions"]}
    for number, layer in enumerate(own.layers):
        for name, value in filled(layer, _prefixed("", f"{number}.", _OWN_LAYER), leaves).items():
            given[f"layers.{number}.{name}"] = value
    for name, value in filled(own.norm, {"": ("norm",)}, leaves).items():
        given[f"norm.{name}"] = value
    return given


def _recurrence(sizes: Sizes, cell: str) -> Versions:
    width = sizes.width
    kinds = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
    with torch.device("meta"):
        own = Recurrence(cell, width, width, two_biases=True)
        other = kinds[cell](width, width, batch_first=True)
    gates = _GATES[cell]
    inputs, hidden = (tuple(f"{gate}{name}" for gate in gates) for name in ("input", "hidden"))
    steps = batch_of(sizes.lengths, True).time_steps
    by_numpy = {"rnn": numpy_layers.rnn, "gru": numpy_layers.gru, "lstm": numpy_layers.lstm}[cell]

    def by_torch(leaves: Mapping[str, Tensor]) -> Tensor:
        parts = {"ih_l0": inputs, "hh_l0": hidden}
        return _torch_documents(sizes, lambda x: _called(other, parts, leaves, x)[0], leaves)

    def by_own(leaves: Mapping[str, Tensor]) -> Tensor:
        parts = {"input": inputs, "hidden": hidden}
        result: Tensor = _called(own, parts, leaves, leaves["vectors"][steps.order], steps)[steps.inverse]
        return result

    return Versions(
        lambda leaves: _numpy_documents(sizes, partial(by_numpy, parameters=leaves), leaves),
        by_torch,
        by_own,
        _squares(width, *inputs, *hidden),
        {},
        _vectors(sizes),
    )
