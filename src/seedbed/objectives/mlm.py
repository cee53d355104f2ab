"""Masked language modelling: some tokens are hidden, and predicted from all others (BERT; Devlin et al. 2018)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from seedbed.batching import pack
from seedbed.decoding.following import Following, rectangle
from seedbed.documents import Documents, Tokens, selected
from seedbed.languages.vocabulary import BEGIN, Vocabulary
from seedbed.objectives import scoring
from seedbed.objectives.choosing import choose, to_hide
from seedbed.objectives.conditioning import ended, require_marks
from seedbed.objectives.scoring import Batch, Numbers

OFFERS = ("fill", "continuation", "beginning")


@dataclass(frozen=True)
class Options:
    """How much is hidden, and by what; the last three are shares of what is hidden."""

    share: float = 0.15  # of a document's tokens, but for <bos>; one at least
    mask: float = 0.8  # hidden by <mask>
    random: float = 0.1  # hidden by a random word
    keep: float = 0.1  # left as it is, but predicted

    def __post_init__(self) -> None:
        """Check the shares.

        Raises:
            ValueError: one is outside 0 to 1, or the last three do not add up to 1.
        """
        for name in ("share", "mask", "random", "keep"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} {getattr(self, name)}: expected a share, 0 to 1")
        total = self.mask + self.random + self.keep
        if not math.isclose(total, 1):
            raise ValueError(f"mask, random and keep add up to {total:g}, not to 1")


class Objective:
    """The hidden tokens are scored, each where it stands; every token sees the whole document.

    Any token but <bos> may be hidden: the lecture's example hides a period, and its model learnt that <eos> comes
    last (objectives 6.2, 6.4), so <eos> was among what it predicted. With these, forward language modelling scores
    6.6 times as many tokens, as the lecture says.
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
        places = np.flatnonzero(eligible)[choose(rng, sizes, to_hide(sizes, self.options.share))]
        return _hidden(documents, places, self._disguises(documents.tokens[places], rng))

    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, int]:
        """The summed loss in nats and the number of scored tokens."""
        return scoring.loss(model, batch)

    def fill(self, model: nn.Module, documents: Documents, places: NDArray[np.int64]) -> Numbers:
        """[documents, vocabulary], log probabilities of the word at one place of each, where <mask> is put.

        Read in one pass, and normalised over the words; -inf for other tokens.
        """
        scores = scoring.log_probabilities(model, self._masked(documents, places))[:, self.words]
        return scoring.among(scores, self.words, self.size)

    def continuation(self, model: nn.Module, documents: Documents, starts: NDArray[np.int64]) -> Numbers:
        """The log probability of each token from the place ``starts`` of its document on.

        The model writes by filling a <mask> put behind all that is there, without <eos> (objectives 6.4): so
        each token is predicted from those before it, in a pass of its own.
        """
        asked = np.flatnonzero(documents.positions >= starts[documents.owners])
        places, repeated = documents.positions[asked], documents.take(documents.owners[asked])
        begun = selected(repeated, repeated.positions <= places[repeated.owners])
        return scoring.of_targets(model, self._masked(begun, places))

    def beginning(self, model: nn.Module, documents: int) -> tuple[list[int], Following]:
        """So many documents from <bos> on, written by filling a <mask> behind all that is there (objectives 6.4).

        A new token changes what every other one sees, so that everything is read again for each.
        """

        def following(growing: Tokens, texts: Tokens) -> Numbers:
            begun = rectangle(texts)
            return scoring.log_probabilities(model, self._masked(ended(begun), begun.lengths))

        return [BEGIN], following

    def _masked(self, documents: Documents, places: NDArray[np.int64]) -> Iterator[Batch]:
        """Documents with <mask> at one place each."""
        for some in scoring.chunks(len(documents)):
            chunk = documents.take(some)
            yield _hidden(chunk, chunk.offsets[:-1] + places[some], self.mask)

    def _disguises(self, tokens: Tokens, rng: np.random.Generator) -> Tokens:
        """What stands in the place of each hidden token."""
        draw, words = rng.random(len(tokens)), rng.choice(self.words, len(tokens))
        masked, changed = draw < self.options.mask, draw < self.options.mask + self.options.random
        return np.where(masked, self.mask, np.where(changed, words, tokens))


def _hidden(documents: Documents, places: Tokens, disguises: Tokens | int) -> Batch:
    """Documents with something else at some places of the flat tokens, scored there on what it was."""
    tokens = documents.tokens.copy()
    tokens[places] = disguises
    rows = pack(Documents(tokens, documents.offsets), documents.lengths)
    return Batch((rows,), torch.from_numpy(documents.tokens[places]), torch.from_numpy(places))
