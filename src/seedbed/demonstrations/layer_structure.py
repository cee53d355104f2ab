"""What the layers of a Transformer are made of, read off modules of ours and of PyTorch (transformer 7, 8.2, 8.5).

Which positions, streams and parts an output depends on is found by changing one of them; nothing is trained.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seedbed.batching import Mask, Packed, pack
from seedbed.demonstrations import numpy_layers
from seedbed.documents import Documents
from seedbed.messages import require_positive
from seedbed.models import encoder_decoder
from seedbed.models.attention import attention_weights
from seedbed.models.initialisation import fill, unfilled
from seedbed.models.layers import FeedForward, Layer
from seedbed.models.mixers.attention import Mixer as SelfAttention
from seedbed.observations import Observation, Scalar

NEEDS = ("rng",)

#: Of each word of "Jane visite l'Afrique en septembre": person, action, place, time (transformer 2.3).
_WORDS = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1 / 4] * 4, [0, 0, 0, 1]])
#: What each kind of word asks for.
_ASKS = 4 * np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 1, 0, 0]])
_AFRICA, _PLACE = 2, 2


@dataclass(frozen=True)
class Options:
    """Sizes of the networks and of what they read."""

    width: int = 16
    heads: int = 4
    inner: int = 64
    layers: int = 6
    vocabulary: int = 20
    tokens: int = 8
    written: int = 5  # tokens that a decoder writes
    keys: int = 16  # among which a query without a preference chooses

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, heads that do not divide the width, or too few tokens to hide two.
        """
        require_positive(**vars(self))
        if self.width % self.heads:
            raise ValueError(f"heads {self.heads}: expected a divisor of width {self.width}")
        if self.tokens < 4:
            raise ValueError(f"tokens {self.tokens}: expected at least 4")


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """Structure of layers.

    ``stack_shape`` is the shape of the stream after each number of layers. ``changed_positions`` counts the
    positions whose output changes with one position's input, by part of a layer. ``stream_change`` is how much a
    layer whose parts give zeros changes the stream, by the place of its norms. ``place`` is what "l'Afrique"
    knows of its own place, before attention, after it, and with the residual connection. ``sublayers`` counts
    the parts of a decoder's layer that have a norm and a residual connection. ``tokens_read`` is how many tokens
    go into the queries and into the keys and values of a decoder's attention to the source, ``calls`` how often
    a layer runs, both while a decoder writes. ``logits_shape``, ``probability_deviation`` (of the sum of
    probabilities from 1) and ``loss_difference`` are of the output layer. ``uniform_entropy`` is that of
    attention without a preference. ``padding_weight`` is what an attention gives to two hidden positions, by
    what True in the mask was meant as.
    """
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    yield from _stack(options, generator)
    yield from _dependence(options, generator)
    yield from _identity(options, generator)
    yield from _residual()
    yield from _decoder(options, generator)
    yield from _output_layer(options, generator)
    yield from _uniform(options)
    yield from _mask_meaning(options, generator)
    default = inspect.signature(nn.TransformerEncoderLayer).parameters["norm_first"].default
    yield Observation("norm_first_by_default", float(default), unit="share")


def _filled(make: Callable[[], nn.Module], generator: torch.Generator) -> nn.Module:
    network = unfilled(make)
    fill(network, generator)
    return network.double()


def _normal(generator: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=generator, dtype=torch.double)


def _documents(*lengths: int, vocabulary: int) -> Packed:
    """Documents whose tokens all see each other."""
    documents = Documents.of([np.arange(length) % vocabulary for length in lengths])
    return pack(documents, list(lengths))


def _layer(options: Options, norm: str, generator: torch.Generator) -> Layer:
    mixer = SelfAttention(options.width, options.heads)
    made = Layer(options.width, mixer, options.inner, "post" if norm == "post" else "pre")
    fill(made, generator)
    return made.double()


