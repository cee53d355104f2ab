"""How long a training step of three sequence-to-sequence networks takes, by the length of the sequence.

A GRU, a GRU with attention and a Transformer with one layer each way read and write sequences of one length,
forward and backward, on one thread (transformer 9.5).
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from seedbed.messages import require_positive
from seedbed.observations import Observation
from seedbed.timer import Timer, ratio

NEEDS = ("rng", "timer")
REHEARSED = {"batch": 2}


@dataclass(frozen=True)
class Options:
    """The networks, and what they read."""

    lengths: tuple[int, ...] = (8, 16, 32, 64, 128)
    batch: int = 64
    hidden: int = 128  # of the GRUs
    width: int = 64  # of the Transformer, and of all embeddings
    heads: int = 4
    symbols: int = 12

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, or heads that do not divide the width.
        """
        require_positive(
            batch=self.batch, hidden=self.hidden, width=self.width, heads=self.heads, symbols=self.symbols
        )
        if min(self.lengths, default=1) < 1:
            raise ValueError(f"lengths {list(self.lengths)}: expected at least 1 each")
        if self.width % self.heads:
            raise ValueError(f"heads {self.heads}: expected a divisor of width {self.width}")


class Gru(nn.Module):
    """A GRU that reads and one that writes, with or without attention to what was read (Luong et al. 2015)."""

    def __init__(self, options: Options, attends: bool) -> None:
        super().__init__()
        self.embedding = nn.Embedding(options.symbols, options.width)
        self.encoder = nn.GRU(options.width, options.hidden, batch_first=True)
        self.decoder = nn.GRU(options.width, options.hidden, batch_first=True)
        self.score = nn.Linear(options.hidden, options.hidden, bias=False) if attends else None
        self.combine = nn.Linear(2 * options.hidden, options.hidden)
        self.output = nn.Linear(options.hidden, options.symbols)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Logits [documents, tokens, symbols]."""
        memory, last = self.encoder(self.embedding(source))
        states, _ = self.decoder(self.embedding(target), last)
        if self.score is not None:
            weights = (self.score(states) @ memory.transpose(1, 2)).softmax(-1)
            states = torch.tanh(self.combine(torch.cat([weights @ memory, states], -1)))
        return self.output(states)  # type: ignore[no-any-return]


class Transformer(nn.Module):
    """One layer that reads and one that writes, by PyTorch."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        width, inner = options.width, 4 * options.width
        self.embedding = nn.Embedding(options.symbols, width)
        self.body = nn.Transformer(width, options.heads, 1, 1, inner, 0.0, batch_first=True)
        self.output = nn.Linear(width, options.symbols)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Logits [documents, tokens, symbols]."""
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        given, asked = self.embedding(source), self.embedding(target)
        return self.output(self.body(given, asked, tgt_mask=mask, tgt_is_causal=True))  # type: ignore[no-any-return]


def demonstrate(options: Options, *, rng: np.random.Generator, timer: Timer) -> Iterator[Observation]:
    """Seconds and ratios of seconds by length.

    ``step_seconds`` is the time of a step of each network, ``transformer_ratio`` how many times as long the
    Transformer takes as another, and ``slowest_ratio`` compares the slowest network with the fastest one.
    """
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    networks: dict[str, nn.Module] = {
        "gru": Gru(options, False),
        "gru-attention": Gru(options, True),
        "transformer": Transformer(options),
    }
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for length in options.lengths:
            tokens = torch.randint(options.symbols, (2, options.batch, length), generator=generator)
            steps: dict[str, Callable[[], object]] = {
                name: partial(_step, network, tokens) for name, network in networks.items()
            }
            seconds = timer.seconds(steps)
            medians = {name: statistics.median(took) for name, took in seconds.items()}
            for name, median in medians.items():
                yield Observation("step_seconds", median, {"network": name, "length": length}, "s")
            for name in ("gru", "gru-attention"):
                slower = ratio(seconds, "transformer", name)
                yield Observation("transformer_ratio", slower, {"to": name, "length": length}, "ratio")
            spread = max(medians.values()) / min(medians.values())
            yield Observation("slowest_ratio", spread, {"length": length}, "ratio")
    finally:
        torch.set_num_threads(before)


def _step(network: nn.Module, tokens: Tensor) -> None:
    logits = network(tokens[0], tokens[1])
    nn.functional.cross_entropy(logits.flatten(0, 1), tokens[0].flip(1).flatten()).backward()  # type: ignore[no-untyped-call]
