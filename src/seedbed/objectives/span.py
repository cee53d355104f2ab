"""Span corruption: spans of tokens are cut out of a document and predicted (T5; Raffel et al. 2020).

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

from seedbed.decoding.following import NextTokenScorer
from seedbed.documents import Documents, Tokens, join_each, keep_tokens, positions_within, repeat_token, split_each
from seedbed.languages.vocabulary import BEGIN, END, Vocabulary
from seedbed.messages import require_at_least
from seedbed.objectives import scoring
from seedbed.objectives.choosing import choose, hidden_counts
from seedbed.objectives.conditioning import append_end, beginning, conditional_batch, continuation, require_marks
from seedbed.objectives.scoring import Batch, Numbers

OFFERS = ("fill", "infill", "continuation", "beginning")

_PER_SPAN = "the sentinels <x0>, <x1> ... of the vocabulary: each span of a document needs one of its own"


@dataclass(frozen=True)
class Options:
    """How many tokens are hidden, how long and where the spans are, and how the source is read."""

    share: float = 0.15  # of a document's tokens, without <bos>; at least one token
    mean_span: float = 3.0  # tokens in a span; the number of spans is the nearest one to this mean, at least one
    most_spans: int = 0  # of a document; a longer document has longer spans. 0 limits nothing
    placement: Literal["anywhere", "end"] = "anywhere"  # end: the last span ends the text (objectives 6.4)
    architecture: Literal["encoder_decoder", "prefix", "causal"] = "encoder_decoder"

    def __post_init__(self) -> None:
        """Check the ranges, and that a document has room for its spans.

        Raises:
            ValueError: the share is outside 0 to 1, the mean span is shorter than a token, the number of spans is
                negative, or so much is hidden that visible tokens cannot keep spans of this mean apart.
        """
        if not 0 <= self.share <= 1:
            raise ValueError(f"share {self.share}: expected a share, 0 to 1")
        if not 1 <= self.mean_span < math.inf:
            raise ValueError(f"mean_span {self.mean_span}: expected a finite number of tokens, at least 1")
        require_at_least(0, most_spans=self.most_spans)
        most = self.mean_span / (self.mean_span + 1)
        if self.most_spans != 1 and self.share > most:
            raise ValueError(
                f"share {self.share}: a visible token must separate two spans, so with mean_span "
                f"{self.mean_span:g} expected at most {most:.3g}; or else a larger mean_span, or most_spans: 1"
            )


class Objective:
    """The answer is scored: each span after its sentinel, and <eos> after the last span.

    Neither <bos> nor <eos> is hidden, and the source is read without <bos>, as in the lecture's example (section
    6.2). As many tokens are hidden as with `mlm`. They are cut into spans. The spans are put between the visible
    tokens, uniformly at random, but no two next to each other. With placement ``end`` the last span ends the text,
    as in T5: visible and hidden parts alternate, and a visible part comes first. Most documents of the garden have
    one span. Only their ends are then ever hidden, which is the failure that the lecture reports (6.4).
    """

    def __init__(self, options: Options, vocabulary: Vocabulary) -> None:
        """Make the objective.

        Raises:
            ValueError: the vocabulary has no <x0>, or no <bos> and <eos>, or fewer sentinels than ``most_spans``.
        """
        require_marks(vocabulary, "span")
        self.reads = options.architecture
        self.options, self.words, self.size = options, vocabulary.word_ids, len(vocabulary)
        names = takewhile(lambda name: name in vocabulary.tokens, (f"<x{index}>" for index in count(1)))
        self.sentinels = np.array([vocabulary.id(name) for name in ("<x0>", *names)])
        if options.most_spans > len(self.sentinels):
            raise ValueError(
                f"most_spans {options.most_spans}: expected at most {len(self.sentinels)}, {_PER_SPAN}"
            )

    def examples(self, documents: Documents, rng: np.random.Generator) -> Batch:
        """A batch of documents with spans cut out of them, and of their answers.

        Raises:
            ValueError: a document has no token that may be hidden, or more spans than there are sentinels.
        """
        sources, answers = self.corrupt(documents, rng)
        batch = self._batch(sources, answers)
        return replace(batch, added=int(np.isin(answers.tokens, [END, *self.sentinels]).sum()))

    def corrupt(self, documents: Documents, rng: np.random.Generator) -> tuple[Documents, Documents]:
        """Sources and answers; see `examples`."""
        text = _without_marks(documents)
        if not text.lengths.all():
            raise ValueError(f"document {np.argmin(text.lengths)} of the batch has no token: nothing to hide")
        hidden = np.minimum(hidden_counts(documents.lengths - 1, self.options.share), text.lengths)
        spans = self._spans(hidden, text.lengths - hidden)
        begins = _cut(rng, hidden, spans)
        points = self._points(rng, text.lengths - hidden, spans)
        return self._sources_and_answers(text, _places(text, hidden, points, begins), begins, hidden, spans)

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, int]:
        """The summed loss in nats and the number of scored tokens."""
        return scoring.loss(model, batch)

    def fill(self, model: nn.Module, documents: Documents, places: NDArray[np.int64]) -> Numbers:
        """[documents, vocabulary], log probabilities of the word at one position of each document.

        <x0> replaces the word. Scored is that the span is exactly this word: p(word | <x0>) p(<eos> | <x0> word),
        normalised over the words (objectives 6.4); -inf for other tokens. Each word takes a pass of its own.
        """
        sources, _ = self._hide_holes(documents, places, np.ones(len(documents), np.int64))
        words = len(self.words)
        candidates = np.full((len(documents), words, 3), [self.sentinels[0], 0, END])
        candidates[:, :, 1] = self.words
        answers = Documents(candidates.ravel(), 3 * np.arange(len(documents) * words + 1))
        repeated = sources.take(np.repeat(np.arange(len(documents)), words))
        found = self._answer_log_probabilities(model, repeated, answers).reshape(len(documents), words, 3)
        return scoring.restrict_to_words(found[:, :, 1:].sum(2), self.words, self.size)

    def infill(
        self, model: nn.Module, documents: Documents, places: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> Numbers:
        """[documents], the log probability that <x0> replaces exactly the tokens of one hole of each document.

        It is p(tokens, <eos> | <x0>): the model does not know how many tokens are missing (objectives 6.4).
        """
        sources, answers = self._hide_holes(documents, places, sizes)
        found = np.where(answers.positions > 0, self._answer_log_probabilities(model, sources, answers), 0)
        summed: Numbers = np.bincount(answers.owners, weights=found, minlength=len(documents)).astype(np.float64)
        return summed

    def continuation(self, model: nn.Module, documents: Documents, starts: NDArray[np.int64]) -> Numbers:
        """The log probability of each token from position ``starts`` of its document on, given all before it.

        The source is the tokens before, followed by <x0>; the rest is predicted as the span (objectives 6.4).
        """
        sources, answers = self._source_and_rest(documents, starts)
        return self._answer_log_probabilities(model, sources, answers)[answers.positions > 0]

    def beginning(self, model: nn.Module, documents: int) -> tuple[list[int], NextTokenScorer]:
        """The first token <x0> of each document to write, and the scorer of the next tokens.

        The source is <x0> alone, so the whole document is one span.
        """
        sentinel = int(self.sentinels[0])
        return beginning(model, [sentinel, END], [sentinel], documents, self.options.architecture)

    def _batch(self, sources: Documents, answers: Documents) -> Batch:
        return conditional_batch(join_each(sources, answers), sources.lengths, self.options.architecture)

    def _answer_log_probabilities(self, model: nn.Module, sources: Documents, answers: Documents) -> Numbers:
        """[answer tokens], the log probability of each, given the source and the answer tokens before it."""
        return continuation(model, join_each(sources, answers), sources.lengths, self.options.architecture)

    def _hide_holes(
        self, documents: Documents, places: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> tuple[Documents, Documents]:
        """Sources in which <x0> replaces ``sizes`` tokens of each document, and the answers with these tokens."""
        firsts = np.repeat(documents.offsets[:-1] + places, sizes)
        hidden = firsts + positions_within(sizes)
        tokens, visible = documents.tokens.copy(), np.ones(len(documents.tokens), np.bool_)
        tokens[firsts] = self.sentinels[0]  # it replaces the first token of the hole
        visible[hidden] = False
        visible[firsts] = True
        sentinel = repeat_token(self.sentinels[0], len(documents))
        held = Documents(documents.tokens[hidden], np.concatenate([[0], np.cumsum(sizes)]))
        source = _without_marks(keep_tokens(Documents(tokens, documents.offsets), visible))
        return append_end(source), append_end(join_each(sentinel, held))

    def _source_and_rest(self, documents: Documents, starts: NDArray[np.int64]) -> tuple[Documents, Documents]:
        """Sources with the given tokens followed by <x0>, and answers with the rest."""
        given, rest = split_each(documents, starts)
        sentinel = repeat_token(self.sentinels[0], len(documents))
        return append_end(join_each(_without_marks(given), sentinel)), join_each(sentinel, rest)

    def _spans(self, hidden: NDArray[np.int64], visible: NDArray[np.int64]) -> NDArray[np.int64]:
        """[documents], the number of spans: the nearest one to the mean for which there are places.

        Raises:
            ValueError: the options ask for more spans than there are sentinels.
        """
        wanted = np.maximum(np.rint(hidden / self.options.mean_span).astype(np.int64), 1)
        room = visible + 1 if self.options.placement == "anywhere" else np.maximum(visible, 1)
        spans = np.minimum(np.minimum(wanted, room), self.options.most_spans or wanted)
        if spans.max(initial=0) > len(self.sentinels):
            longest = spans.argmax()
            raise ValueError(self._too_few_sentinels(int((visible + hidden)[longest]), int(spans[longest])))
        return spans

    def _too_few_sentinels(self, tokens: int, spans: int) -> str:
        there = len(self.sentinels)
        return (
            f"mean_span {self.options.mean_span:g}: a document of {tokens} words and periods has {spans} spans, "
            f"but expected at most {there}, {_PER_SPAN}; add sentinels to `structural` in the grammar, hide less "
            f"(share), or set most_spans: {there}, with which longer documents have longer spans"
        )

    def _points(
        self, rng: np.random.Generator, visible: NDArray[np.int64], spans: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """[spans], the number of visible tokens of its document before each span."""
        points = positions_within(visible + 1)
        if self.options.placement == "anywhere":
            chosen = choose(rng, visible + 1, spans)
        else:
            chosen = points == np.repeat(visible, visible + 1)
            chosen[(points > 0) & ~chosen] = choose(rng, np.maximum(visible - 1, 0), spans - 1)
        found: Tokens = points[chosen]
        return found

    def _sources_and_answers(
        self, text: Documents, places: Tokens, begins: NDArray[np.bool_], hidden: Tokens, spans: Tokens
    ) -> tuple[Documents, Documents]:
        """Sources and answers, given the places of the hidden tokens and which of them begin a span."""
        sentinels, firsts = self.sentinels[positions_within(spans)], places[begins]
        tokens, visible = text.tokens.copy(), np.ones(len(text.tokens), np.bool_)
        tokens[firsts] = sentinels  # the sentinel replaces the first token of its span
        visible[places] = False
        visible[firsts] = True
        written = np.insert(text.tokens[places], np.flatnonzero(begins), sentinels)
        answers = Documents(written, np.concatenate([[0], np.cumsum(hidden + spans)]))
        return append_end(keep_tokens(Documents(tokens, text.offsets), visible)), append_end(answers)


def _without_marks(documents: Documents) -> Documents:
    """The documents without <bos> and <eos>."""
    return keep_tokens(documents, (documents.tokens != BEGIN) & (documents.tokens != END))


def _cut(rng: np.random.Generator, hidden: NDArray[np.int64], spans: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[hidden tokens], which of them begin a span; every cut into spans is equally likely."""
    begins: NDArray[np.bool_] = positions_within(hidden) == 0
    begins[~begins] = choose(rng, hidden - 1, spans - 1)
    return begins


def _places(
    text: Documents, hidden: NDArray[np.int64], points: NDArray[np.int64], begins: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """[hidden tokens], the index of each in the flat text, after visible and earlier hidden tokens."""
    places: Tokens = (
        np.repeat(text.offsets[:-1], hidden) + points[np.cumsum(begins) - 1] + positions_within(hidden)
    )
    return places
