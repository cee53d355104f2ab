"""Exact quantities of a language: the scores of a perfect model on the lectures' measurements.

They are sums over all sentences, which are enumerated, so the language must be small enough for that. Quantities
that need no sentences, such as the entropy rate, belong to `automaton.Language`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from seedbed.documents import Documents, Tokens
from seedbed.languages.automaton import FIRST, Language, Numbers
from seedbed.languages.vocabulary import BEGIN, PERIOD


@dataclass(frozen=True, eq=False)
class Sentences:
    """All sentences of a language.

    Attributes:
        language: The language.
        texts: Every sentence once, each as a document ``<bos> sentence .``, shorter ones first.
        probability: [sentences]; they add up to 1.
    """

    language: Language
    texts: Documents
    probability: Numbers

    @cached_property
    def mean_length(self) -> float:
        """The mean number of tokens in a sentence, with the period and without ``<bos>``."""
        return float(self.probability @ (self.texts.lengths - 1))

    @cached_property
    def entropy(self) -> float:
        """The entropy of a sentence, in nats."""
        return float(-self.probability @ np.log(self.probability))


def all_sentences(language: Language, limit: int = 1_000_000) -> Sentences:
    """Enumerate the sentences of a language, word by word.

    Raises:
        ValueError: there are more than ``limit`` sentences, unfinished ones included.
    """
    begun = np.array([[BEGIN]])
    states, probability = np.array([FIRST]), np.array([1.0])
    texts, probabilities, count = [], [], 0
    while len(begun):
        parent, token = np.nonzero(language.probability[states])
        begun = np.column_stack([begun[parent], token])
        probability = probability[parent] * language.probability[states[parent], token]
        states = language.next_state[states[parent], token]
        closed = token == PERIOD
        texts.append(begun[closed])
        probabilities.append(probability[closed])
        count += int(closed.sum())
        if count + len(begun) > limit:
            raise ValueError(f"the language has more than {limit} sentences")
        begun, states, probability = begun[~closed], states[~closed], probability[~closed]
    lengths = np.concatenate([np.full(len(matrix), matrix.shape[1]) for matrix in texts])
    flat = np.concatenate([matrix.ravel() for matrix in texts])
    return Sentences(language, Documents(flat, np.append(0, np.cumsum(lengths))), np.concatenate(probabilities))


def continuation_entropy(sentences: Sentences) -> float:
    """Nats per token of a further sentence, given all before it (objectives 6.4).

    The period is scored. So is the choice to begin a further sentence, which is part of its first word.

    Raises:
        ValueError: no document has a second sentence.
    """
    if not sentences.language.another_sentence:
        raise ValueError("no document of this language has a second sentence")
    return (sentences.entropy - math.log(sentences.language.another_sentence)) / sentences.mean_length


def cloze_entropy(sentences: Sentences) -> float:
    """Mean nats of a word given all others of its document (objectives 6.4).

    One word of each sentence is asked for, each with equal probability, and never the period. Sentences are
    independent, so the rest of the document does not matter.
    """
    total, lengths = 0.0, sentences.texts.lengths
    for length in np.unique(lengths):
        of_length = np.flatnonzero(lengths == length)
        tokens = sentences.texts.take(of_length).tokens.reshape(-1, length)
        probability = sentences.probability[of_length]
        for place in range(1, length - 1):
            rivals = np.unique(np.delete(tokens, place, axis=1), axis=0, return_inverse=True)[1]
            posterior = probability / np.bincount(rivals, weights=probability)[rivals]
            total -= float(probability @ np.log(posterior)) / (length - 2)
    return total


def share_beyond_window(sentences: Sentences, slot: str, antecedent: str, window: int) -> float:
    """The share of a slot's tokens whose antecedent ends more than ``window`` tokens back (objectives 5.1).

    Raises:
        ValueError: no state of the language expects the slot, or its antecedent, alone.
    """
    places, distances = antecedent_distances(sentences.language, sentences.texts, slot, antecedent)
    weights = sentences.probability[sentences.texts.owners[places]]
    return float(np.average(distances > window, weights=weights))


def antecedent_distances(
    language: Language, documents: Documents, slot: str, antecedent: str
) -> tuple[Tokens, Tokens]:
    """The indices of a slot's tokens, and the distance of each to its nearest antecedent.

    Returns:
        [found], indices into ``documents.tokens``, and [found], the number of tokens back to the last word of the
        antecedent. If the document has no antecedent before the token, it is the distance to its first token.

    Raises:
        ValueError: no state of the language expects the slot, or its antecedent, alone.
    """
    places = np.flatnonzero(language.in_slot(documents, slot))
    spoken = np.where(language.in_slot(documents, antecedent), np.arange(len(documents.tokens)), 0)
    nearest = np.maximum.accumulate(spoken)[places]
    return places, places - np.maximum(nearest, documents.offsets[documents.owners[places]])


def visible_positions(sentences: Sentences, slot: str) -> float:
    """The mean number of positions that a causal model sees when it predicts a slot's token (objectives 5.4).

    ``<bos>``, all earlier sentences and the querying position itself are counted.

    Raises:
        ValueError: no state of the language expects this slot alone.
    """
    positions, owners = _positions(sentences, slot)
    again = sentences.language.another_sentence
    sentences_before = again / (1 - again)
    return (
        float(np.average(positions, weights=sentences.probability[owners]))
        + sentences_before * sentences.mean_length
    )


def tokens_per_document(sentences: Sentences, slot: str) -> float:
    """The expected number of a slot's tokens in a document (objectives 5.1 counts the tail possessives).

    Raises:
        ValueError: no state of the language expects this slot alone.
    """
    owners = _positions(sentences, slot)[1]
    return float(sentences.probability[owners].sum()) / (1 - sentences.language.another_sentence)


def withheld_share(sentences: Sentences) -> float:
    """The share of tokens, without ``<bos>``, in sentences that are withheld from training (objectives 5.2)."""
    owners = sentences.texts.owners[sentences.language.withheld_tokens(sentences.texts)]
    ends_a_sentence = 1 - sentences.language.another_sentence
    return float(sentences.probability[owners].sum()) / (sentences.mean_length + ends_a_sentence)


def _positions(sentences: Sentences, slot: str) -> tuple[Tokens, Tokens]:
    """The positions of a slot's tokens, with ``<bos>`` at 0, and the indices of their sentences, both [found]."""
    found = sentences.language.in_slot(sentences.texts, slot)
    return sentences.texts.positions[found], sentences.texts.owners[found]
