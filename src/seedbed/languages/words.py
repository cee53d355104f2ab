"""Exact figures about single words of a language: which go together, how often each comes, what decides one.

Like `exact`, they are sums over all sentences of the language, or over expected counts in its documents.
"""

from __future__ import annotations

import math

import numpy as np

from seedbed.documents import Tokens
from seedbed.languages.automaton import Flags, Language, Numbers
from seedbed.languages.exact import Sentences, antecedents
from seedbed.languages.windows import histories, next_token


def follows(language: Language, word: str) -> Numbers:
    """[V], the distribution of what stands after a word, wherever it stands (objectives 3.3).

    Raises:
        ValueError: the language has no such token, or no document holds it.
    """
    following: Numbers = next_token(language, np.array([[language.vocabulary.id(word)]]))[0]
    if not following.any():
        raise ValueError(f"nothing ever follows {word!r}")
    return following


def holding(sentences: Sentences, words: str) -> Flags:
    """[sentences], whether a sentence holds all of some words, which are separated by spaces.

    Raises:
        ValueError: the language has no such token.
    """
    texts, flags = sentences.texts, np.ones(len(sentences.texts), dtype=np.bool_)
    for word in sentences.language.encode(words):
        flags &= np.bincount(texts.owners, weights=texts.tokens == word) > 0
    return flags


def withheld_sentences(sentences: Sentences) -> Flags:
    """[sentences], whether training never shows a sentence (objectives 5.2)."""
    texts = sentences.texts
    return np.bincount(texts.owners, weights=sentences.language.withheld(texts)) > 0


def never_together(sentences: Sentences, words: str) -> bool:
    """Whether sentences of the language hold all of some words, and those of training never do (objectives 5.2).

    Raises:
        ValueError: the language has no such token.
    """
    held = holding(sentences, words)
    return bool(held.any() and withheld_sentences(sentences)[held].all())


def withheld_combinations(sentences: Sentences, slots: tuple[str, ...], given: str) -> float:
    """How many combinations of the slots' words make a sentence withheld, the mean over the words of ``given``.

    A withheld verb has one form for some subjects and another for others: with ``given`` the subject, both count
    once (objectives 5.2).

    Raises:
        ValueError: no state of the language expects one of the slots.
    """
    columns = [_last_of(sentences, slot) for slot in (given, *slots)]
    found = np.unique(np.column_stack(columns)[withheld_sentences(sentences)], axis=0)
    return len(found) / len(np.unique(columns[0]))


def slot_distribution(sentences: Sentences, slot: str) -> Numbers:
    """[words], the share of each word among all that stand in a slot, the largest first.

    Raises:
        ValueError: no state of the language expects this slot alone.
    """
    texts = sentences.texts
    found = sentences.language.expecting(texts, slot)
    weights = np.bincount(texts.tokens[found], weights=sentences.probability[texts.owners[found]])
    shares: Numbers = np.sort(weights[weights > 0] / weights.sum())[::-1]
    return shares


def zipf_exponent(shares: Numbers) -> float:
    """How steeply shares, the largest first, fall: minus the slope of their logarithm on that of their rank.

    Least squares over all ranks; Zipf's law in the strict sense has 1 (objectives 5.2).
    """
    ranks = np.log(np.arange(1, len(shares) + 1))
    return -float(np.polyfit(ranks, np.log(shares), 1)[0])


def agreement(sentences: Sentences, slot: str, antecedent: str, word: str, form: str) -> float:
    """The probability that a slot holds ``form``, given that ``word`` is the last one of the antecedent.

    Raises:
        ValueError: no state expects the slot or antecedent, the language has no such token, or the slot never
            stands behind this word.
    """
    language, texts = sentences.language, sentences.texts
    expected = language.expecting(texts, slot)
    behind = (_last_of(sentences, antecedent) == language.vocabulary.id(word))[texts.owners]
    weights = sentences.probability[texts.owners] * (expected & behind)
    if not weights.any():
        raise ValueError(f"no sentence has {word!r} as {antecedent} and a {slot}")
    return float(np.average(texts.tokens == language.vocabulary.id(form), weights=weights))


def known_within(sentences: Sentences, slot: str, antecedent: str, window: int) -> tuple[float, float]:
    """The mean probability of a slot's right word if only the last ``window`` tokens are seen (objectives 5.1).

    Returns:
        Where the antecedent's last word is inside the window, and where it is outside; NaN where it never is. No
        predictor that sees no more has a lower loss.

    Raises:
        ValueError: no state of the language expects the slot, or its antecedent, alone.
    """
    texts = sentences.texts
    places, distances = antecedents(sentences.language, texts, slot, antecedent)
    predicted = next_token(sentences.language, histories(texts, window)[places - 1])
    right = predicted[np.arange(len(places)), texts.tokens[places]]
    weights = sentences.probability[texts.owners[places]]
    inside, outside = (weights * (distances <= window), weights * (distances > window))
    return _average(right, inside), _average(right, outside)


def _average(values: Numbers, weights: Numbers) -> float:
    return float(np.average(values, weights=weights)) if weights.any() else math.nan


def _last_of(sentences: Sentences, slot: str) -> Tokens:
    """[sentences], the last token of each sentence that stands in the slot; -1 where none does."""
    texts = sentences.texts
    found = sentences.language.expecting(texts, slot)
    last = np.full(len(texts), -1)
    last[texts.owners[found]] = texts.tokens[found]
    return last
