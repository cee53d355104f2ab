"""Counting instead of training: an interpolated Kneser-Ney n-gram model (Chen and Goodman 1998, section 2.7).

The probability of a token after a history is its discounted share of the counts there, plus what the discounts
left over times its probability after the history without the first token. Shorter n-grams do not count how often
they occur but after how many different tokens (Kneser and Ney 1995); those that begin a document stand after
nothing and keep their counts. Each length has one discount, n1 / (n1 + 2 n2), from the numbers of n-grams that
count 1 and 2 (Ney, Essen and Kneser 1994). The modified form with three discounts does not suit so small a
vocabulary: its formulas give some below 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from seedbed.decoding.following import Following, predicted
from seedbed.documents import Documents, Tokens
from seedbed.languages.automaton import Language
from seedbed.languages.vocabulary import BEGIN
from seedbed.references.continuing import continued
from seedbed.references.material import require_language

Numbers = NDArray[np.float64]

#: Where the formula gives no discount above 0, as in a tiny corpus: a half, so that nothing unseen gets 0.
_FALLBACK = 0.5
#: Each length costs a pass over the corpus, and no sentence is so long.
_LONGEST = 100


OFFERS = ("log_probabilities", "continuation", "beginning")


@dataclass(frozen=True)
class Options:
    """A reference run has no seed, so one corpus stands for all: that of ``corpus_seed``."""

    order: int = 5  # tokens of the longest n-gram: the predictor sees one less
    corpus_seed: int = 0  # whose training corpus is counted

    def __post_init__(self) -> None:
        if not 1 <= self.order <= _LONGEST:
            raise ValueError(f"order {self.order}: expected 1 to {_LONGEST}")
        if self.corpus_seed < 0:
            raise ValueError(f"corpus_seed {self.corpus_seed}: expected a seed, 0 or above")


@dataclass(frozen=True)
class Reference:
    """The n-gram model of a training corpus.

    Raises:
        ValueError: there is no language but a task, in whose vocabulary the id of ``<bos>`` is a word's.
    """

    options: Options
    language: Language
    corpus: Documents

    def __post_init__(self) -> None:
        require_language("ngram", self.language)

    def log_probabilities(self, documents: Documents) -> Numbers:
        """[tokens, vocabulary] in nats; minus infinity for ``<bos>`` and structural tokens, which never come."""
        probability = np.tile(self._even, (len(documents.tokens), 1))
        history, grams = np.zeros(len(documents.tokens), dtype=np.int64), documents.tokens
        for counted in self._counted:
            counted.refine(probability, history)
            history = _find(counted.grams, grams)
            grams = _longer(history, documents, len(self._even))
        with np.errstate(divide="ignore"):
            return np.log(probability)

    def beginning(self, documents: int) -> tuple[list[int], Following]:
        """So many documents from ``<bos>`` on."""
        return [BEGIN], predicted(self.log_probabilities)

    def continuation(self, documents: Documents, starts: Tokens) -> Numbers:
        """[scored tokens], the log probability of each token from the place ``starts`` of its document on."""
        return continued(self.log_probabilities, documents, starts)

    @cached_property
    def _even(self) -> Numbers:
        """[V], the same for every token that can come: what is interpolated with the counts of single tokens."""
        possible = np.ones(len(self.language.vocabulary))
        possible[[BEGIN, *self.language.vocabulary.structural_ids]] = 0.0
        even: Numbers = possible / possible.sum()
        return even

    @cached_property
    def _counted(self) -> list[_Counted]:
        """The n-grams of every length, single tokens first."""
        size = len(self.language.vocabulary)
        grams, ends = [], [np.zeros(len(self.corpus.tokens), dtype=np.int64)]
        found = self.corpus.tokens
        for _ in range(self.options.order):
            grams.append(np.unique(found[found >= 0]))
            ends.append(_find(grams[-1], found))
            found = _longer(ends[-1], self.corpus, size)
        counts = [_contexts(self.corpus, length, *ends[length : length + 2]) for length in range(1, len(grams))]
        counts.append(np.bincount(ends[-1][ends[-1] >= 0], minlength=len(grams[-1])))
        histories = [1, *map(len, grams)]
        return [_discounted(*one, size) for one in zip(grams, counts, histories, strict=False)]


@dataclass(frozen=True)
class _Counted:
    """All n-grams of one length, n.

    An n-gram is a number, its index in ``grams``; so is a history, by its index among those of length n - 1.

    Attributes:
        grams: [n-grams], ascending, the number of the history times V plus the last token.
        share: [n-grams], the discounted share of the n-gram among those with its history.
        rest: [histories], what the discounts left over for the shorter history.
    """

    grams: Tokens
    share: Numbers
    rest: Numbers

    def refine(self, probability: Numbers, history: Tokens) -> None:
        """Mix into each row [V], that after the shorter history, what this history tells, where it is known."""
        size = probability.shape[1]
        rows = np.flatnonzero(history >= 0)
        probability[rows] *= self.rest[history[rows], None]
        first = np.searchsorted(self.grams, history[rows] * size)
        kinds = np.searchsorted(self.grams, (history[rows] + 1) * size) - first
        gram = np.arange(kinds.sum()) + np.repeat(first - np.cumsum(kinds) + kinds, kinds)
        probability[np.repeat(rows, kinds), self.grams[gram] % size] += self.share[gram]


def _discounted(grams: Tokens, counts: Tokens, histories: int, size: int) -> _Counted:
    """From counts, or numbers of contexts, to shares; ``<bos>`` is never predicted, so it is not counted."""
    counts = np.where(grams % size == BEGIN, 0, counts)
    once, twice = (int((counts == number).sum()) for number in (1, 2))
    discount: float = once / (once + 2 * twice) if once else _FALLBACK
    history = grams // size
    total = np.maximum(np.bincount(history, weights=counts, minlength=histories), discount)
    share: Numbers = np.maximum(counts - discount, 0.0) / total[history]
    taken = np.bincount(history, weights=share, minlength=histories)
    return _Counted(grams, share, np.asarray(1.0 - taken, dtype=np.float64))


def _contexts(corpus: Documents, length: int, ends: Tokens, longer: Tokens) -> Tokens:
    """[n-grams], after how many different tokens each stands; one that begins documents, how often.

    Args:
        corpus: The corpus.
        length: Of the n-grams.
        ends: [tokens], the number of the n-gram that ends at each token, -1 where there is none.
        longer: The same for n-grams that are longer by one.
    """
    begun = np.flatnonzero(corpus.positions == length - 1)
    continued = np.flatnonzero(longer >= 0)
    different = continued[np.unique(longer[continued], return_index=True)[1]]
    return np.bincount(ends[np.concatenate([begun, different])])


def _longer(ends: Tokens, documents: Documents, size: int) -> Tokens:
    """[tokens], the n-gram longer by one that ends at each token, numbered as in `_Counted.grams`, or -1."""
    before = np.roll(ends, 1)
    before[documents.positions == 0] = -1
    return np.where(before >= 0, before * size + documents.tokens, -1)


def _find(grams: Tokens, wanted: Tokens) -> Tokens:
    """[wanted], the index of each in ``grams``; -1 where it is not among them."""
    if not grams.size:
        return np.full(len(wanted), -1)
    place = np.minimum(np.searchsorted(grams, wanted), len(grams) - 1)
    return np.where(grams[place] == wanted, place, -1)
