"""How the time of recurrent networks and of attention grows with the text and falls with more threads.

Forward and backward, in PyTorch (recurrence 2.4, 4.9).
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from seedbed.messages import require_positive
from seedbed.observations import Observation
from seedbed.timer import Timer, cores, ratio

NEEDS = ("rng", "timer")
REHEARSED = {"long": 8}


@dataclass(frozen=True)
class Options:
    """What is timed. The lecture does not say its widths and batches."""

    width: int = 64
    heads: int = 4
    layers: int = 2
    batch: int = 4
    tokens: tuple[int, ...] = (64, 128, 256)  # each twice the one before
    long: int = 512  # tokens of the text with one and with several threads
    threads: int = 4  # at most: no more than there are cores

    def __post_init__(self) -> None:
        """Check the sizes.

        Raises:
            ValueError: a size below 1, heads that do not divide the width, or tokens that do not double.
        """
        require_positive(heads=self.heads, layers=self.layers, batch=self.batch, long=self.long)
        require_positive(threads=self.threads)
        if self.width < 1 or self.width % self.heads:
            raise ValueError(f"heads {self.heads}: expected a divisor of width {self.width}")
        if any(2 * one != two for one, two in zip(self.tokens, self.tokens[1:], strict=False)):
            raise ValueError(f"tokens {list(self.tokens)}: expected each to be twice the one before")


class WrittenLstm(nn.Module):
    """An LSTM as its equations say, token by token in Python."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gates = nn.Linear(2 * width, 4 * width)

    def forward(self, text: Tensor) -> tuple[Tensor, None]:
        """The states of a text, [documents, tokens, width]."""
        hidden = cell = torch.zeros_like(text[:, 0])
        states = []
        for token in text.unbind(1):
            entry, keep, candidate, out = self.gates(torch.cat([token, hidden], 1)).chunk(4, 1)
            cell = keep.sigmoid() * cell + entry.sigmoid() * candidate.tanh()
            hidden = out.sigmoid() * cell.tanh()
            states.append(hidden)
        return torch.stack(states, 1), None


class Gpt(nn.Module):
    """Layers of causal attention, by PyTorch."""

    def __init__(self, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, batch_first=True, norm_first=True)
            for _ in range(layers)
        )

    def forward(self, text: Tensor) -> tuple[Tensor, None]:
        """The vectors of a text, [documents, tokens, width]."""
        mask = nn.Transformer.generate_square_subsequent_mask(text.shape[1])
        for layer in self.layers:
            text = layer(text, src_mask=mask, is_causal=True)
        return text, None


def demonstrate(options: Options, *, rng: np.random.Generator, timer: Timer) -> Iterator[Observation]:
    """Ratios of seconds.

    ``doubling`` is how many times as long a network takes for twice the tokens. ``written_ratio`` compares an
    LSTM in Python with PyTorch's own, ``gpt_ratio`` the attention network with that LSTM on one thread.
    ``thread_ratio`` is how many times as fast a network is with several threads, and ``threads`` their number.
    """
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    written = {
        "written-lstm": WrittenLstm(options.width),
        "lstm": nn.LSTM(options.width, options.width, batch_first=True),
    }
    with _threads(1):
        found = _seconds(options, written, options.tokens, generator, timer)
        for name in written:
            for tokens in options.tokens[1:]:
                grown = ratio(found, f"{name} {tokens}", f"{name} {tokens // 2}")
                yield Observation("doubling", grown, {"network": name, "tokens": tokens}, "ratio")
        for tokens in options.tokens:
            slower = ratio(found, f"written-lstm {tokens}", f"lstm {tokens}")
            yield Observation("written_ratio", slower, {"tokens": tokens}, "ratio")
    yield from _by_threads(options, generator, timer)


def _by_threads(options: Options, generator: torch.Generator, timer: Timer) -> Iterator[Observation]:
    networks = {
        "gpt": Gpt(options.width, options.heads, options.layers),
        "elman": nn.RNN(options.width, options.width, batch_first=True),
        "lstm": nn.LSTM(options.width, options.width, batch_first=True),
    }
    several = min(options.threads, cores())
    with _threads(1):
        alone = _seconds(options, networks, (options.long,), generator, timer)
    with _threads(several):
        together = _seconds(options, networks, (options.long,), generator, timer)
    names = {name: f"{name} {options.long}" for name in networks}
    slower = ratio(alone, names["gpt"], names["lstm"])
    yield Observation("gpt_ratio", slower, {}, "ratio")
    for name, text in names.items():
        faster = statistics.median(alone[text]) / statistics.median(together[text])
        yield Observation("thread_ratio", faster, {"network": name}, "ratio")
    yield Observation("threads", several, {}, "count")


def _seconds(
    options: Options,
    networks: Mapping[str, nn.Module],
    lengths: tuple[int, ...],
    generator: torch.Generator,
    timer: Timer,
) -> dict[str, list[float]]:
    """The seconds of forward and backward, by network and number of tokens."""
    functions: dict[str, Callable[[], object]] = {}
    for name, network in networks.items():
        for tokens in lengths:
            text = torch.randn(options.batch, tokens, options.width, generator=generator)
            functions[f"{name} {tokens}"] = partial(_pass, network, text)
    return timer.seconds(functions)


def _pass(network: nn.Module, text: Tensor) -> None:
    outputs, _ = network(text)
    outputs.square().mean().backward()


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Inside the block, PyTorch uses this number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
