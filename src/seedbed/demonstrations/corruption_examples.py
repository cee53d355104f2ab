"""What each objective makes of one text: what the model reads, and what it is asked for (objectives 6.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from seedbed.documents import Documents
from seedbed.languages.automaton import Language
from seedbed.languages.vocabulary import BEGIN, END
from seedbed.objectives.scoring import Batch
from seedbed.observations import Observation, Scalar
from seedbed.randomness import stream

NEEDS = ("language", "objectives")

#: Within this number of draws, an objective asks first for each token that it may ask for first.
_DRAWS = 1000


@dataclass(frozen=True)
class Options:
    """The text, and which of an objective's draws are shown."""

    text: str  # without <bos> and <eos>
    first: tuple[str, ...]  # one draw is shown for each of these tokens that an objective may ask for first


def demonstrate(options: Options, *, language: Language, objectives: Mapping[str, Any]) -> Iterator[Observation]:
    """By objective and the token that is asked for ``first``: ``example_read`` and ``example_asked``, texts.

    ``example_tokens`` is how many tokens are asked for, and ``example_given`` how many the model reads. Where it
    reads two streams, a bar separates them. Each objective draws from one fixed stream.

    Raises:
        ValueError: the language has no such token.
    """
    language.encode(" ".join(options.first))  # an unknown word is an error; a word never asked for first is not
    document = Documents.of([[BEGIN, *language.encode(options.text), END]])
    for name, objective in objectives.items():
        missing = set(options.first)
        for batch in _draws(objective, document):
            asked = language.decode(batch.targets.tolist())
            first = asked.partition(" ")[0]
            if first in missing:
                missing.remove(first)
                read = " | ".join(language.decode(one.tokens.tolist()) for one in batch.inputs)
                yield from _example(batch, {"objective": name, "first": first}, asked, read)
            if not missing:
                break


def _draws(objective: Any, document: Documents) -> Iterator[Batch]:  # noqa: ANN401 - objectives share no class
    """What the objective makes of a document, again and again; only once if it draws nothing."""
    rng: np.random.Generator = stream(0, "example")
    for _ in range(_DRAWS):
        before = rng.bit_generator.state
        yield objective.examples(document, rng)
        if rng.bit_generator.state == before:
            return


def _example(batch: Batch, condition: dict[str, Scalar], asked: str, read: str) -> Iterator[Observation]:
    yield Observation("example_read", math.nan, condition, text=read)
    yield Observation("example_asked", math.nan, condition, text=asked)
    yield Observation("example_tokens", len(batch.targets), condition, "count")
    yield Observation("example_given", sum(len(one.tokens) for one in batch.inputs), condition, "count")
