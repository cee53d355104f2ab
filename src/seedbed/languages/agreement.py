"""Sentences that test whether a verb agrees with its subject, however many nouns stand between (recurrence 6.2).

A sentence begins with a determiner and the subject; each attractor adds a preposition, a determiner and a noun;
then the verb has to come. With more attractors than the language ever has, such a beginning is impossible in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from seedbed.documents import Documents, Tokens
from seedbed.languages.automaton import Language, Numbers
from seedbed.languages.vocabulary import BEGIN, Vocabulary
from seedbed.randomness import stream

#: Attractors all of the other number than the subject's, or each of a random one.
Attractors = Literal["opposite", "mixed"]
#: Columns of word pairs, and the numbers of nouns.
SINGULAR, PLURAL = 0, 1


@dataclass(frozen=True, eq=False)
class Words:
    """The words that such sentences are made of, with their weights in the language.

    Attributes:
        determiner: The one token that begins a sentence.
        nouns: [nouns, 2], ids of singular and plural.
        prepositions: [prepositions].
        verbs: [verbs, 2], ids of singular and plural.
        noun_weights: [nouns], adding up to 1, as do the others.
        preposition_weights: [prepositions].
        verb_weights: [verbs].
    """

    determiner: int
    nouns: Tokens
    prepositions: Tokens
    verbs: Tokens
    noun_weights: Numbers
    preposition_weights: Numbers
    verb_weights: Numbers


@dataclass(frozen=True, eq=False)
class Beginnings:
    """Sentences up to the verb, in pairs that differ in the number of the subject.

    Attributes:
        documents: ``<s>`` and the beginning, all of one length; those of a pair side by side, singular first.
        numbers: [documents, 1 + attractors], of the subject and of the attractors.
        right: [documents], the form of the verb that agrees with the subject.
        wrong: [documents], the other form of the same verb.
    """

    documents: Documents
    numbers: Tokens
    right: Tokens
    wrong: Tokens

    @property
    def pairs(self) -> Tokens:
        """[documents], the pair of each."""
        return np.arange(len(self.documents)) // 2


def words(language: Language) -> Words:
    """The words of a language whose sentences begin so.

    Nouns follow the one determiner; prepositions follow nouns of both numbers, a verb's form those of one. An
    ``s`` makes the difference between the numbers.

    Raises:
        ValueError: the language's sentences do not begin so.
    """
    vocabulary = language.vocabulary
    first = np.flatnonzero(language.next_token([BEGIN]))
    if len(first) != 1:
        raise ValueError(
            f"agreement needs sentences that begin with one determiner, not {vocabulary.decode(first)}"
        )
    determined = language.next_token([BEGIN, first[0]])
    nouns = _numbered(vocabulary, np.flatnonzero(determined))
    one, many = (language.next_token([BEGIN, first[0], noun]) for noun in nouns[0])
    prepositions = np.flatnonzero((one > 0) & (many > 0))
    verbs = _numbered(vocabulary, np.flatnonzero((one > 0) != (many > 0)))[:, ::-1]
    return Words(
        determiner=int(first[0]),
        nouns=nouns,
        prepositions=prepositions,
        verbs=verbs,
        noun_weights=_normalised(determined[nouns].sum(axis=1)),
        preposition_weights=_normalised(one[prepositions]),
        verb_weights=_normalised(one[verbs[:, SINGULAR]]),
    )


def beginnings(language: Language, attractors: int, numbers: Attractors, pairs: int) -> Beginnings:
    """So many pairs with so many attractors, the same at every call.

    Subject, attractors, prepositions and verb are drawn as the language draws them. A pair shares all but the
    number of the subject and, where they are opposite to it, of the attractors.
    """
    known = words(language)
    rng = stream(0, f"agreement with {attractors} {numbers} attractors")
    nouns = rng.choice(len(known.nouns), (pairs, 1 + attractors), p=known.noun_weights)
    prepositions = rng.choice(known.prepositions, (pairs, attractors), p=known.preposition_weights)
    verbs = known.verbs[rng.choice(len(known.verbs), pairs, p=known.verb_weights)]
    mixed = rng.integers(SINGULAR, PLURAL + 1, (pairs, attractors))
    subject = np.tile([SINGULAR, PLURAL], pairs)
    others = 1 - subject[:, None] if numbers == "opposite" else np.repeat(mixed, 2, axis=0)
    chosen = np.column_stack([subject, np.broadcast_to(others, (2 * pairs, attractors))])
    text = known.nouns[np.repeat(nouns, 2, axis=0), chosen]
    either = np.repeat(verbs, 2, axis=0)
    each = np.arange(2 * pairs)
    return Beginnings(
        _texts(known.determiner, text, np.repeat(prepositions, 2, axis=0)),
        chosen,
        right=either[each, subject],
        wrong=either[each, 1 - subject],
    )


def places(attractors: int) -> dict[str, list[int]]:
    """The groups of positions in a beginning, ``<s>`` at 0; the last noun is where the verb is predicted.

    It is the group ``last attractor``; ``attractors`` are the others.

    Raises:
        ValueError: no attractor, so that the subject is the last noun.
    """
    if attractors < 1:
        raise ValueError(f"attractors: {attractors}, expected at least 1")
    nouns = [2 + 3 * index for index in range(1 + attractors)]
    return {
        "start": [0],
        "determiners": [noun - 1 for noun in nouns],
        "subject": nouns[:1],
        "prepositions": [noun - 2 for noun in nouns[1:]],
        "attractors": nouns[1:-1],
        "last attractor": nouns[-1:],
    }


def _texts(determiner: int, nouns: Tokens, prepositions: Tokens) -> Documents:
    count, length = len(nouns), 3 * nouns.shape[1]
    tokens = np.full((count, length), determiner)
    tokens[:, 0] = BEGIN
    tokens[:, 2::3] = nouns
    tokens[:, 3::3] = prepositions
    return Documents(tokens.ravel(), np.arange(count + 1) * length)


def _numbered(vocabulary: Vocabulary, candidates: Tokens) -> Tokens:
    """[pairs, 2], the ids of words without and with an ``s``."""
    known = {vocabulary.tokens[index]: int(index) for index in candidates}
    found = [(index, known[f"{word}s"]) for word, index in known.items() if f"{word}s" in known]
    if not found or 2 * len(found) != len(known):
        raise ValueError(f"agreement needs words of two numbers that differ by an s, not {', '.join(known)}")
    return np.array(found)


def _normalised(weights: Numbers) -> Numbers:
    return np.asarray(weights / weights.sum(), dtype=np.float64)
