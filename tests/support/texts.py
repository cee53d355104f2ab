"""The lecture's example document and what the tests of all objectives need beside it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor, nn

from seedbed.documents import Documents
from seedbed.languages.vocabulary import BEGIN, END, Vocabulary
from seedbed.models import encoder_decoder, transformer
from seedbed.models.initialisation import fill, unfilled
from seedbed.objectives import scoring
from seedbed.objectives.scoring import Batch

WORDS = ("she", "picks", "her", "ripe", "plum", "from", "own", "garden", "fig", "yard")
SENTINELS = tuple(f"<x{index}>" for index in range(4))
VOCABULARY = Vocabulary(("<bos>", "<eos>", "."), WORDS, ("<pad>", "<mask>", *SENTINELS))
TEXT = "<bos> she picks her ripe plum from her own garden . <eos>"
ARCHITECTURES = ("causal", "prefix", "encoder_decoder")


def documents(*texts: str) -> Documents:
    return Documents.of([VOCABULARY.encode(text) for text in texts])


def random_texts(lengths: Iterable[int], seed: int = 0) -> Documents:
    """Documents of so many tokens between <bos> and <eos>."""
    rng = np.random.default_rng(seed)
    return Documents.of([BEGIN, *rng.integers(2, 2 + len(WORDS), length), END] for length in lengths)


def spoken(tokens: Iterable[int] | Tensor) -> str:
    return VOCABULARY.decode([int(token) for token in tokens])


def network(architecture: str, seed: int = 0) -> nn.Module:
    """A small network that fits an architecture, with weights, in double precision."""
    sizes = {"d_model": 16, "heads": 2, "d_ff": 24}
    module = encoder_decoder if architecture == "encoder_decoder" else transformer
    model: nn.Module = unfilled(lambda: module.Model(module.Options(**sizes), len(VOCABULARY)))
    fill(model, torch.Generator().manual_seed(seed))
    return model.double()


def gradients(model: nn.Module, batches: Iterable[Batch]) -> list[Tensor]:
    """Of the summed loss of all batches."""
    losses = [scoring.loss(model, batch)[0] for batch in batches]
    return list(torch.autograd.grad(torch.stack(losses).sum(), list(model.parameters())))


def same(ones: Iterable[Tensor], others: Iterable[Tensor]) -> None:
    for one, other in zip(ones, others, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-8)
