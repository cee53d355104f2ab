"""On what the output of a norm depends: LayerNorm reads one vector, BatchNorm the whole batch (transformer 7.3).

A sentence stands in two batches. Its own words stay the same; in one comparison the other sentences change, in
another what it is padded with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from seedbed.messages import require_positive
from seedbed.observations import Observation

NEEDS = ("rng",)

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Options:
    """The sentence, and the batches that it stands in."""

    width: int = 16  # of a word's vector
    words: int = 4
    padding: int = 2  # positions behind the words
    batches: tuple[int, ...] = (2, 8, 32)  # sentences

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, or a batch without another sentence.
        """
        require_positive(width=self.width, words=self.words, padding=self.padding)
        if min(self.batches, default=0) < 2:
            raise ValueError(f"batches {list(self.batches)}: expected at least one, each of 2 or more sentences")


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """By norm (``layer`` or ``batch``) and number of sentences: how much a sentence's outputs change.

    ``change`` is the largest change of its words' outputs if the other sentences (``of`` mates) or what it is
    padded with (``of`` padding) is another. ``mode_change`` is the largest difference between training and
    evaluation, ``formula_difference`` that from (x − mean) / sqrt(variance + ε) with statistics of a vector
    (``layer``) or of a column (``batch``). ``one_word_refused`` is 1 if a batch of one word alone is an error in
    training, else 0.
    """
    norms = {"layer": nn.LayerNorm(options.width), "batch": nn.BatchNorm1d(options.width)}
    for name, norm in norms.items():
        yield from _of_norm(name, norm.double().train(), options, rng)


def _of_norm(name: str, norm: nn.Module, options: Options, rng: np.random.Generator) -> Iterator[Observation]:
    for sentences in options.batches:
        batch, other = rng.standard_normal((2, sentences, options.words + options.padding, options.width))
        mates, padding = batch.copy(), batch.copy()
        mates[1:] = other[1:]
        padding[0, options.words :] = other[0, options.words :]
        for of, changed in (("mates", mates), ("padding", padding)):
            before, after = (_normed(norm, one)[0, : options.words] for one in (batch, changed))
            change = float(np.abs(before - after).max())
            yield Observation("change", change, {"norm": name, "of": of, "sentences": sentences}, "deviation")
    trained = _normed(norm, batch)
    difference = float(np.abs(trained - _by_formula(batch, name)).max())
    yield Observation("formula_difference", difference, {"norm": name}, "deviation")
    change = float(np.abs(trained - _normed(norm.eval(), batch)).max())
    yield Observation("mode_change", change, {"norm": name}, "deviation")
    refused = _refused(lambda: _normed(norm.train(), batch[:1, :1]))
    yield Observation("one_word_refused", float(refused), {"norm": name}, "share")


@torch.no_grad()
def _normed(norm: nn.Module, batch: Numbers) -> Numbers:
    """[sentences, positions, width], every position normed, with padding, as in a training."""
    vectors: Tensor = norm(torch.from_numpy(batch).flatten(0, 1))
    return vectors.numpy().reshape(batch.shape)


def _by_formula(batch: Numbers, norm: str, epsilon: float = 1e-5) -> Numbers:
    """The same by NumPy: only the axis of mean and variance differs."""
    axis = -1 if norm == "layer" else (0, 1)
    mean, variance = batch.mean(axis, keepdims=True), batch.var(axis, keepdims=True)
    return np.asarray((batch - mean) / np.sqrt(variance + epsilon))


def _refused(compute: Callable[[], object]) -> bool:
    try:
        compute()
    except ValueError:
        return True
    return False
