"""What is exactly true of a language in which a verb agrees with its subject over nouns between them.

Positions count from 1, as the lecture counts them (recurrence 6.2, 6.3). Nothing is predicted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seedbed.languages.agreement import sentence_prefixes
from seedbed.languages.automaton import Language
from seedbed.languages.lengths import length_distribution
from seedbed.observations import Observation

NEEDS = ("language",)

#: The position of the subject, behind the first token and the determiner, as in `languages.agreement`.
_SUBJECT = 3


@dataclass(frozen=True)
class Options:
    """Which sentences are asked about."""

    most_attractors: int = 8  # sentences with 0, 1, and so on up to this number of nouns between subject and verb

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a number of attractors below 0.
        """
        if self.most_attractors < 0:
            raise ValueError(f"most_attractors {self.most_attractors}: expected at least 0")


def demonstrate(options: Options, *, language: Language) -> Iterator[Observation]:
    """Sizes, perplexity and lengths of the language, and where its sentences ask for agreement.

    ``query_position`` is the position of the noun after which the verb is predicted. ``subject_distance`` is the
    number of tokens from the subject to the verb. ``longest_input`` leaves out the last token, which no model
    reads; ``longest_share`` is the probability of a document of that length. ``most_attractors`` is how many nouns
    can separate a verb from its subject.
    """
    lengths = length_distribution(language)
    yield Observation("vocabulary", len(language.vocabulary), unit="count")
    yield Observation("language_perplexity", language.perplexity(), unit="perplexity")
    yield Observation("expected_length", language.expected_length(), unit="token")
    yield Observation("longest_input", len(lengths) - 2, unit="token")
    yield Observation("longest_share", lengths[-1], unit="share")
    yield Observation("most_attractors", _most_attractors(language), unit="count")
    for attractors in range(options.most_attractors + 1):
        query = int(sentence_prefixes(language, attractors, "opposite", 1).documents.lengths[0])
        condition = {"attractors": attractors}
        yield Observation("query_position", query, condition, "position")
        yield Observation("subject_distance", query + 1 - _SUBJECT, condition, "token")


def _most_attractors(language: Language) -> int:
    attractors = 0
    while _possible(language, attractors + 1):
        attractors += 1
    return attractors


def _possible(language: Language, attractors: int) -> bool:
    documents = sentence_prefixes(language, attractors, "opposite", 1).documents
    return bool(np.all(language.states(documents) != language.dead))
