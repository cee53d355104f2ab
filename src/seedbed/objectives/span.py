"""Span corruption: runs of tokens are cut out of a document, and written down (T5; Raffel et al. 2020).

document  <bos> she picks her ripe plum from her own garden . <eos>
source    she picks her ripe plum from <x0> garden . <eos>
answer    <x0> her own <eos>
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import count, takewhile
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from seedbed.decoding.following import Following
from seedbed.documents import Documents, Tokens, joined, selected, single, split, within
from seedbed.languages.vocabulary import BEGIN, END, Vocabulary
from seedbed.objectives import scoring
from seedbed.objectives.choosing import choose, to_hide
from seedbed.objectives.conditioning import beginning, conditional, continuation, ended, require_marks
from seedbed.objectives.scoring import Batch, Numbers

OFFERS = ("fill", "infill", "continuation", "beginning")


@dataclass(frozen=True)
class Options:
    """How much is hidden, in how long spans, where, and where the source stands."""

    share: float = 0.15  # of a document's tokens, but for <bos>; one at least
    mean_span: float = 3.0  # tokens a span: there are as many spans as come nearest to it, one at least
    placement: Literal["anywhere", "end"] = "anywhere"  # end: the last span ends the text (objectives 6.4)
    architecture: Literal["encoder_decoder", "prefix", "causal"] = "encoder_decoder"

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a share outside 0 to 1, or spans shorter than a token.
        """
        if not 0 <= self.share <= 1:
            raise ValueError(f"share {self.share}: expected a share, 0 to 1")
        if not 1 <= self.mean_span < math.inf:
            raise ValueError(f"mean_span {self.mean_span}: expected a finite number of tokens, at least 1")


