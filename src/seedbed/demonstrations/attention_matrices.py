"""Attention in matrices, word by word and by PyTorch: what is the same, and what rows and columns mean.

Sources: objectives 2.1 to 2.3, 3.3; recurrence 3.1 to 3.8; transformer 0.4, 2.1, 2.2, 3.1 to 3.3, 5.2, 5.3;
pretraining 4, 7. Vectors and weights are random, in double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seedbed.messages import require_at_least, require_positive
from seedbed.observations import Observation, Scalar

NEEDS = ("rng",)


@dataclass(frozen=True)
class Options:
    """Sizes of the attention, and of what it reads."""

    documents: int = 2
    tokens: int = 6
    width: int = 12
    heads: int = 3

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, fewer than four tokens, or heads that do not divide the width.
        """
        require_positive(documents=self.documents, heads=self.heads)
        require_at_least(4, tokens=self.tokens)
        if self.width < 1 or self.width % self.heads:
            raise ValueError(f"heads {self.heads}: expected a divisor of width {self.width}")


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """Differences that are 0 up to rounding errors where two ways are one, and numbers of what differs.

    ``difference`` is the largest one between ways to compute the same. ``row_sum`` is the largest or smallest sum
    of a row of weights whose softmax goes along rows or columns, ``all_sum`` that of all weights.
    ``least_weight`` is the smallest weight, ``beyond_values`` how far outputs lie outside the range of the
    values. ``kept_order`` is the share of queries whose largest score has the largest weight. ``own_best`` is the
    share of tokens whose best match is the token itself, all of one length, with one projection for query and key
    or with two. ``gradient`` is the size of the output's derivative by each projection. ``context_change`` says
    how much a token's vector changes with the text around it, ``linearity`` how far a map of the vectors is from
    linear. ``size`` is that of a tensor by axis. ``middle_change`` is how much the second of three words changes
    when the others change places. ``swapped_weights`` compares the last row of causal weights after two inputs
    are exchanged with the row before, its entries exchanged. ``head_weight`` is of two heads that are set by hand.
    """
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    vectors = _randn(options.tokens, options.width, generator=generator)
    projections = [
        _randn(options.width, options.width, generator=generator) / options.width**0.5 for _ in range(3)
    ]
    yield from _ways(vectors, projections)
    yield from _sums(vectors, projections)
    yield from _matches(options, projections, generator)
    yield from _contexts(vectors, projections, generator)
    yield from _several_heads(options, generator)
    yield from _exchanged(vectors, projections)
    yield from _by_hand(options.tokens)


def _randn(*shape: int, generator: torch.Generator) -> Tensor:
    return torch.randn(*shape, generator=generator, dtype=torch.double)


def _project(vectors: Tensor, projections: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    query, key, value = (vectors @ one for one in projections)
    return query, key, value


def attend(query: Tensor, key: Tensor, value: Tensor, causal: bool = False) -> tuple[Tensor, Tensor]:
    """Outputs [queries, width] and weights [queries, keys], by matrices."""
    scores = query @ key.T / query.shape[-1] ** 0.5
    if causal:
        scores = scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril(), -torch.inf)
    weights = scores.softmax(-1)
    return weights @ value, weights


def by_words(query: Tensor, key: Tensor, value: Tensor, causal: bool = False) -> Tensor:
    """The same word by word, as the definition says it."""
    rows = []
    for at, asking in enumerate(query):
        seen = at + 1 if causal else len(key)
        powers = [float(torch.exp(asking @ one / len(asking) ** 0.5)) for one in key[:seen]]
        weights = [power / sum(powers) for power in powers]
        rows.append(sum(weight * one for weight, one in zip(weights, value[:seen], strict=True)))
    return torch.stack(rows)


