"""How a text is written token by token, and what its probability is (pretraining 13, 22, 23)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seedbed.batching import pack
from seedbed.decoding.choice import Choice
from seedbed.decoding.writing import draw_uniforms, generate_documents
from seedbed.demonstrations.numpy_layers import softmax
from seedbed.documents import Documents, Tokens
from seedbed.languages.automaton import Language
from seedbed.messages import require_at_least, require_positive
from seedbed.models import encoder_decoder, transformer
from seedbed.models.initialisation import fill, unfilled
from seedbed.observations import Observation, Scalar

NEEDS = ("language", "rng")

Numbers = NDArray[np.float64]
Network = transformer.Model | encoder_decoder.Model


@dataclass(frozen=True)
class Options:
    """The networks, what they write, and the sentence of the example."""

    vocabulary: int = 5  # at least 2
    length: int = 4  # tokens of every text whose probability is added up, after a first one
    width: int = 16
    heads: int = 2
    top_k: tuple[int, ...] = (1, 2, 3, 5)
    draws: int = 2000
    subjects: tuple[str, ...] = ("I", "we", "the children")  # the first is right
    possessives: tuple[str, ...] = ("my", "our", "their")
    begun: str = "grow the pretty tulip from"  # after the subject; a possessive follows

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, fewer than two tokens, a top_k above the vocabulary, or no subject.
        """
        require_at_least(2, vocabulary=self.vocabulary)
        require_positive(length=self.length, width=self.width, draws=self.draws)
        if self.heads < 1 or self.width % self.heads:
            raise ValueError(f"heads {self.heads}: expected a divisor of width {self.width}")
        if not all(0 < number <= self.vocabulary for number in self.top_k):
            raise ValueError(f"top_k {list(self.top_k)}: expected each from 1 to vocabulary {self.vocabulary}")
        if not self.subjects:
            raise ValueError("subjects []: expected at least one, the right one first")


@torch.no_grad()
def demonstrate(options: Options, *, language: Language, rng: np.random.Generator) -> Iterator[Observation]:
    """By ``top_k``: ``possible_tokens`` and others; by network ``probability_total`` of all texts; and an example.

    ``outside`` counts drawn tokens that are not among the k largest logits, ``total_deviation`` is how far the
    probabilities miss 1, ``draw_deviation`` how far shares of drawn tokens miss a softmax over the k largest
    logits, ``plain_difference`` how far probabilities lie from a softmax over all. ``greedy_mismatches`` counts
    tokens of texts that are written with k = 1 and are not the likeliest ones, ``loop_mismatches`` those that a
    loop of logits, softmax, draw and append would have written differently. ``logits_size`` and
    ``last_difference`` are of the logits that give the next token, ``product_difference`` compares the
    probability of a text in one pass with the product of its tokens', read one by one. ``later_probability`` is
    that of a possessive after each subject, the first of which was meant.
    """
    logits = rng.standard_normal((1, options.vocabulary))
    for number in options.top_k:
        yield from _chosen(logits, number, options.draws, rng)
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    sizes = transformer.Options(options.width, options.heads, 2, 4 * options.width, embedding_std=0.5)
    gpt = unfilled(lambda: transformer.Model(sizes, options.vocabulary))
    both = encoder_decoder.Options(options.width, options.heads, 1, 1, 4 * options.width)
    decoder = unfilled(lambda: encoder_decoder.Model(both, options.vocabulary))
    for network in (gpt, decoder):
        fill(network, generator)
        network.double()
    yield from _written(gpt, options, rng)
    yield from _factorised("gpt", gpt, False, options)
    yield from _factorised("encoder-decoder", decoder, True, options)
    for subject, possessive in product(options.subjects, options.possessives):
        after = language.next_token(language.encode(f"<bos> {subject} {options.begun}"))
        (token,) = language.encode(possessive)
        yield Observation(
            "later_probability", float(after[token]), {"subject": subject, "word": possessive}, "share"
        )


