"""Does a decoder that writes token by token compute what it computed in training, in one pass (transformer 8.4)?

Networks of ours with random weights read a text in three ways: all at once, each prefix anew, and token by token
with what they remember. A hook counts how often a network runs, and how many tokens go through it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from seedbed.batching import Packed, pack
from seedbed.documents import Documents, Tokens
from seedbed.messages import require_positive
from seedbed.models import encoder_decoder, recurrent, transformer
from seedbed.models.embedding import Embedding
from seedbed.models.initialisation import fill, unfilled
from seedbed.models.layers import FeedForward
from seedbed.models.recurrence import Recurrence, State
from seedbed.observations import Observation, Scalar

NEEDS = ("rng",)


@dataclass(frozen=True)
class Options:
    """Sizes of the networks, and what they read and write."""

    width: int = 16
    heads: int = 4
    inner: int = 64
    layers: int = 2
    vocabulary: int = 12
    length: int = 8  # tokens of the text
    source: int = 6  # tokens of what an encoder reads
    prompt: int = 5  # tokens that are given before others are written
    written: tuple[int, ...] = (1, 2, 3, 4, 8)  # numbers of tokens after the prompt

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, or heads that do not divide the width.
        """
        sizes = {name: value for name, value in vars(self).items() if name != "written"}
        require_positive(**sizes)
        if min(self.written, default=0) < 1:
            raise ValueError(f"written {list(self.written)}: expected at least one number, each from 1")
        if max(self.written) < 3:
            raise ValueError(f"written {list(self.written)}: expected the largest to be at least 3, to see growth")
        if self.width % self.heads:
            raise ValueError(f"heads {self.heads}: expected a divisor of width {self.width}")


@torch.no_grad()
def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """By network and way of reading: ``difference``, the largest from the logits of one parallel pass.

    ``positions`` counts the tokens that go through the network, ``passes`` how often it runs. ``steps`` is how
    often a recurrent network updates its state in one pass. ``changed`` counts the outputs, over all tokens, that
    change with a token after them (``later``), or with their own or one before (``seen``).
    ``generated_positions`` counts the tokens that go through a network that writes after a prompt, by how it
    reads: with a cache until the last token is written, or until it is read too, for what would follow; each
    prefix anew (``recomputed``); and by a bidirectional network with a place for the token that is asked for.
    ``growth`` is the least, ``growth_most`` the largest second difference of these numbers: 0 if they grow
    linearly, constant if quadratically.
    """
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    text = rng.integers(0, options.vocabulary, options.length)
    for name, network, source in _networks(options, generator):
        parallel = _parallel(network, source, text)
        for way, read in (("prefixes", _by_prefix), ("cached", _cached)):
            with _counted(network) as counted:
                logits = read(network, source, text)
            condition = {"network": name, "read": way}
            yield Observation("difference", float((logits - parallel).abs().max()), condition, "nat")
            yield from _passes(counted, condition)
        with _counted(network) as counted:
            _parallel(network, source, text)
        yield from _passes(counted, {"network": name, "read": "parallel"})
        for which, changed in zip(("later", "seen"), _changed(network, source, text, parallel), strict=True):
            yield Observation("changed", changed, {"network": name, "token": which}, "count")
        yield from _steps(name, network, text)
    yield from _generated(options, generator)


def _networks(options: Options, generator: torch.Generator) -> Iterator[tuple[str, nn.Module, Packed | None]]:
    """Each network with its source, if it reads one."""
    width, heads, inner, layers = options.width, options.heads, options.inner, options.layers
    decoder = encoder_decoder.Options(width, heads, layers, layers, inner)
    documents = Documents.of([np.arange(options.source) % options.vocabulary])
    source = pack(documents, [options.source])
    yield "encoder-decoder", _filled(encoder_decoder, decoder, options, generator), source
    gpt = transformer.Options(width, heads, layers, inner)
    yield "gpt", _filled(transformer, gpt, options, generator), None
    yield "gpt-post", _filled(transformer, replace(gpt, norm="post"), options, generator), None
    lstm = recurrent.Options("lstm", width, width, layers)
    yield "lstm", _filled(recurrent, lstm, options, generator), None


def _filled(module: Any, sizes: object, options: Options, generator: torch.Generator) -> nn.Module:  # noqa: ANN401
    network: nn.Module = unfilled(lambda: module.Model(sizes, options.vocabulary))
    fill(network, generator)
    return network.double()


def _parallel(network: nn.Module, source: Packed | None, text: Tokens) -> Tensor:
    """[tokens, vocabulary], the logits after every token of the text, in one pass."""
    batch = pack(Documents.of([text]))
    logits: Tensor = network(batch) if source is None else network(source, batch)
    return logits


