"""What a position may see: the masks of every kind of Transformer, read off our own batches.

Lectures: objectives 2.3, 3.5, 4.1 and exercise 4; recurrence 6.5; transformer 8.1, 8.3 and exercise 4. Positions
are counted from 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from seedbed.batching import Mask, Packed, cross_layout, pack
from seedbed.documents import Documents
from seedbed.messages import require_positive
from seedbed.models.attention import attention_weights
from seedbed.observations import Observation, Scalar

NEEDS = ()


@dataclass(frozen=True)
class Options:
    """The texts that attention reads."""

    tokens: int = 5
    source: int = 4  # tokens of what an encoder reads for a decoder
    prefixes: tuple[int, ...] = (2, 3)
    seen: int = 8  # tokens of the text whose first one everybody sees
    padded: tuple[int, ...] = (1, 7, 3, 0)  # a text with padding behind its words
    padding: int = 0  # the token that fills it up

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, a prefix that is longer than the text, or a text of padding alone, without
                any, or with words behind it.
        """
        require_positive(tokens=self.tokens, source=self.source, seen=self.seen)
        if not all(0 <= prefix <= self.tokens for prefix in self.prefixes):
            raise ValueError(f"prefixes {list(self.prefixes)}: expected each from 0 to tokens {self.tokens}")
        words = [token != self.padding for token in self.padded]
        if not 0 < sum(words) < len(words) or words != sorted(words, reverse=True):
            raise ValueError(f"padded {list(self.padded)}: expected words, and padding {self.padding} behind them")


def demonstrate(options: Options) -> Iterator[Observation]:
    """``sees`` is 1 if a query may see a key, else 0, by mask.

    ``entries`` counts what a mask adds to the scores: zeros, minus infinities and anything else. By the query's
    position, ``visible`` is how many positions a causal mask shows, and ``first_weight`` the weight on the first
    of them if all scores are equal. ``padding_shape`` is the shape of our mask of padding. ``weight`` is what
    PyTorch's attention gives to each key if all scores are equal and it is told of both look-ahead and padding.
    """
    for name, bias in _biases(options).items():
        yield from _cells("sees", {"mask": name}, (bias == 0).double())
        counts = {"zero": bias == 0, "minus infinity": bias == -torch.inf}
        counts["other"] = ~(counts["zero"] | counts["minus infinity"])
        for added, found in counts.items():
            yield Observation("entries", int(found.sum()), {"mask": name, "added": added}, "count")
    yield from _leak(options)
    yield from _padding(options)


def _cells(metric: str, of: dict[str, Scalar], values: Tensor) -> Iterator[Observation]:
    """Values by query and key, [queries, keys]."""
    for (query, key), value in np.ndenumerate(values.numpy()):
        yield Observation(metric, float(value), {**of, "query": query, "key": key}, "share")


def _text(tokens: int, prefix: int | None) -> Packed:
    """A text whose tokens all see that many leading positions; None is causal."""
    return pack(Documents.of([range(tokens)]), None if prefix is None else [prefix])


def _biases(options: Options) -> dict[str, Tensor]:
    """What each mask adds to the scores, [queries, keys], without the slots that hold no token."""
    tokens, source = options.tokens, _text(options.source, options.source)
    causal = _text(tokens, None)
    packed = {
        "encoder-only": _text(tokens, tokens),
        "decoder-only": causal,
        **{f"prefix-{prefix}": _text(tokens, prefix) for prefix in options.prefixes},
        "encoder-self": source,
        "decoder-self": causal,
    }
    found = {
        name: _bias(text.layout.buckets[0].mask, len(text.tokens), len(text.tokens))
        for name, text in packed.items()
    }
    cross = cross_layout(causal, source).buckets[0].mask
    return {**found, "cross": _bias(cross, tokens, options.source)}


def _bias(mask: Mask, queries: int, keys: int) -> Tensor:
    """Of the one head of the one text, [queries, keys]; a mask of one query is the same for all."""
    rows = mask.bias[0, 0, :, :keys]
    return rows.expand(queries, -1) if len(rows) == 1 else rows[:queries]


def _leak(options: Options) -> Iterator[Observation]:
    """How many positions are seen says where one is."""
    mask = _text(options.seen, None).layout.buckets[0].mask
    equal = torch.zeros(1, mask.bias.shape[2], 1, dtype=torch.double)
    weights = attention_weights(equal, equal, mask)[0, : options.seen]
    for query, row in enumerate(weights):
        yield Observation("visible", int((row > 0).sum()), {"query": query}, "count")
        yield Observation("first_weight", float(row[0]), {"query": query}, "share")


def _padding(options: Options) -> Iterator[Observation]:
    """Look-ahead and padding for one text; and both at once, by PyTorch, where True hides."""
    words = np.array(options.padded) != options.padding
    length = len(words)
    ahead = _bias(_text(length, None).layout.buckets[0].mask, length, length)
    padding = Mask.of_lengths(torch.tensor([words.sum()]), length)
    for axis, size in zip(("documents", "heads", "queries", "keys"), padding.bias.shape, strict=True):
        yield Observation("padding_shape", size, {"axis": axis}, "count")
    of_padding = _bias(padding, length, length)
    both = ahead + of_padding
    for name, bias in (("look-ahead", ahead), ("padding", of_padding), ("combined", both)):
        yield from _cells("sees", {"mask": name}, (bias == 0).double())
    yield from _cells("weight", {}, _torch_weights(~torch.from_numpy(words)))


@torch.no_grad()
def _torch_weights(hidden: Tensor) -> Tensor:
    """[queries, keys], given which keys are padding; parameters of 0 make all scores equal."""
    attention = nn.MultiheadAttention(1, 1, batch_first=True)
    for parameter in attention.parameters():
        parameter.zero_()
    vectors = torch.zeros(1, len(hidden), 1)
    ahead = torch.ones(len(hidden), len(hidden), dtype=torch.bool).triu(1)
    weights: Tensor = attention(vectors, vectors, vectors, key_padding_mask=hidden[None], attn_mask=ahead)[1]
    return weights[0].double()
