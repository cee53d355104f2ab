"""What a predictor expects after given beginnings of a document (objectives 0.1, 5.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seedbed.documents import Documents
from seedbed.evaluations.context import Context, Predictor
from seedbed.languages.vocabulary import BEGIN
from seedbed.observations import Observation


@dataclass(frozen=True)
class Options:
    """The beginnings, without ``<bos>``, and which tokens are told."""

    prompts: str = ""  # separated by " | "
    slot: str = "tail possessive"  # its words are always told
    least: float = 0.001  # and so is a token that the language or the predictor gives more

    def __post_init__(self) -> None:
        if not 0 <= self.least <= 1:
            raise ValueError(f"least {self.least}: expected a probability, 0 to 1")


def evaluate(model: Predictor, context: Context, options: Options) -> Iterator[Observation]:
    """``next_probability`` by prompt and token.

    Raises:
        ValueError: no document of the language begins with a prompt, or none has the slot.
    """
    language = context.language
    prompts = [prompt for prompt in options.prompts.split(" | ") if prompt]
    documents = Documents.of([[BEGIN, *language.encode(prompt)] for prompt in prompts])
    if not prompts:
        return
    predicted = np.exp(model.log_probabilities(documents)[documents.offsets[1:] - 1])
    for prompt, document, row in zip(prompts, documents, predicted, strict=True):
        told = np.maximum(language.next_token(document), row) > options.least
        told[language.candidates(options.slot)] = True
        for token in np.flatnonzero(told):
            condition = {"prompt": prompt, "token": language.vocabulary.tokens[token]}
            yield Observation("next_probability", float(row[token]), condition, "share")
