"""What a predictor expects after given beginnings of a document (objectives 0.1, 5.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seedbed.documents import Documents
from seedbed.languages.vocabulary import BEGIN
from seedbed.measuring.context import Context, Predictor
from seedbed.observations import Observation

NEEDS = ("log_probabilities",)
SOURCE = "language"


@dataclass(frozen=True)
class Options:
    """The beginnings, without ``<bos>``, and which tokens are shown."""

    prompts: tuple[str, ...]
    slot: str  # the words of this slot are always shown
    least: float = 0.001  # other tokens are shown if the language or the predictor gives them more than this

    def __post_init__(self) -> None:
        if not 0 <= self.least <= 1:
            raise ValueError(f"least {self.least}: expected a probability, 0 to 1")


def evaluate(model: Predictor, context: Context, options: Options) -> Iterator[Observation]:
    """``next_probability`` by prompt and token.

    Raises:
        ValueError: no document of the language begins with a prompt, or none has the slot.
    """
    language = context.language
    if not options.prompts:
        return
    documents = Documents.of([[BEGIN, *language.encode(prompt)] for prompt in options.prompts])
    predicted = np.exp(model.log_probabilities(documents)[documents.offsets[1:] - 1])
    for prompt, document, row in zip(options.prompts, documents, predicted, strict=True):
        shown = np.maximum(language.next_token(document), row) > options.least
        shown[language.candidates(options.slot)] = True
        for token in np.flatnonzero(shown):
            condition = {"prompt": prompt, "token": language.vocabulary.tokens[token]}
            yield Observation("next_probability", float(row[token]), condition, "share")
