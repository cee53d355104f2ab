"""What is exactly true of a language with agreement, as observations, so that claims and the page can ask for it.

Nothing is predicted or sampled here: the run that the rows stand under, best the language itself, is not asked.
Positions count from 1, as the lecture counts them (recurrence 6.2, 6.3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seedbed.evaluations.context import Context, Predictor
from seedbed.languages.agreement import sentence_prefixes
from seedbed.languages.automaton import Language
from seedbed.languages.lengths import length_distribution
from seedbed.observations import Observation

_SUBJECT = 3


@dataclass(frozen=True)
class Options:
    """The sentences whose positions are told."""

    most_attractors: int = 8  # none, one, and so on up to these

    def __post_init__(self) -> None:
        """Check the range.

        Raises:
            ValueError: fewer attractors than none.
        """
        if self.most_attractors < 0:
            raise ValueError(f"most_attractors {self.most_attractors}: expected at least 0")


def evaluate(model: Predictor, context: Context, options: Options) -> Iterator[Observation]:
    """Sizes, entropy and lengths of the language, and where in its sentences agreement is asked for.

    ``query_position`` is that of the noun after which the verb is predicted, ``subject_distance`` how far the
    verb's own position is from the subject's. ``longest_input`` leaves out the last token, which is never read.
    ``longest_share`` is the probability of such a document.
    """
    language = context.language
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
    """How many nouns can separate a verb from its subject."""
    attractors = 0
    while _possible(language, attractors + 1):
        attractors += 1
    return attractors


def _possible(language: Language, attractors: int) -> bool:
    documents = sentence_prefixes(language, attractors, "opposite", 1).documents
    return bool(np.all(language.states(documents) != language.dead))