@torch.no_grad()
def _stack(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    batch = _documents(options.tokens, vocabulary=options.vocabulary)
    hidden = _normal(generator, options.tokens, options.width)
    for number in range(1, options.layers + 1):
        layer = _layer(options, "post", generator)
        hidden = layer(hidden, layer.mixer.arrange(batch))
        yield from _shape("stack_shape", hidden, {"layers": number})


def _shape(metric: str, values: Tensor, condition: dict[str, Scalar]) -> Iterator[Observation]:
    """Rows and columns of a matrix."""
    for axis, size in zip(("rows", "columns"), values.shape, strict=True):
        yield Observation(metric, size, condition | {"axis": axis}, "count")


@torch.no_grad()
def _dependence(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    """Position 0 changes; which outputs do?"""
    batch = _documents(options.tokens, vocabulary=options.vocabulary)
    feed_forward = _filled(lambda: FeedForward(options.width, options.inner), generator)
    norm = nn.LayerNorm(options.width).double()
    layer = _layer(options, "post", generator)
    attention, arranged = layer.mixer, layer.mixer.arrange(batch)
    vectors = _normal(generator, options.tokens, options.width)
    changed = vectors.clone()
    changed[0] = _normal(generator, options.width)
    parts: dict[str, Callable[[Tensor], Tensor]] = {
        "feed-forward": feed_forward,
        "norm": norm,
        "attention": lambda hidden: attention(hidden, arranged),
    }
    for name, part in parts.items():
        differs = (part(vectors) != part(changed)).any(1)
        yield Observation("changed_positions", int(differs.sum()), {"part": name}, "count")
    shared = feed_forward(vectors[:1].expand(options.tokens, -1))
    yield Observation("position_difference", float((shared - shared[0]).abs().max()), unit="deviation")
    linear = sum(isinstance(one, nn.Linear) for one in feed_forward.modules())
    yield Observation("feed_forward_layers", linear, unit="count")


@torch.no_grad()
def _identity(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    """What is left of a stream if no part adds anything to it: with pre-norm all of it."""
    batch = _documents(options.tokens, vocabulary=options.vocabulary)
    stream = 3 * _normal(generator, options.tokens, options.width)
    for norm in ("pre", "post"):
        layer = _layer(options, norm, generator)
        for part in (layer.mixer.output, layer.feed_forward.contract):  # type: ignore[attr-defined]
            part.weight.zero_()
            part.bias.zero_()
        change = float((layer(stream, layer.mixer.arrange(batch)) - stream).abs().max())
        yield Observation("stream_change", change, {"norm": norm}, "deviation")


def _residual() -> Iterator[Observation]:
    """The lecture's example by hand: keys and values are the words themselves."""
    weights = numpy_layers.softmax(_WORDS @ _ASKS @ _WORDS.T / 2)
    attended = weights @ _WORDS
    for after, vectors in (("nothing", _WORDS), ("attention", attended), ("residual", _WORDS + attended)):
        yield Observation("place", float(vectors[_AFRICA, _PLACE]), {"after": after}, "deviation")


@torch.no_grad()
def _decoder(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    """A decoder that writes: what it reads of which stream, and how often each layer runs."""
    sizes = encoder_decoder.Options(options.width, options.heads, 2, 2, options.inner)
    network = _filled(lambda: encoder_decoder.Model(sizes, options.vocabulary), generator)
    assert isinstance(network, encoder_decoder.Model)
    layer, encoder_layer = network.decoder[0], network.encoder[0]
    assert isinstance(layer, encoder_decoder.DecoderLayer)
    assert isinstance(encoder_layer, Layer)
    norms = sum(isinstance(part, nn.LayerNorm) for part in layer.children())
    yield Observation("sublayers", norms, unit="count")
    source = _documents(options.tokens, vocabulary=options.vocabulary)
    read: dict[str, list[int]] = {"queries": [], "keys and values": [], "encoder": [], "decoder": []}
    watched = (layer.cross.query, layer.cross.memory, encoder_layer.feed_forward, layer.feed_forward)
    hooks = [_watch(part, read[name]) for name, part in zip(read, watched, strict=True)]
    state = network.start(source)
    for step in range(options.written):
        _, state = network.step(torch.tensor([step % options.vocabulary]), state)
    for hook in hooks:
        hook.remove()
    for name in ("queries", "keys and values"):
        yield Observation("tokens_read", sum(read[name]), {"for": name}, "token")
    for name in ("encoder", "decoder"):
        yield Observation("calls", len(read[name]), {"layer": name}, "count")


def _watch(part: nn.Module, seen: list[int]) -> torch.utils.hooks.RemovableHandle:
    """Note how many vectors go into a module, each time that it is called."""
    return part.register_forward_hook(lambda _, inputs, output: seen.append(len(inputs[0])))


@torch.no_grad()
def _output_layer(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    """A linear map to the vocabulary, softmax, and the cross-entropy of the right tokens."""
    output = _filled(lambda: nn.Linear(options.width, options.vocabulary), generator)
    logits = output(_normal(generator, options.tokens, options.width))
    targets = torch.arange(options.tokens) % options.vocabulary
    probabilities = numpy_layers.softmax(logits.numpy())
    loss = -np.log(probabilities[np.arange(options.tokens), targets.numpy()]).mean()
    yield from _shape("logits_shape", logits, {})
    deviation = float((logits.softmax(1).sum(1) - 1).abs().max())
    yield Observation("probability_deviation", deviation, unit="share")
    difference = abs(float(F.cross_entropy(logits, targets)) - float(loss))
    yield Observation("loss_difference", difference, unit="nat")


def _uniform(options: Options) -> Iterator[Observation]:
    """The entropy of attention that prefers no key."""
    everything = Mask.of(torch.ones(1, 1, options.keys, dtype=torch.bool))
    query, keys = torch.zeros(1, 1, options.width), torch.ones(1, options.keys, options.width)
    weights = attention_weights(query.double(), keys.double(), everything)
    yield Observation("uniform_entropy", float(-(weights * weights.log()).sum()), {"keys": options.keys}, "nat")


@torch.no_grad()
def _mask_meaning(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    """Two positions are padding; the same boolean mask goes to two functions of PyTorch."""
    vectors = _normal(generator, 1, options.tokens, options.width)
    padding = torch.arange(options.tokens) >= options.tokens - 2
    attention = nn.MultiheadAttention(options.width, options.heads, batch_first=True).double()
    for parameter in attention.parameters():
        nn.init.normal_(parameter, generator=generator)
    found = padding.double()[None, :, None]  # what is gathered is then the weight on padding
    for meaning, mask in (("look here", ~padding), ("do not look", padding)):
        _, weights = attention(vectors, vectors, vectors, key_padding_mask=mask[None])
        gathered = F.scaled_dot_product_attention(vectors, vectors, found, attn_mask=mask.expand(len(mask), -1))
        yield from _padding_weight("MultiheadAttention", meaning, weights[0][:, padding].sum(1).tolist())
        yield from _padding_weight("scaled_dot_product_attention", meaning, gathered[0, :, 0].tolist())


def _padding_weight(function: str, meaning: str, weights: Sequence[float]) -> Iterator[Observation]:
    """The mean over queries."""
    yield Observation("padding_weight", float(np.mean(weights)), {"function": function, "true": meaning}, "share")
