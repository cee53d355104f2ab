"""What an objective makes of one text: what the model reads, and what it is asked for (objectives 6.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from seedbed.documents import Documents
from seedbed.languages.vocabulary import BEGIN, END
from seedbed.measuring.context import Context
from seedbed.measuring.trained import TrainedModel
from seedbed.objectives.scoring import Batch
from seedbed.observations import Observation, Scalar
from seedbed.randomness import stream

#: An objective that may ask for some token first does so within so many draws.
_DRAWS = 1000


NEEDS = ("objective",)
SOURCE = "language"


@dataclass(frozen=True)
class Options:
    """The text, and which of an objective's draws are shown."""

    text: str = ""  # without <bos> and <eos>
    first: str = ""  # tokens: one draw is shown for each that an objective may ask for first


def evaluate(model: TrainedModel, context: Context, options: Options) -> Iterator[Observation]:
    """By the token that is asked for ``first``: ``example_read`` and ``example_asked``, texts, and counts.

    ``example_tokens`` is how many tokens are asked for, and ``example_given`` how many the model reads. Where it
    reads two streams, a bar stands between them. The same for all seeds.
    """
    language = context.language
    language.encode(options.first)  # a word that is none is an error, one that is never asked for first is not
    document = Documents.of([[BEGIN, *language.encode(options.text), END]])
    missing = set(options.first.split())
    for batch in _draws(model, document):
        if not missing:
            return
        asked = language.decode(batch.targets.tolist())
        first = asked.partition(" ")[0]
        if first in missing:
            missing.remove(first)
            read = " | ".join(language.decode(one.tokens.tolist()) for one in batch.inputs)
            yield from _shown(batch, {"first": first}, asked, read)


def _draws(model: TrainedModel, document: Documents) -> Iterator[Batch]:
    """What the objective makes of a document again and again; once, where it leaves nothing to chance."""
    rng = stream(0, "example")
    for _ in range(_DRAWS):
        before = rng.bit_generator.state
        yield model.objective.examples(document, rng)
        if rng.bit_generator.state == before:
            return


def _shown(batch: Batch, condition: dict[str, Scalar], asked: str, read: str) -> Iterator[Observation]:
    yield Observation("example_read", math.nan, condition, text=read)
    yield Observation("example_asked", math.nan, condition, text=asked)
    yield Observation("example_tokens", len(batch.targets), condition, "count")
    yield Observation("example_given", sum(len(one.tokens) for one in batch.inputs), condition, "count")