def _ways(vectors: Tensor, projections: list[Tensor]) -> Iterator[Observation]:
    query, key, value = _project(vectors, projections)
    for causal in (False, True):
        mask = "causal" if causal else "none"
        found, _ = attend(query, key, value, causal)
        torchs = F.scaled_dot_product_attention(query[None], key[None], value[None], is_causal=causal)[0]
        for way, other in (("word by word", by_words(query, key, value, causal)), ("PyTorch", torchs)):
            yield _difference(f"matrices and {way}", found - other, {"mask": mask})
    products = torch.tensor([[float(one @ other) for other in key] for one in query], dtype=torch.double)
    yield _difference("scores and products of pairs", query @ key.T - products)
    columns = torch.stack([projections[0].T @ one for one in vectors])
    yield _difference("rows and columns", query - columns)
    alone = torch.cat([attend(one[None], key, value)[0] for one in query])
    yield _difference("all rows and one alone", attend(query, key, value)[0] - alone)
    leaves = [one.clone().requires_grad_() for one in projections]
    output, _ = attend(*_project(vectors, leaves))
    for name, found in zip(
        ("query", "key", "value"), torch.autograd.grad(output.square().sum(), leaves), strict=True
    ):
        yield Observation("gradient", float(found.norm()), {"of": name}, "number")


def _difference(between: str, found: Tensor, of: dict[str, Scalar] | None = None) -> Observation:
    return Observation("difference", float(found.abs().max()), {"between": between} | (of or {}), "deviation")


def _sums(vectors: Tensor, projections: list[Tensor]) -> Iterator[Observation]:
    query, key, value = _project(vectors, projections)
    scores = query @ key.T / query.shape[1] ** 0.5
    for along, weights in (("rows", scores.softmax(1)), ("columns", scores.softmax(0))):
        for which, found in (("smallest", weights.sum(1).min()), ("largest", weights.sum(1).max())):
            yield Observation("row_sum", float(found), {"softmax": along, "of": which}, "share")
        yield Observation("all_sum", float(weights.sum()), {"softmax": along}, "share")
    weights = scores.softmax(1)
    yield Observation("least_weight", float(weights.min()), {}, "share")
    outputs = weights @ value
    beyond = torch.maximum(outputs - value.max(0).values, value.min(0).values - outputs).max()
    yield Observation("beyond_values", max(0.0, float(beyond)), {}, "deviation")
    kept = (scores.argmax(1) == weights.argmax(1)).double().mean()
    yield Observation("kept_order", float(kept), {}, "share")


def _matches(options: Options, projections: list[Tensor], generator: torch.Generator) -> Iterator[Observation]:
    """With one projection a vector is its own best match if all projected vectors are of one length."""
    vectors = _randn(20 * options.tokens, options.width, generator=generator)
    for name, (asked, offered) in (("one", (0, 0)), ("two", (0, 1))):
        query, key = (F.normalize(vectors @ projections[at], dim=1) for at in (asked, offered))
        best = (query @ key.T).argmax(1) == torch.arange(len(vectors))
        yield Observation("own_best", float(best.double().mean()), {"projections": name}, "share")


def _contexts(vectors: Tensor, projections: list[Tensor], generator: torch.Generator) -> Iterator[Observation]:
    others = _randn(*vectors.shape, generator=generator)
    changed = torch.cat([vectors[:1], others[1:]])
    outputs = [attend(*_project(one, projections))[0][0] for one in (vectors, changed)]
    for name, (one, other) in (("embedding", (vectors[0], changed[0])), ("attention", (outputs[0], outputs[1]))):
        yield Observation("context_change", float((one - other).abs().max()), {"of": name}, "deviation")
    whole = _linearity(lambda given: attend(*_project(given, projections))[0], vectors, others)
    yield Observation("linearity", whole, {"map": "attention"}, "deviation")
    yield Observation(
        "linearity", _linearity(lambda given: given @ projections[0], vectors, others), {"map": "query"}
    )
    _, weights = attend(*_project(vectors, projections))
    fixed = _linearity(lambda given: weights @ given, vectors, others)
    yield Observation("linearity", fixed, {"map": "values, weights held"}, "deviation")
    three, order = vectors[:3], torch.tensor([2, 1, 0])
    middle = [attend(*_project(one, projections))[0][1] for one in (three, three[order])]
    yield Observation("middle_change", float((middle[0] - middle[1]).abs().max()), {}, "deviation")


def _linearity(function: Callable[[Tensor], Tensor], one: Tensor, other: Tensor) -> float:
    """The largest entry of ``f(2 x + 3 y) - 2 f(x) - 3 f(y)``."""
    return float((function(2 * one + 3 * other) - 2 * function(one) - 3 * function(other)).abs().max())


