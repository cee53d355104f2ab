"""Exact figures of a language: what a perfect model would score on the lectures' measurements.

They are sums over all sentences, each enumerated once, so the language must not be too large for that. Figures
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
        probability: [sentences], of each; they add up to 1.
    """

    language: Language
    texts: Documents
    probability: Numbers

    @cached_property
    def mean_length(self) -> float:
        """Tokens a sentence, the period included and ``<bos>`` not."""
        return float(self.probability @ (self.texts.lengths - 1))

    @cached_property
    def entropy(self) -> float:
        """Nats a sentence."""
        return float(-self.probability @ np.log(self.probability))


def all_sentences(language: Language, limit: int = 1_000_000) -> Sentences:
    """Enumerate the sentences of a language, word by word.

    Raises:
        ValueError: more than ``limit`` sentences, finished and begun ones together.
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
    """Nats a token of a further sentence, given all before it (objectives 6.4).

    The period is scored, and so is that the document goes on at all, which the first word tells.

    Raises:
        ValueError: no document has a second sentence.
    """
    if not sentences.language.another_sentence:
        raise ValueError("no document of this language has a second sentence")
    return (sentences.entropy - math.log(sentences.language.another_sentence)) / sentences.mean_length


def cloze_entropy(sentences: Sentences) -> float:
    """Mean nats of a word given all others of its document, one word drawn uniformly a sentence (objectives 6.4).

    Only words are drawn and only words are candidates, never the period. Sentences are independent, so the rest
    of the document tells nothing.
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


def share_beyond(sentences: Sentences, slot: str, antecedent: str, window: int) -> float:
    """Share of a slot's tokens whose antecedent's last word is more than ``window`` tokens back (objectives 5.1).

    Raises:
        ValueError: no state of the language expects the slot, or its antecedent, alone.
    """
    places, distances = antecedents(sentences.language, sentences.texts, slot, antecedent)
    weights = sentences.probability[sentences.texts.owners[places]]
    return float(np.average(distances > window, weights=weights))


def antecedents(language: Language, documents: Documents, slot: str, antecedent: str) -> tuple[Tokens, Tokens]:
    """Where a slot's tokens stand, and how far back the nearest antecedent is.

    Returns:
        [found], indices into ``documents.tokens``, and [found], the number of tokens back to the last word of the
        antecedent; where a document holds none before, to its first token.

    Raises:
        ValueError: no state of the language expects the slot, or its antecedent, alone.
    """
    places = np.flatnonzero(language.expecting(documents, slot))
    spoken = np.where(language.expecting(documents, antecedent), np.arange(len(documents.tokens)), 0)
    nearest = np.maximum.accumulate(spoken)[places]
    return places, places - np.maximum(nearest, documents.offsets[documents.owners[places]])


def visible_positions(sentences: Sentences, slot: str) -> float:
    """Mean number of positions that a causal model sees where it predicts a slot's token (objectives 5.4).

    ``<bos>``, all sentences before and the querying position itself count.

    Raises:
        ValueError: no state of the language expects this slot alone.
    """
    places, owners = _places(sentences, slot)
    again = sentences.language.another_sentence
    sentences_before = again / (1 - again)
    return (
        float(np.average(places, weights=sentences.probability[owners])) + sentences_before * sentences.mean_length
    )


def tokens_a_document(sentences: Sentences, slot: str) -> float:
    """Expected number of a slot's tokens in a document (objectives 5.1 counts the tail possessives).

    Raises:
        ValueError: no state of the language expects this slot alone.
    """
    owners = _places(sentences, slot)[1]
    return float(sentences.probability[owners].sum()) / (1 - sentences.language.another_sentence)


def withheld_share(sentences: Sentences) -> float:
    """Share of tokens, ``<bos>`` not counted, in sentences that training never shows (objectives 5.2)."""
    owners = sentences.texts.owners[sentences.language.withheld(sentences.texts)]
    ends_a_sentence = 1 - sentences.language.another_sentence
    return float(sentences.probability[owners].sum()) / (sentences.mean_length + ends_a_sentence)


def _places(sentences: Sentences, slot: str) -> tuple[Tokens, Tokens]:
    """Where a slot's tokens stand, ``<bos>`` being at 0, and in which sentences."""
    found = sentences.language.expecting(sentences.texts, slot)
    return sentences.texts.positions[found], sentences.texts.owners[found]
