"""How much memory attention takes: counted in tensors, and by formulas.

Tensors are on PyTorch's meta device where they are large: these have a shape and a type, and no memory
(objectives 3.1; recurrence 3.7, 9.7, 9.8; transformer 1.4, 3.4, 10.4, 13.7).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from seedbed.batching import pack
from seedbed.demonstrations.operation_counts import least, require_divisor
from seedbed.documents import Documents
from seedbed.messages import require_positive
from seedbed.models import transformer
from seedbed.models.cache import Cache
from seedbed.models.initialisation import fill, unfilled
from seedbed.observations import Observation, Scalar

NEEDS = ()

_TYPES = {16: torch.float16, 32: torch.float32, 64: torch.float64}


class Scores(TypedDict):
    """The matrices of weights of one layer."""

    documents: int
    heads: int
    tokens: int
    bits: int  # of a number


class Trained(TypedDict):
    """A layer whose memory in a training is counted."""

    width: int
    heads: int


@dataclass(frozen=True)
class Options:
    """What is counted."""

    scores: tuple[Scores, ...]
    masked: tuple[int, ...]  # tokens of causal masks
    cached: tuple[int, ...]  # tokens that a cache holds
    trained: tuple[Trained, ...]

    def __post_init__(self) -> None:
        """Check the sizes.

        Raises:
            ValueError: a number below 1, bits that no type has, or heads that do not divide the width.
        """
        for one in self.scores:
            require_positive(documents=one["documents"], heads=one["heads"], tokens=one["tokens"])
            if one["bits"] not in _TYPES:
                raise ValueError(f"scores: bits {one['bits']}: expected 16, 32 or 64")
        for layer in self.trained:
            require_divisor(**layer)
        if min((*self.masked, *self.cached), default=1) < 1:
            raise ValueError(f"masked {list(self.masked)}, cached {list(self.cached)}: expected at least 1 each")


def demonstrate(options: Options) -> Iterator[Observation]:
    """Memory of scores, masks, caches and trainings; ``formula`` in a metric's name: computed from sizes alone.

    ``score_entries`` and ``score_bytes`` are of all heads and documents of one layer. ``allowed_scores`` are those
    that a causal mask allows, ``wasted_share`` is that of all others. ``cache_bytes`` are the keys and values that
    our Transformer keeps of a text. ``saved_crossing`` is the least number of tokens with which the matrices of
    tokens by tokens that a layer keeps for its gradient take as much memory as all else that it keeps.
    """
    for scores in options.scores:
        yield from _scores(**scores)
    for tokens in options.masked:
        yield from _mask(tokens)
    yield from _cache(options.cached)
    for layer in options.trained:
        yield from _training(**layer)


def _scores(documents: int, heads: int, tokens: int, bits: int) -> Iterator[Observation]:
    with torch.device("meta"):
        attention = nn.MultiheadAttention(heads, heads, batch_first=True, dtype=_TYPES[bits])
        vectors = torch.empty(documents, tokens, heads, dtype=_TYPES[bits])
    _, weights = attention(vectors, vectors, vectors, average_attn_weights=False)
    of: dict[str, Scalar] = {"documents": documents, "heads": heads, "tokens": tokens}
    yield Observation("score_entries", weights.numel(), of, "count")
    yield Observation("score_entries_formula", documents * heads * tokens**2, of, "count")
    yield Observation("score_bytes", weights.numel() * weights.element_size(), of | {"bits": bits}, "byte")


def _mask(tokens: int) -> Iterator[Observation]:
    """Of one document, as our attention uses it; a row has no slot more than tokens."""
    (bucket,) = pack(Documents.of([np.zeros(tokens, np.int64)])).layout.buckets
    allowed = bucket.mask.bias[0, 0, :tokens, :tokens] == 0
    of: dict[str, Scalar] = {"tokens": tokens}
    yield Observation("allowed_scores", int(allowed.sum()), of, "count")
    yield Observation("all_scores", allowed.numel(), of, "count")
    yield Observation("allowed_share", int(allowed.sum()) / allowed.numel(), of, "share")
    yield Observation("wasted_share", int((~allowed).sum()) / allowed.numel(), of, "share")
    yield Observation("allowed_scores_formula", tokens * (tokens + 1) // 2, of, "count")
    yield Observation("wasted_share_formula", (tokens - 1) / (2 * tokens), of, "share")


@torch.no_grad()
def _cache(lengths: tuple[int, ...]) -> Iterator[Observation]:
    """Of a Transformer of the default size, in single precision."""
    sizes = transformer.Options()
    network = unfilled(lambda: transformer.Model(sizes, 10))
    fill(network, torch.Generator().manual_seed(0))
    state = network.start(1)
    for number in range(1, max(lengths, default=0) + 1):
        _, state = network.step(torch.zeros(1, dtype=torch.long), state)
        if number in lengths:
            caches = [one.keys_and_values() for one in state if isinstance(one, Cache)]
            kept = sum(one.numel() * one.element_size() for one in caches)
            of: dict[str, Scalar] = {"tokens": number}
            yield Observation("cache_bytes", kept, of, "byte")
            formula = number * sizes.layers * 2 * sizes.d_model * 4
            yield Observation("cache_bytes_formula", formula, of, "byte")
            yield Observation("cache_bytes_per_token", kept / number, of, "byte")


def _training(width: int, heads: int) -> Iterator[Observation]:
    of: dict[str, Scalar] = {"width": width, "heads": heads}

    def fuller(tokens: int) -> bool:
        matrices, others = saved(width, heads, tokens)
        return matrices >= others

    yield Observation("saved_crossing", least(fuller, 64 * width), of, "token")


def saved(width: int, heads: int, tokens: int) -> tuple[int, int]:
    """The bytes that a layer keeps for its gradient: of matrices of tokens by tokens, and of all but weights."""
    with torch.device("meta"):
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0, batch_first=True)
        vectors = torch.empty(1, tokens, width, requires_grad=True)
    known = {one.untyped_storage()._cdata for one in layer.parameters()}
    kept: dict[int, tuple[bool, int]] = {}

    def keep(one: Tensor) -> Tensor:
        storage = one.untyped_storage()
        if storage._cdata not in known:
            kept[storage._cdata] = (one.shape[-2:] == (tokens, tokens), storage.nbytes())
        return one

    with sdpa_kernel(SDPBackend.MATH), torch.autograd.graph.saved_tensors_hooks(keep, lambda one: one):
        output = layer(vectors)
    matrices = sum(size for square, size in kept.values() if square)
    del output  # it has kept them alive: a storage that is gone could lend its number to another
    return matrices, sum(size for square, size in kept.values() if not square)
