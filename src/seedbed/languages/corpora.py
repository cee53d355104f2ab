"""The documents of a study's splits, each from its own stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from seedbed.documents import Documents
from seedbed.languages.compilation import read_language
from seedbed.randomness import stream


@dataclass(frozen=True)
class Corpus:
    """Everything that decides the documents of one split.

    Attributes:
        grammar: The parsed grammar file.
        documents: How many.
        split: ``training``, ``validation`` or ``test``.
        study: The name of the study.
        seed: The seed of a training corpus; None for the other splits, which all seeds share.
    """

    grammar: Mapping[str, object]
    documents: int
    split: str
    study: str
    seed: int | None


def draw(corpus: Corpus) -> Documents:
    """Draw the documents.

    A training corpus holds no withheld combination and belongs to its seed. Validation and test are drawn from
    the full language, from streams of the study, and are the same for all seeds.
    """
    language = read_language(corpus.grammar, "grammar")
    if corpus.seed is None:
        return language.sample(stream(0, f"{corpus.split} documents of {corpus.study}"), corpus.documents)
    return language.training().sample(stream(corpus.seed, f"{corpus.split} documents"), corpus.documents)