def _chosen(logits: Numbers, number: int, draws: int, rng: np.random.Generator) -> Iterator[Observation]:
    of: dict[str, Scalar] = {"top_k": number}
    choice = Choice(top_k=number)
    probabilities = choice.probabilities(logits)[0]
    yield Observation("possible_tokens", int((probabilities > 0).sum()), of, "count")
    yield Observation("total_deviation", float(abs(probabilities.sum() - 1)), of, "share")
    tokens = choice.tokens(np.repeat(logits, draws, 0), rng.random(draws))
    largest = sorted(range(logits.shape[1]), key=lambda token: -logits[0, token])[:number]
    yield Observation("outside", int((~np.isin(tokens, largest)).sum()), of, "count")
    shares = np.bincount(tokens, minlength=logits.shape[1])[largest] / draws
    expected = softmax(logits[:, largest])[0]
    yield Observation("draw_deviation", float(np.abs(shares - expected).max()), of, "share")
    plain = float(np.abs(probabilities - softmax(logits)[0]).max())
    yield Observation("plain_difference", plain, of, "share")


def _logits(network: transformer.Model, texts: Tokens) -> Tensor:
    """[texts, tokens, vocabulary], of texts [texts, tokens] in one pass."""
    found: Tensor = network(pack(Documents.of(texts)))
    return found.view(*texts.shape, -1)


def _written(network: transformer.Model, options: Options, rng: np.random.Generator) -> Iterator[Observation]:
    """Texts that ours writes, against a loop, from the logits of the last position alone."""
    uniforms = draw_uniforms(rng, 6, 8)

    def last(_: Tokens, texts: Tokens) -> Numbers:
        return np.asarray(_logits(network, texts)[:, -1].numpy())

    for number in (1, 3):
        texts = list(generate_documents(last, [0], Choice(top_k=min(number, options.vocabulary)), uniforms, []))
        wrong = sum(
            int((text != _loop(network, number, one)).sum()) for text, one in zip(texts, uniforms, strict=True)
        )
        yield Observation("loop_mismatches", wrong, {"top_k": number}, "count")
        if number == 1:
            likeliest = _logits(network, np.stack(texts))[:, :-1].argmax(-1).numpy()
            yield Observation("greedy_mismatches", int((likeliest != np.stack(texts)[:, 1:]).sum()), unit="count")
    state = network.start(len(texts))
    for column in np.stack(texts).T:
        stepped, state = network.step(torch.from_numpy(column.copy()), state)
    for axis, size in zip(("texts", "vocabulary"), stepped.shape, strict=True):
        yield Observation("logits_size", size, {"axis": axis}, "count")
    difference = (stepped - _logits(network, np.stack(texts))[:, -1]).abs().max()
    yield Observation("last_difference", float(difference), unit="nat")


def _loop(network: transformer.Model, number: int, uniforms: Numbers) -> list[int]:
    """One text: keep the k largest logits, softmax, draw, append, repeat."""
    text = [0]
    for uniform in uniforms:
        logits = _logits(network, np.array([text]))[0, -1].numpy()
        kept = sorted(np.argsort(-logits)[:number])
        position = int(np.searchsorted(np.cumsum(softmax(logits[None, kept])[0]), uniform, side="right"))
        text.append(int(kept[min(position, len(kept) - 1)]))
    return text


def _factorised(name: str, network: Network, conditional: bool, options: Options) -> Iterator[Observation]:
    """All texts after a first token; the conditional ones all given the same source."""
    texts = np.array([(0, *text) for text in product(range(options.vocabulary), repeat=options.length)])
    source = pack(Documents.of([range(2)] * len(texts)), [2] * len(texts)) if conditional else None
    read, asked = pack(Documents.of(texts[:, :-1])), torch.from_numpy(texts[:, 1:])
    logits: Tensor = network(source, read) if source else network(read)
    at_once = logits.log_softmax(-1).view(*asked.shape, -1).gather(2, asked[..., None]).sum((1, 2)).numpy()
    state: Any = network.start(source or len(texts))  # type: ignore[arg-type]
    likely = np.ones(len(texts))
    for token, after in zip(texts.T[:-1], texts.T[1:], strict=True):
        found, state = network.step(torch.from_numpy(token.copy()), state)
        likely *= softmax(found.numpy())[np.arange(len(texts)), after]
    yield Observation("probability_total", float(np.exp(at_once).sum()), {"network": name}, "share")
    difference = float(np.abs(np.log(likely) - at_once).max())
    yield Observation("product_difference", difference, {"network": name}, "nat")
