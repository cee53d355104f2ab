"""Masked language modelling: predict some hidden tokens from all others (BERT; Devlin et al. 2018)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from seedbed.batching import pack
from seedbed.decoding.following import NextTokenScorer, rows_as_documents
from seedbed.documents import Documents, Tokens, keep_tokens
from seedbed.languages.vocabulary import BEGIN, Vocabulary
from seedbed.objectives import scoring
from seedbed.objectives.choosing import choose, hidden_counts
from seedbed.objectives.conditioning import append_end, require_marks
from seedbed.objectives.scoring import Batch, Numbers

OFFERS = ("fill", "continuation", "beginning")


@dataclass(frozen=True)
class Options:
    """How many tokens are hidden, and how; the last three are shares of the hidden tokens."""

    share: float = 0.15  # of a document's tokens, without <bos>; at least one token
    mask: float = 0.8  # replaced by <mask>
    random: float = 0.1  # replaced by a random word
    keep: float = 0.1  # unchanged, but predicted

    def __post_init__(self) -> None:
        """Check the shares.

        Raises:
            ValueError: a share is outside 0 to 1, or the last three do not add up to 1.
        """
        for name in ("share", "mask", "random", "keep"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} {getattr(self, name)}: expected a share, 0 to 1")
        total = self.mask + self.random + self.keep
        if not math.isclose(total, 1):
            raise ValueError(f"mask, random and keep add up to {total:g}, not to 1")


class Objective:
    """The hidden tokens are scored, each at its own position; every token sees the whole document.

    Any token but <bos> may be hidden. The lecture's example hides a period, and its model learnt that <eos> comes
    last, so <eos> was predicted too (objectives 6.2, 6.4). With both, forward language modelling scores 6.6 times
    as many tokens, as the lecture says.
    """

    reads = "bidirectional"

    def __init__(self, options: Options, vocabulary: Vocabulary) -> None:
        """Make the objective.

        Raises:
            ValueError: the vocabulary has no <mask>, or no <bos> and <eos>.
        """
        require_marks(vocabulary, "mlm")
        self.options, self.words, self.size = options, vocabulary.word_ids, len(vocabulary)
        self.mask = vocabulary.id("<mask>")

    def examples(self, documents: Documents, rng: np.random.Generator) -> Batch:
        """Documents with some of their tokens hidden.

        Raises:
            ValueError: a document has no token that may be hidden.
        """
        eligible = documents.tokens != BEGIN
        sizes = np.bincount(documents.owners[eligible], minlength=len(documents))
        if not sizes.all():
            raise ValueError(f"document {np.argmin(sizes)} of the batch has no token but <bos>: nothing to hide")
        places = np.flatnonzero(eligible)[choose(rng, sizes, hidden_counts(sizes, self.options.share))]
        return _hide(documents, places, self._replacements(documents.tokens[places], rng))

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, int]:
        """The summed loss in nats and the number of scored tokens."""
        return scoring.loss(model, batch)

    def fill(self, model: nn.Module, documents: Documents, places: NDArray[np.int64]) -> Numbers:
        """[documents, vocabulary], log probabilities of the word at one position of each document.

        <mask> replaces the word, and one pass is made. The result is normalised over the words; -inf for other
        tokens.
        """
        scores = scoring.log_probabilities(model, self._mask_one(documents, places))[:, self.words]
        return scoring.restrict_to_words(scores, self.words, self.size)

    def continuation(self, model: nn.Module, documents: Documents, starts: NDArray[np.int64]) -> Numbers:
        """The log probability of each token from position ``starts`` of its document on, given all before it.

        The model predicts a <mask> that is appended to the tokens so far, without <eos> (objectives 6.4). Each
        token takes a pass of its own.
        """
        asked = np.flatnonzero(documents.positions >= starts[documents.owners])
        places, repeated = documents.positions[asked], documents.take(documents.owners[asked])
        begun = keep_tokens(repeated, repeated.positions <= places[repeated.owners])
        return scoring.target_log_probabilities(model, self._mask_one(begun, places))

    def beginning(self, model: nn.Module, documents: int) -> tuple[list[int], NextTokenScorer]:
        """The first token <bos> of each document to write, and the scorer of the next tokens.

        The scorer predicts a <mask> that is appended to the tokens so far (objectives 6.4). A new token changes
        what every other token sees, so everything is read again for each.
        """

        def score_next(growing: Tokens, texts: Tokens) -> Numbers:
            begun = rows_as_documents(texts)
            return scoring.log_probabilities(model, self._mask_one(append_end(begun), begun.lengths))

        return [BEGIN], score_next

    def _mask_one(self, documents: Documents, places: NDArray[np.int64]) -> Iterator[Batch]:
        """Batches of documents with <mask> at one position of each."""
        for some in scoring.chunks(len(documents)):
            chunk = documents.take(some)
            yield _hide(chunk, chunk.offsets[:-1] + places[some], self.mask)

    def _replacements(self, tokens: Tokens, rng: np.random.Generator) -> Tokens:
        """[hidden tokens], the token that replaces each hidden token."""
        draw, words = rng.random(len(tokens)), rng.choice(self.words, len(tokens))
        masked, changed = draw < self.options.mask, draw < self.options.mask + self.options.random
        return np.where(masked, self.mask, np.where(changed, words, tokens))


def _hide(documents: Documents, places: Tokens, replacements: Tokens | int) -> Batch:
    """A batch in which tokens at some places of the flat array are replaced, and the original ones are scored."""
    tokens = documents.tokens.copy()
    tokens[places] = replacements
    rows = pack(Documents(tokens, documents.offsets), documents.lengths)
    return Batch((rows,), torch.from_numpy(documents.tokens[places]), torch.from_numpy(places))
