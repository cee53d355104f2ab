"""An interpolated Kneser-Ney n-gram model (Chen and Goodman 1998, section 2.7), which counts and does not train.

The probability of a token after a history has two parts: its discounted share of the counts after that history,
and the mass of the discounts times its probability after the history without the first token. The count of an
n-gram shorter than ``order`` is not its frequency but the number of different tokens before it (Kneser and Ney
1995). An n-gram at the start of a document has no token before it and keeps its frequency. Each length has one
discount, n1 / (n1 + 2 n2), from the numbers of n-grams with counts 1 and 2 (Ney, Essen and Kneser 1994). The
modified form with three discounts does not suit this small a vocabulary: its formulas give negative discounts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from seedbed.decoding.following import NextTokenScorer, scorer_from_predictions
from seedbed.documents import Documents, Tokens
from seedbed.languages.automaton import Language
from seedbed.languages.vocabulary import BEGIN
from seedbed.references.continuing import continuation_log_probabilities
from seedbed.references.material import require_language

Numbers = NDArray[np.float64]

#: The discount if the formula gives none above 0, as in a tiny corpus. It keeps unseen tokens possible.
_FALLBACK = 0.5
#: The largest order. Each length costs a pass over the corpus, and no sentence is this long.
_LONGEST = 100


OFFERS = ("log_probabilities", "continuation", "beginning")


@dataclass(frozen=True)
class Options:
    """A reference run has no seed, so it uses the corpus of one seed, ``corpus_seed``."""

    order: int = 5  # tokens of the longest n-gram; the predictor sees one less
    corpus_seed: int = 0  # the seed of the training corpus that is counted

    def __post_init__(self) -> None:
        if not 1 <= self.order <= _LONGEST:
            raise ValueError(f"order {self.order}: expected 1 to {_LONGEST}")
        if self.corpus_seed < 0:
            raise ValueError(f"corpus_seed {self.corpus_seed}: expected a seed, 0 or above")


@dataclass(frozen=True)
class Reference:
    """The n-gram model of a training corpus.

    Raises:
        ValueError: the data come from a task, whose vocabulary has a word at the id of ``<bos>``.
    """

    options: Options
    language: Language
    corpus: Documents

    def __post_init__(self) -> None:
        require_language("ngram", self.language)

    def log_probabilities(self, documents: Documents) -> Numbers:
        """[tokens, vocabulary] in nats, for the token after each; -inf for ``<bos>`` and structural tokens."""
        probability = np.tile(self._uniform, (len(documents.tokens), 1))
        history, grams = np.zeros(len(documents.tokens), dtype=np.int64), documents.tokens
        for ngrams in self._ngrams:
            ngrams.interpolate(probability, history)
            history = _find(ngrams.grams, grams)
            grams = _extend(history, documents, len(self._uniform))
        with np.errstate(divide="ignore"):
            return np.log(probability)

    def beginning(self, documents: int) -> tuple[list[int], NextTokenScorer]:
        """The first token ``<bos>`` of each document to write, and the scorer of the next tokens."""
        return [BEGIN], scorer_from_predictions(self.log_probabilities)

    def continuation(self, documents: Documents, starts: Tokens) -> Numbers:
        """[scored tokens], the log probability of each token from position ``starts`` of its document on."""
        return continuation_log_probabilities(self.log_probabilities, documents, starts)

    @cached_property
    def _uniform(self) -> Numbers:
        """[V], the uniform distribution over possible tokens, the last one that is interpolated."""
        possible = np.ones(len(self.language.vocabulary))
        possible[[BEGIN, *self.language.vocabulary.structural_ids]] = 0.0
        uniform: Numbers = possible / possible.sum()
        return uniform

    @cached_property
    def _ngrams(self) -> list[_NGrams]:
        """The n-grams of every length, single tokens first."""
        size = len(self.language.vocabulary)
        grams, ends = [], [np.zeros(len(self.corpus.tokens), dtype=np.int64)]
        found = self.corpus.tokens
        for _ in range(self.options.order):
            grams.append(np.unique(found[found >= 0]))
            ends.append(_find(grams[-1], found))
            found = _extend(ends[-1], self.corpus, size)
        counts = [
            _context_counts(self.corpus, length, *ends[length : length + 2]) for length in range(1, len(grams))
        ]
        counts.append(np.bincount(ends[-1][ends[-1] >= 0], minlength=len(grams[-1])))
        histories = [1, *map(len, grams)]
        return [_discount(*one, size) for one in zip(grams, counts, histories, strict=False)]


@dataclass(frozen=True)
class _NGrams:
    """All n-grams of one length, n.

    The id of an n-gram is its index in ``grams``. The id of its history is its index among shorter n-grams.

    Attributes:
        grams: [n-grams], ascending: the id of the history times V, plus the last token.
        share: [n-grams], the discounted share of the n-gram among those with its history.
        rest: [histories], the mass of the discounts, which goes to the shorter history.
    """

    grams: Tokens
    share: Numbers
    rest: Numbers

    def interpolate(self, probability: Numbers, history: Tokens) -> None:
        """Interpolate each row [V], given the shorter history, with the shares after this history, if known."""
        size = probability.shape[1]
        rows = np.flatnonzero(history >= 0)
        probability[rows] *= self.rest[history[rows], None]
        first = np.searchsorted(self.grams, history[rows] * size)
        kinds = np.searchsorted(self.grams, (history[rows] + 1) * size) - first
        gram = np.arange(kinds.sum()) + np.repeat(first - np.cumsum(kinds) + kinds, kinds)
        probability[np.repeat(rows, kinds), self.grams[gram] % size] += self.share[gram]


def _discount(grams: Tokens, counts: Tokens, histories: int, size: int) -> _NGrams:
    """The shares of n-grams from their counts. ``<bos>`` is never predicted, so it is not counted."""
    counts = np.where(grams % size == BEGIN, 0, counts)
    once, twice = (int((counts == number).sum()) for number in (1, 2))
    discount: float = once / (once + 2 * twice) if once else _FALLBACK
    history = grams // size
    total = np.maximum(np.bincount(history, weights=counts, minlength=histories), discount)
    share: Numbers = np.maximum(counts - discount, 0.0) / total[history]
    kept = np.bincount(history, weights=share, minlength=histories)
    return _NGrams(grams, share, np.asarray(1.0 - kept, dtype=np.float64))


def _context_counts(corpus: Documents, length: int, ends: Tokens, longer: Tokens) -> Tokens:
    """[n-grams], the number of different tokens before each, plus its frequency at starts of documents.

    Args:
        corpus: The corpus.
        length: The length of the n-grams.
        ends: [tokens], the id of the n-gram that ends at each token, or -1.
        longer: [tokens], the id of the n-gram longer by one that ends at each token, or -1.
    """
    begun = np.flatnonzero(corpus.positions == length - 1)
    continued = np.flatnonzero(longer >= 0)
    different = continued[np.unique(longer[continued], return_index=True)[1]]
    return np.bincount(ends[np.concatenate([begun, different])])


def _extend(ends: Tokens, documents: Documents, size: int) -> Tokens:
    """[tokens], the n-gram longer by one that ends at each token, as a value of `_NGrams.grams`, or -1."""
    before = np.roll(ends, 1)
    before[documents.positions == 0] = -1
    return np.where(before >= 0, before * size + documents.tokens, -1)


def _find(grams: Tokens, wanted: Tokens) -> Tokens:
    """[wanted], the index of each in ``grams``, or -1."""
    if not grams.size:
        return np.full(len(wanted), -1)
    place = np.minimum(np.searchsorted(grams, wanted), len(grams) - 1)
    return np.where(grams[place] == wanted, place, -1)
