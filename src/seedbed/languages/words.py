"""Exact quantities of single words of a language: co-occurrence, frequency and agreement.

Like those of `exact`, they are sums over all sentences of the language, or ratios of expected counts in documents.
"""

from __future__ import annotations

import math

import numpy as np

from seedbed.documents import Tokens
from seedbed.languages.automaton import Flags, Language, Numbers
from seedbed.languages.exact import Sentences, antecedent_distances
from seedbed.languages.windows import histories, next_token_distributions


def distribution_after(language: Language, word: str) -> Numbers:
    """[V], the distribution of the token after a word, averaged over all its occurrences (objectives 3.3).

    Raises:
        ValueError: the language has no such token, or nothing ever follows it.
    """
    following: Numbers = next_token_distributions(language, np.array([[language.vocabulary.id(word)]]))[0]
    if not following.any():
        raise ValueError(f"nothing ever follows {word!r}")
    return following


def _contain_all(sentences: Sentences, words: str) -> Flags:
    """[sentences], whether a sentence contains all of some words, which are separated by spaces."""
    texts, flags = sentences.texts, np.ones(len(sentences.texts), dtype=np.bool_)
    for word in sentences.language.encode(words):
        flags &= np.bincount(texts.owners, weights=texts.tokens == word) > 0
    return flags


def withheld_sentences(sentences: Sentences) -> Flags:
    """[sentences], whether a sentence is withheld from training (objectives 5.2)."""
    texts = sentences.texts
    return np.bincount(texts.owners, weights=sentences.language.withheld_tokens(texts)) > 0


def never_together_in_training(sentences: Sentences, words: str) -> bool:
    """Whether some words occur together in sentences of the language, but never in training (objectives 5.2).

    Raises:
        ValueError: the language has no such token.
    """
    held = _contain_all(sentences, words)
    return bool(held.any() and withheld_sentences(sentences)[held].all())


def withheld_combination_count(sentences: Sentences, slots: tuple[str, ...], given: str) -> float:
    """The number of combinations of the slots' words that are withheld, as a mean over the words of ``given``.

    A verb has one form for some subjects and another form for others. If ``given`` is the subject, both forms
    together count once (objectives 5.2).

    Raises:
        ValueError: no state of the language expects one of the slots.
    """
    columns = [_last_of(sentences, slot) for slot in (given, *slots)]
    found = np.unique(np.column_stack(columns)[withheld_sentences(sentences)], axis=0)
    return len(found) / len(np.unique(columns[0]))


def slot_distribution(sentences: Sentences, slot: str) -> Numbers:
    """[words], the share of each word among all words of a slot, the largest first.

    Raises:
        ValueError: no state of the language expects this slot alone.
    """
    texts = sentences.texts
    found = sentences.language.in_slot(texts, slot)
    weights = np.bincount(texts.tokens[found], weights=sentences.probability[texts.owners[found]])
    shares: Numbers = np.sort(weights[weights > 0] / weights.sum())[::-1]
    return shares


def zipf_exponent(shares: Numbers) -> float:
    """Minus the slope of the logarithm of shares, the largest first, over the logarithm of their rank.

    It is fitted by least squares over all ranks. Zipf's law in the strict sense has 1 (objectives 5.2).
    """
    ranks = np.log(np.arange(1, len(shares) + 1))
    return -float(np.polyfit(ranks, np.log(shares), 1)[0])


def agreement_probability(sentences: Sentences, slot: str, antecedent: str, word: str, form: str) -> float:
    """The probability that a slot's word is ``form``, given that ``word`` is the last word of the antecedent.

    Raises:
        ValueError: no state expects the slot or antecedent, the language has no such token, or no sentence has
            both this antecedent and the slot.
    """
    language, texts = sentences.language, sentences.texts
    in_slot = language.in_slot(texts, slot)
    has_word = (_last_of(sentences, antecedent) == language.vocabulary.id(word))[texts.owners]
    weights = sentences.probability[texts.owners] * (in_slot & has_word)
    if not weights.any():
        raise ValueError(f"no sentence has {word!r} as {antecedent} and a {slot}")
    return float(np.average(texts.tokens == language.vocabulary.id(form), weights=weights))


def window_probability(sentences: Sentences, slot: str, antecedent: str, window: int) -> tuple[float, float]:
    """The mean probability of a slot's right word, given only the last ``window`` tokens (objectives 5.1).

    No predictor that sees only these tokens has a lower loss.

    Returns:
        The mean over tokens whose antecedent's last word is inside the window, and the mean over the others; NaN
        if there are none.

    Raises:
        ValueError: no state of the language expects the slot, or its antecedent, alone.
    """
    texts = sentences.texts
    places, distances = antecedent_distances(sentences.language, texts, slot, antecedent)
    predicted = next_token_distributions(sentences.language, histories(texts, window)[places - 1])
    right = predicted[np.arange(len(places)), texts.tokens[places]]
    weights = sentences.probability[texts.owners[places]]
    inside, outside = (weights * (distances <= window), weights * (distances > window))
    return _average(right, inside), _average(right, outside)


def _average(values: Numbers, weights: Numbers) -> float:
    return float(np.average(values, weights=weights)) if weights.any() else math.nan


def _last_of(sentences: Sentences, slot: str) -> Tokens:
    """[sentences], the last token of each sentence that is in the slot; -1 if there is none."""
    texts = sentences.texts
    found = sentences.language.in_slot(texts, slot)
    last = np.full(len(texts), -1)
    last[texts.owners[found]] = texts.tokens[found]
    return last