class Objective:
    """The answer is scored: each span behind its sentinel, and <eos> behind the last.

    Neither <bos> nor <eos> is hidden, and the source is read without <bos>, as in the lecture's example (section
    6.2). As many tokens are hidden as `mlm` hides. They are cut into spans, and the spans put between the other
    tokens, all ways alike, but no two next to each other. With placement ``end`` the last span ends the text, as
    T5 segments one: what stays and what is hidden take turns, and what stays comes first. Most documents of the
    garden have one span; the end is then all that is ever hidden, the failure that the lecture reports (6.4).
    """

    def __init__(self, options: Options, vocabulary: Vocabulary) -> None:
        """Make the objective.

        Raises:
            ValueError: the vocabulary has no <x0>, or no <bos> and <eos>.
        """
        require_marks(vocabulary, "span")
        self.reads = options.architecture
        self.options, self.words, self.size = options, vocabulary.word_ids, len(vocabulary)
        names = takewhile(lambda name: name in vocabulary.tokens, (f"<x{index}>" for index in count(1)))
        self.sentinels = np.array([vocabulary.id(name) for name in ("<x0>", *names)])

    def examples(self, documents: Documents, rng: np.random.Generator) -> Batch:
        """Documents with spans cut out of them, and their answers.

        Raises:
            ValueError: a document has no token that may be hidden.
        """
        sources, answers = self.corrupted(documents, rng)
        batch = self._batch(sources, answers)
        return replace(batch, added=int(np.isin(answers.tokens, [END, *self.sentinels]).sum()))

    def corrupted(self, documents: Documents, rng: np.random.Generator) -> tuple[Documents, Documents]:
        """Sources and answers; see `examples`."""
        text = _text(documents)
        if not text.lengths.all():
            raise ValueError(f"document {np.argmin(text.lengths)} of the batch has no token: nothing to hide")
        hidden = np.minimum(to_hide(documents.lengths - 1, self.options.share), text.lengths)
        spans = self._spans(hidden, text.lengths - hidden)
        begins = _cut(rng, hidden, spans)
        points = self._points(rng, text.lengths - hidden, spans)
        return self._spliced(text, _places(text, hidden, points, begins), begins, hidden, spans)

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, int]:
        """The summed loss in nats and the number of scored tokens."""
        return scoring.loss(model, batch)

    def fill(self, model: nn.Module, documents: Documents, places: NDArray[np.int64]) -> Numbers:
        """[documents, vocabulary], log probabilities of the word at one place of each, where <x0> is put.

        That the span is exactly this word: p(word | <x0>) p(<eos> | <x0> word), normalised over the words
        (objectives 6.4); -inf for other tokens. A pass for each word.
        """
        sources, _ = self._holed(documents, places, np.ones(len(documents), np.int64))
        words = len(self.words)
        candidates = np.full((len(documents), words, 3), [self.sentinels[0], 0, END])
        candidates[:, :, 1] = self.words
        answers = Documents(candidates.ravel(), 3 * np.arange(len(documents) * words + 1))
        repeated = sources.take(np.repeat(np.arange(len(documents)), words))
        found = self._answered(model, repeated, answers).reshape(len(documents), words, 3)
        return scoring.among(found[:, :, 1:].sum(2), self.words, self.size)

    def infill(
        self, model: nn.Module, documents: Documents, places: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> Numbers:
        """[documents], the log probability that <x0> stands for just the tokens that one hole of each holds.

        p(tokens, <eos> | <x0>): how many are missing is not told (objectives 6.4).
        """
        sources, answers = self._holed(documents, places, sizes)
        found = np.where(answers.positions > 0, self._answered(model, sources, answers), 0)
        summed: Numbers = np.bincount(answers.owners, weights=found, minlength=len(documents)).astype(np.float64)
        return summed

    def continuation(self, model: nn.Module, documents: Documents, starts: NDArray[np.int64]) -> Numbers:
        """The log probability of each token from the place ``starts`` of its document on.

        The source is what stands before, with <x0> behind it; the rest is written as its span (objectives 6.4).
        """
        sources, answers = self._begun(documents, starts)
        return self._answered(model, sources, answers)[answers.positions > 0]

    def beginning(self, model: nn.Module, documents: int) -> tuple[list[int], Following]:
        """So many documents that are one span each, behind <x0>, and what follows as they are written.

        Nothing is given: the source is <x0> alone.
        """
        sentinel = int(self.sentinels[0])
        return beginning(model, [sentinel, END], [sentinel], documents, self.options.architecture)

    def _batch(self, sources: Documents, answers: Documents) -> Batch:
        return conditional(joined(sources, answers), sources.lengths, self.options.architecture)

    def _answered(self, model: nn.Module, sources: Documents, answers: Documents) -> Numbers:
        """[answer tokens], the log probability of each, given those before it."""
        return continuation(model, joined(sources, answers), sources.lengths, self.options.architecture)

    def _holed(
        self, documents: Documents, places: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> tuple[Documents, Documents]:
        """Sources with <x0> for so many tokens of each document, and the answers that hold them."""
        firsts = np.repeat(documents.offsets[:-1] + places, sizes)
        hidden, tokens = firsts + within(sizes), documents.tokens.copy()
        tokens[firsts], visible = self.sentinels[0], np.ones(len(tokens), np.bool_)
        visible[hidden], visible[firsts] = False, True
        sentinel = single(self.sentinels[0], len(documents))
        held = Documents(documents.tokens[hidden], np.concatenate([[0], np.cumsum(sizes)]))
        return ended(_text(selected(Documents(tokens, documents.offsets), visible))), ended(joined(sentinel, held))

    def _begun(self, documents: Documents, starts: NDArray[np.int64]) -> tuple[Documents, Documents]:
        """Sources of what is given, with <x0> behind it, and answers so far."""
        given, rest = split(documents, starts)
        sentinel = single(self.sentinels[0], len(documents))
        return ended(joined(_text(given), sentinel)), joined(sentinel, rest)

    def _spans(self, hidden: NDArray[np.int64], visible: NDArray[np.int64]) -> NDArray[np.int64]:
        """[documents], how many spans, for which there must be places and sentinels."""
        wanted = np.maximum(np.rint(hidden / self.options.mean_span).astype(np.int64), 1)
        room = visible + 1 if self.options.placement == "anywhere" else np.maximum(visible, 1)
        return np.minimum(np.minimum(wanted, room), len(self.sentinels))

    def _points(
        self, rng: np.random.Generator, visible: NDArray[np.int64], spans: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """[spans], behind how many visible tokens of its document each span stands."""
        points = within(visible + 1)
        if self.options.placement == "anywhere":
            chosen = choose(rng, visible + 1, spans)
        else:
            chosen = points == np.repeat(visible, visible + 1)
            chosen[(points > 0) & ~chosen] = choose(rng, np.maximum(visible - 1, 0), spans - 1)
        found: Tokens = points[chosen]
        return found

    def _spliced(
        self, text: Documents, places: Tokens, begins: NDArray[np.bool_], hidden: Tokens, spans: Tokens
    ) -> tuple[Documents, Documents]:
        """Sources and answers, given the places of the hidden tokens and which of them begin a span."""
        sentinels, firsts = self.sentinels[within(spans)], places[begins]
        tokens, visible = text.tokens.copy(), np.ones(len(text.tokens), np.bool_)
        tokens[firsts], visible[places], visible[firsts] = sentinels, False, True
        written = np.insert(text.tokens[places], np.flatnonzero(begins), sentinels)
        answers = Documents(written, np.concatenate([[0], np.cumsum(hidden + spans)]))
        return ended(selected(Documents(tokens, text.offsets), visible)), ended(answers)


def _text(documents: Documents) -> Documents:
    """The documents without <bos> and <eos>."""
    return selected(documents, (documents.tokens != BEGIN) & (documents.tokens != END))


def _cut(rng: np.random.Generator, hidden: NDArray[np.int64], spans: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[hidden tokens], which of them begin a span."""
    begins: NDArray[np.bool_] = within(hidden) == 0
    begins[~begins] = choose(rng, hidden - 1, spans - 1)
    return begins


def _places(
    text: Documents, hidden: NDArray[np.int64], points: NDArray[np.int64], begins: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """[hidden tokens], where in the flat text: behind the visible tokens of its span's point and hidden ones."""
    places: Tokens = np.repeat(text.offsets[:-1], hidden) + points[np.cumsum(begins) - 1] + within(hidden)
    return places
