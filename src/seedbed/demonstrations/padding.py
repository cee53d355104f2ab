"""What a mask of padding does: a padded sentence is the same as the sentence alone.

Lectures: transformer 8.3 and exercise 4. The sentence alone is read by our own layer, the padded one by a layer in
NumPy that shares no code with it; a decoder's layer is PyTorch's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from seedbed.demonstrations import numpy_layers
from seedbed.demonstrations.layer_versions import Sizes, layers
from seedbed.messages import require_positive
from seedbed.observations import Observation

NEEDS = ("rng",)

Numbers = NDArray[np.float64]
_PADDING = 0  # the token
LEFT_OUT = ("nothing", "look-ahead", "target padding", "source padding")


@dataclass(frozen=True)
class Options:
    """Sizes of the layers, and of the sentence."""

    width: int = 16
    heads: int = 4
    inner: int = 64
    words: int = 3
    padding: int = 3  # positions behind the words
    vocabulary: int = 10

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, a vocabulary without words, or heads that do not divide the width.
        """
        require_positive(**vars(self))
        if self.vocabulary < 2:
            raise ValueError(f"vocabulary {self.vocabulary}: expected padding and at least one word")
        if self.width % self.heads:
            raise ValueError(f"heads {self.heads}: expected a divisor of width {self.width}")

    @property
    def is_word(self) -> NDArray[np.bool_]:
        """[positions], True where a word is."""
        return np.arange(self.words + self.padding) < self.words


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """Of a layer of an encoder, with a mask of padding or with none.

    ``padding_weight`` is the largest weight of a head on padding, by query. ``alone_difference`` is that of the
    words' outputs from those of the sentence alone. ``swap_change`` is how much outputs of words, or of padding,
    change if the padding's vectors are others. Of a decoder's layer, ``decoder_difference`` is the same as
    ``alone_difference`` if one of its masks is left out. ``loss_change`` is how much the loss changes with the
    outputs at padding, ``padding_gradient`` its largest gradient there, by what the loss ignores.
    """
    yield from _encoder(options, rng)
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    yield from _decoder(options, generator)
    yield from _loss(options, generator)


def _encoder(options: Options, rng: np.random.Generator) -> Iterator[Observation]:
    sizes = Sizes(options.width, options.heads, options.inner, 1, (options.words,), (1,))
    versions = layers(sizes)["encoder-post"]
    leaves = versions.draw(rng)
    assert versions.own is not None
    alone = versions.own({name: torch.from_numpy(value) for name, value in leaves.items()}).numpy()
    paddings = rng.standard_normal((2, options.padding, options.width))
    padded, other = (np.concatenate([leaves["vectors"], padding]) for padding in paddings)
    words = options.is_word
    masks = {"padding": np.broadcast_to(words, (len(words), len(words))), "none": None}
    for mask, allowed in masks.items():
        parameters = numpy_layers.under(leaves, "attention.")
        weights = np.array(numpy_layers.head_weights(padded, padded, parameters, options.heads, allowed))
        for query, weight in enumerate(weights[..., ~words].sum(-1).max(0)):
            yield Observation("padding_weight", float(weight), {"mask": mask, "query": query}, "share")
        output, swapped = (
            numpy_layers.encoder_layer(read, leaves, options.heads, "post", allowed) for read in (padded, other)
        )
        difference = float(np.abs(output[words] - alone).max())
        yield Observation("alone_difference", difference, {"mask": mask}, "deviation")
        for of, rows in (("words", words), ("padding", ~words)):
            change = float(np.abs(swapped[rows] - output[rows]).max())
            yield Observation("swap_change", change, {"mask": mask, "of": of}, "deviation")


@torch.no_grad()
def _decoder(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    """Target and source are padded; PyTorch's masks hide where they are True."""
    layer = nn.TransformerDecoderLayer(
        options.width, options.heads, options.inner, dropout=0, activation="gelu", batch_first=True
    ).double()
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=options.width**-0.5, generator=generator)
    hidden = ~torch.from_numpy(options.is_word)
    target, source = _normal(generator, 2, 1, len(hidden), options.width)
    ahead = torch.ones(len(hidden), len(hidden), dtype=torch.bool).triu(1)
    words = slice(options.words)
    alone = layer(target[:, words], source[:, words], tgt_mask=ahead[words, words])
    for left_out in LEFT_OUT:
        found = layer(
            target,
            source,
            tgt_mask=None if left_out == "look-ahead" else ahead,
            tgt_key_padding_mask=None if left_out == "target padding" else hidden[None],
            memory_key_padding_mask=None if left_out == "source padding" else hidden[None],
        )
        difference = float((found[:, words] - alone).abs().max())
        yield Observation("decoder_difference", difference, {"left_out": left_out}, "deviation")


def _normal(generator: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=generator, dtype=torch.double)


def _loss(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    """The targets of padding are padding."""
    words = torch.from_numpy(options.is_word)
    targets = torch.randint(1, options.vocabulary, words.shape, generator=generator) * words + _PADDING * ~words
    first, second = _normal(generator, 2, len(words), options.vocabulary)
    logits = first.clone().requires_grad_()
    other = torch.where(words[:, None], first, second)
    for name, ignored in (("padding", _PADDING), ("nothing", -100)):
        loss = F.cross_entropy(logits, targets, ignore_index=ignored)
        (gradient,) = torch.autograd.grad(loss, logits)
        change = abs(float(F.cross_entropy(other, targets, ignore_index=ignored)) - float(loss.detach()))
        of = {"ignored": name}
        yield Observation("loss_change", change, of, "nat")
        yield Observation("padding_gradient", float(gradient[~words].abs().max()), of, "nat")
