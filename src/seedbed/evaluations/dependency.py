"""Which inputs an output depends on: one token is changed, and every output compared (objectives 4.2).

The model reads what it reads in training, so each objective has its own mask, or its two streams.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from seedbed.batching import Layout, Packed, cross_layout
from seedbed.documents import Documents
from seedbed.languages.vocabulary import BEGIN, END
from seedbed.measuring.context import Context
from seedbed.measuring.trained import TrainedModel
from seedbed.messages import require_positive
from seedbed.observations import Observation, mean
from seedbed.randomness import stream

NEEDS = ("network", "objective")
SOURCE = "language"
REHEARSED = {"documents": 8}


@dataclass(frozen=True)
class Options:
    """Which documents."""

    documents: int = 64  # the first of the test set that are not too long
    longest: int = 30  # tokens
    example: str = ""  # a text without <bos> and <eos>, whose matrix is shown

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a number below 1.
        """
        require_positive(documents=self.documents, longest=self.longest)


@dataclass(frozen=True, eq=False)
class _Matrix:
    """Outputs by inputs of one stream; an input is counted by its position.

    Attributes:
        changed: [outputs, longest], whether a change of the token at a position changed the output.
        allowed: [outputs, longest], whether attention may look there.
        there: [outputs, longest], whether there is a token at all.
        owners: [outputs], the document.
    """

    changed: Bool[Tensor, "outputs longest"]
    allowed: Bool[Tensor, "outputs longest"]
    there: Bool[Tensor, "outputs longest"]
    owners: Int[Tensor, " outputs"]


@torch.no_grad()
def evaluate(model: TrainedModel, context: Context, options: Options) -> Iterator[Observation]:
    """``dependency``, the share of pairs in which the output depends on the input, by what the mask allows.

    With ``pair=forbidden`` it must be 0: no number changes at all. ``on`` is ``text``, or ``source`` for what an
    encoder reads. ``dependency_matrix`` is that of the example, one row an output, 1 where it depends on an input.

    Raises:
        ValueError: no document is short enough.
    """
    model.network.eval()
    for name, matrix in _matrices(model, _short(context.test, options)):
        for pair, chosen in {"allowed": matrix.allowed, "forbidden": ~matrix.allowed}.items():
            counted = chosen & matrix.there
            owners = matrix.owners[:, None].expand_as(counted)[counted]
            if counted.any():
                yield mean(
                    "dependency", matrix.changed[counted], {"on": name, "pair": pair}, "share", clusters=owners
                )
    if options.example:
        text = Documents.of([[BEGIN, *context.language.encode(options.example), END]])
        for name, matrix in _matrices(model, text):
            rows = ("".join(map(str, row.int().tolist())) for row in matrix.changed)
            yield Observation("dependency_matrix", math.nan, {"on": name}, text=" ".join(rows))


def _short(test: Documents, options: Options) -> Documents:
    """The documents that are changed."""
    found = np.flatnonzero(test.lengths <= options.longest)[: options.documents]
    if not len(found):
        raise ValueError(
            f"longest {options.longest}: no test document is so short; expected {test.lengths.min()} or above"
        )
    return test.take(found)


def _matrices(model: TrainedModel, documents: Documents) -> Iterator[tuple[str, _Matrix]]:
    """By the name of the stream that is changed; the outputs are those of the last one."""
    inputs = model.objective.examples(documents, stream(0, "dependency")).inputs
    written: Packed = inputs[-1]
    for index, read in enumerate(inputs):
        layout = written.layout if read is written else cross_layout(written, read)
        owners = torch.arange(len(written.lengths)).repeat_interleave(written.lengths)
        changed = _changed(model.network, inputs, index)
        there = torch.arange(changed.shape[1]) < read.lengths[owners, None]
        allowed = _allowed(layout, written)[:, : changed.shape[1]]
        yield ("text" if read is written else "source"), _Matrix(changed, allowed, there, owners)


def _changed(network: nn.Module, inputs: tuple[Packed, ...], index: int) -> Bool[Tensor, "outputs longest"]:
    """The token at a position is changed in all documents at once: they do not see each other."""
    before, read, columns = network(*inputs), inputs[index], []
    for position in range(int(read.lengths.max())):
        other = (read.tokens + 1) % before.shape[1]
        tokens = torch.where(read.positions == position, other, read.tokens)
        after = network(*inputs[:index], replace(read, tokens=tokens), *inputs[index + 1 :])
        columns.append((after != before).any(1))
    return torch.stack(columns, 1)


def _allowed(layout: Layout, written: Packed) -> Bool[Tensor, "outputs longest"]:
    """What the masks of a layout let the outputs look at."""
    longest, parts = max(bucket.keys for bucket in layout.buckets), []
    for bucket in layout.buckets:
        seen = bucket.mask.bias[:, 0] > -torch.inf
        if bucket.mask.sees is not None:  # a query that sees nothing has a bias of 0
            seen = seen & (bucket.mask.sees[:, 0] > 0)
        seen = seen.expand(bucket.rows, bucket.queries, bucket.keys)
        parts.append(nn.functional.pad(seen, (0, longest - bucket.keys)).flatten(0, 1))
    return torch.cat(parts)[layout.queries.starts + written.positions]