def _by_prefix(network: nn.Module, source: Packed | None, text: Tokens) -> Tensor:
    """The same: each prefix is read anew, and only the last logits of it are kept."""
    return torch.stack([_parallel(network, source, text[: end + 1])[-1] for end in range(len(text))])


def _cached(network: Any, source: Packed | None, text: Tokens) -> Tensor:  # noqa: ANN401
    """The same: token by token, with what the network remembers."""
    state, found = network.start(1 if source is None else source), []
    for token in torch.from_numpy(text):
        logits, state = network.step(token[None], state)
        found.append(logits[0])
    return torch.stack(found)


@contextmanager
def _counted(network: nn.Module) -> Iterator[list[int]]:
    """While the context lasts, the number of tokens of each pass through the network; a source is not counted."""
    passes: list[int] = []
    layers = list(network.modules())
    inner = [layer for layer in layers if isinstance(layer, FeedForward)]
    (first,) = (layer for layer in layers if isinstance(layer, Embedding))
    watched = inner[-1] if inner else first
    hook = watched.register_forward_hook(lambda _, inputs, output: passes.append(len(inputs[0])))
    try:
        yield passes
    finally:
        hook.remove()


def _passes(counted: list[int], condition: dict[str, str]) -> Iterator[Observation]:
    yield Observation("positions", sum(counted), condition, "token")
    yield Observation("passes", len(counted), condition, "count")


def _changed(network: nn.Module, source: Packed | None, text: Tokens, parallel: Tensor) -> tuple[int, int]:
    """How many outputs change with a later token, and with their own or an earlier one; over all tokens."""
    vocabulary, before, after = parallel.shape[1], 0, 0
    for place in range(len(text)):
        other = text.copy()
        other[place] = (text[place] + 1) % vocabulary
        differs = (_parallel(network, source, other) != parallel).any(1)
        before += int(differs[:place].sum())
        after += int(differs[place:].sum())
    return before, after


def _steps(name: str, network: nn.Module, text: Tokens) -> Iterator[Observation]:
    """How often the first layer of a recurrent network updates its state while it reads a text in one pass."""
    layers = [layer for layer in network.modules() if isinstance(layer, Recurrence)]
    if not layers:
        return
    first, updates = layers[0], []
    plain = first.cell

    def step(inputs: Tensor, *rest: Any) -> State:  # noqa: ANN401
        updates.append(len(inputs))
        return plain.step(inputs, *rest)

    first.cell = replace(plain, step=step)
    _parallel(network, None, text)
    first.cell = plain
    yield Observation("steps", len(updates), {"network": name}, "count")


def _generated(options: Options, generator: torch.Generator) -> Iterator[Observation]:
    """Tokens that go through a network while it writes others after a prompt, the likeliest one each time."""
    sizes = transformer.Options(options.width, options.heads, options.layers, options.inner)
    network = _filled(transformer, sizes, options, generator)
    ways = ("cached-written", "cached-read", "recomputed", "bidirectional")
    most = max(options.written)
    found = {way: {n: _positions(network, options, way, n) for n in range(1, most + 1)} for way in ways}
    for way, counts in found.items():
        for number in options.written:
            condition: dict[str, Scalar] = {"read": way, "prompt": options.prompt, "written": number}
            yield Observation("generated_positions", counts[number], condition, "token")
        second = np.diff(list(counts.values()), 2)
        for metric, value in (("growth", second.min()), ("growth_most", second.max())):
            yield Observation(metric, float(value), {"read": way}, "token")


def _positions(network: nn.Module, options: Options, way: str, number: int) -> int:
    """How many tokens go through the network until it has written a number of tokens."""
    text = [token % options.vocabulary for token in range(options.prompt)]
    with _counted(network) as counted:
        if way.startswith("cached"):
            _write_cached(network, text, number, last=way == "cached-read")
        else:
            _write_anew(network, text, number, bidirectional=way == "bidirectional")
    return sum(counted)


def _write_cached(network: Any, text: list[int], number: int, last: bool) -> None:  # noqa: ANN401
    state, logits = network.start(1), torch.empty(0)
    for token in text:
        logits, state = network.step(torch.tensor([token]), state)
    for step in range(1, number + 1):
        token = int(logits.argmax())
        if step < number or last:
            logits, state = network.step(torch.tensor([token]), state)


def _write_anew(network: nn.Module, text: list[int], number: int, bidirectional: bool) -> None:
    """Every text so far is read again, by a bidirectional network with one place more, for what is asked for."""
    for _ in range(number):
        read = [*text, 0] if bidirectional else text
        batch = pack(Documents.of([read]), [len(read)] if bidirectional else None)
        text = [*text, int(network(batch)[-1].argmax())]