def _several_heads(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    """Projections for all heads at once, cut into pieces, against those of each head alone."""
    shape, width, heads = (options.documents, options.tokens, options.width), options.width, options.heads
    vectors = _randn(*shape, generator=generator)
    weights = [_randn(width, width, generator=generator) / width**0.5 for _ in range(4)]
    pieces = [(vectors @ one).view(*shape[:2], heads, width // heads).transpose(1, 2) for one in weights[:3]]
    scores = pieces[0] @ pieces[1].transpose(2, 3) / (width // heads) ** 0.5
    mixed = scores.softmax(-1) @ pieces[2]
    joined = mixed.transpose(1, 2).reshape(shape)
    output = joined @ weights[3]
    alone = []
    for head in range(heads):
        own = slice(head * width // heads, (head + 1) * width // heads)
        query, key, value = (vectors @ one[:, own] for one in weights[:3])
        alone.append(torch.stack([attend(*each)[0] for each in zip(query, key, value, strict=True)]))
    yield _difference("one cut projection and one for each head", output - torch.cat(alone, -1) @ weights[3])
    yield _difference("joined heads side by side", joined - torch.cat(alone, -1))
    fused = vectors @ torch.cat(weights[:3], 1)
    yield _difference(
        "one fused projection and three", fused - torch.cat([vectors @ one for one in weights[:3]], 2)
    )
    axes = ("documents", "heads", "tokens", "last")
    for name, tensor in (("weights", scores), ("heads", mixed), ("queries", pieces[0])):
        for axis, size in zip(axes, tensor.shape, strict=True):
            yield Observation("size", size, {"of": name, "axis": axis}, "count")
    for name, tensor in (
        ("input", vectors),
        ("joined", joined),
        ("output", output),
        ("projected", vectors @ weights[0]),
    ):
        for axis, size in zip(("documents", "tokens", "last"), tensor.shape, strict=True):
            yield Observation("size", size, {"of": name, "axis": axis}, "count")
    one = nn.MultiheadAttention(width, heads, batch_first=True, bias=False).double().requires_grad_(False)
    for name, matrix in (
        ("W_Q of a head", one.in_proj_weight[: width // heads].T),
        ("W_O", one.out_proj.weight.T),
    ):
        for axis, size in zip(("rows", "columns"), matrix.shape, strict=True):
            yield Observation("size", size, {"of": name, "axis": axis}, "count")
    source = _randn(options.documents, options.tokens + 2, width, generator=generator)
    crossed = one(vectors, source, source)[0]
    yield Observation("size", crossed.shape[1], {"of": "cross-attention", "axis": "tokens"}, "count")
    yield _difference(
        "cross-attention to itself and self-attention", one(vectors, vectors, vectors)[0] - _self(one, vectors)
    )


def _self(layer: nn.MultiheadAttention, vectors: Tensor) -> Tensor:
    """Self-attention of PyTorch's weights without biases, head by head."""
    query, key, value = (vectors @ one.T for one in layer.in_proj_weight.chunk(3))
    width = layer.head_dim
    heads = [slice(at, at + width) for at in range(0, layer.embed_dim, width)]
    mixed = [
        torch.cat([attend(q[:, own], k[:, own], v[:, own])[0] for own in heads], 1)
        for q, k, v in zip(query, key, value, strict=True)
    ]
    return torch.stack(mixed) @ layer.out_proj.weight.T


def _exchanged(vectors: Tensor, projections: list[Tensor]) -> Iterator[Observation]:
    """Two earlier inputs change places; the last row of causal weights follows them."""
    order = torch.tensor([0, 2, 1, 3])
    before, after = (
        attend(*_project(one, projections), causal=True)[1][3] for one in (vectors[:4], vectors[:4][order])
    )
    yield Observation("swapped_weights", float((after - before[order]).abs().max()), {}, "deviation")


def _by_hand(tokens: int) -> Iterator[Observation]:
    """A head that looks at the position before, and one that looks at the first one; the mask is causal."""
    positions = 1000.0 * torch.eye(tokens, dtype=torch.double)
    before = torch.cat([positions[:1], positions[:-1]])
    first = positions[:1].expand(tokens, -1)
    for head, query in (("previous", before), ("first", first)):
        _, weights = attend(query, torch.eye(tokens, dtype=torch.double), positions, causal=True)
        for at, row in enumerate(weights.tolist()):
            for key, weight in enumerate(row):
                yield Observation("head_weight", weight, {"head": head, "query": at, "key": key}, "share")
