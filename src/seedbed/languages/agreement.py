"""Sentences that test whether a verb agrees with its subject across other nouns, the attractors (recurrence 6.2).

A sentence begins with a determiner and the subject. Each attractor adds a preposition, a determiner and a noun.
The verb comes next. A prefix with more attractors than the language allows is impossible in the language.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from seedbed.documents import Documents, Tokens
from seedbed.languages.automaton import Language, Numbers
from seedbed.languages.vocabulary import BEGIN, Vocabulary
from seedbed.randomness import stream

#: All attractors have the opposite number of the subject, or each has a random one.
Attractors = Literal["opposite", "mixed"]
#: Grammatical numbers, and the columns of word pairs.
SINGULAR, PLURAL = 0, 1


@dataclass(frozen=True, eq=False)
class AgreementWords:
    """The words of such sentences, with their weights in the language.

    Attributes:
        determiner: The one token that begins a sentence.
        nouns: [nouns, 2], ids of singular and plural.
        prepositions: [prepositions], ids.
        verbs: [verbs, 2], ids of singular and plural.
        noun_weights: [nouns]; they add up to 1.
        preposition_weights: [prepositions]; they add up to 1.
        verb_weights: [verbs]; they add up to 1.
    """

    determiner: int
    nouns: Tokens
    prepositions: Tokens
    verbs: Tokens
    noun_weights: Numbers
    preposition_weights: Numbers
    verb_weights: Numbers


@dataclass(frozen=True, eq=False)
class SentencePrefixes:
    """Sentences up to the verb, in pairs that differ in the number of the subject.

    Attributes:
        documents: The prefixes, each from ``<s>`` on, all of one length. Each pair is adjacent, singular first.
        numbers: [documents, 1 + attractors], the number of the subject and of each attractor.
        right: [documents], the form of the verb that agrees with the subject.
        wrong: [documents], the other form of the same verb.
    """

    documents: Documents
    numbers: Tokens
    right: Tokens
    wrong: Tokens

    @property
    def pairs(self) -> Tokens:
        """[documents], the index of each document's pair."""
        return np.arange(len(self.documents)) // 2


def agreement_words(language: Language) -> AgreementWords:
    """The words of a language whose sentences begin in this way.

    Nouns are what follows the one determiner. A preposition follows nouns of both numbers; a form of a verb
    follows nouns of one number only. Singular and plural differ by an ``s``.

    Raises:
        ValueError: the sentences of the language do not begin in this way.
    """
    vocabulary = language.vocabulary
    first = np.flatnonzero(language.next_token([BEGIN]))
    if len(first) != 1:
        raise ValueError(
            f"agreement needs sentences that begin with one determiner, not {vocabulary.decode(first)}"
        )
    determined = language.next_token([BEGIN, first[0]])
    nouns = _singular_and_plural(vocabulary, np.flatnonzero(determined))
    one, many = (language.next_token([BEGIN, first[0], noun]) for noun in nouns[0])
    prepositions = np.flatnonzero((one > 0) & (many > 0))
    verbs = _singular_and_plural(vocabulary, np.flatnonzero((one > 0) != (many > 0)))[:, ::-1]
    return AgreementWords(
        determiner=int(first[0]),
        nouns=nouns,
        prepositions=prepositions,
        verbs=verbs,
        noun_weights=_normalise(determined[nouns].sum(axis=1)),
        preposition_weights=_normalise(one[prepositions]),
        verb_weights=_normalise(one[verbs[:, SINGULAR]]),
    )


def sentence_prefixes(language: Language, attractors: int, numbers: Attractors, pairs: int) -> SentencePrefixes:
    """Draw prefixes in pairs; every call with the same arguments gives the same ones.

    Subject, attractors, prepositions and verb have the probabilities of the language. The two prefixes of a pair
    differ in the number of the subject, and with ``opposite`` attractors also in the number of these.

    Args:
        language: The language.
        attractors: The number of attractors.
        numbers: Which numbers the attractors have.
        pairs: The number of pairs.
    """
    known = agreement_words(language)
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
    return SentencePrefixes(
        _texts(known.determiner, text, np.repeat(prepositions, 2, axis=0)),
        chosen,
        right=either[each, subject],
        wrong=either[each, 1 - subject],
    )


def position_groups(attractors: int) -> dict[str, list[int]]:
    """Group -> its positions in a prefix; ``<s>`` is at 0.

    The verb is predicted at the last noun, which is the group ``last attractor``. The group ``attractors`` holds
    the other attractors.

    Raises:
        ValueError: there is no attractor, so the subject would be the last noun.
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


def _singular_and_plural(vocabulary: Vocabulary, candidates: Tokens) -> Tokens:
    """[pairs, 2], the ids of each word without and with an ``s``."""
    known = {vocabulary.tokens[index]: int(index) for index in candidates}
    found = [(index, known[f"{word}s"]) for word, index in known.items() if f"{word}s" in known]
    if not found or 2 * len(found) != len(known):
        raise ValueError(f"agreement needs words of two numbers that differ by an s, not {', '.join(known)}")
    return np.array(found)


def _normalise(weights: Numbers) -> Numbers:
    return np.asarray(weights / weights.sum(), dtype=np.float64)
