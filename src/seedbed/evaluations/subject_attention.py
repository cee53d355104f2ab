"""How much every head looks at the subject when a word has to come that it decides (objectives 5.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from seedbed.batching import pack
from seedbed.documents import Documents
from seedbed.evaluations.context import Context
from seedbed.evaluations.heads import attention_shares
from seedbed.evaluations.trained import TrainedModel
from seedbed.languages.exact import antecedent_distances
from seedbed.languages.vocabulary import BEGIN
from seedbed.models.inspection import attention
from seedbed.observations import Observation, Scalar, mean

#: Documents a forward: the weights of all heads are kept for so many.
_CHUNK = 64

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Options:
    """The words, what decides them, and examples."""

    slot: str = "tail possessive"  # the token before each of them looks
    antecedent: str = "subject"  # and how much at the nearest one, all its words together, is told
    prompts: str = ""  # beginnings without <bos>, separated by " | ", whose last token looks


@dataclass(frozen=True, eq=False)
class Queries:
    """The places that look, and what they might look at.

    Attributes:
        documents: Where they stand.
        places: [queries], indices into the flat tokens.
        first: [queries], the position in its document of the antecedent's first word.
        last: [queries], that of its last.
    """

    documents: Documents
    places: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    @property
    def owners(self) -> NDArray[np.int64]:
        """[queries], the document of each."""
        return self.documents.owners[self.places]

    @property
    def even(self) -> NDArray[np.bool_]:
        """[queries], whether its document has an even number, from 0: by these a head is chosen."""
        even: NDArray[np.bool_] = self.owners % 2 == 0
        return even

    @property
    def seen(self) -> NDArray[np.int64]:
        """[queries], how many positions each sees, its own included."""
        return self.documents.positions[self.places] + 1


def evaluate(model: TrainedModel, context: Context, options: Options) -> Iterator[Observation]:
    """``attention_share`` of the subject by layer and head, and ``uniform_share`` if a head looked at all alike.

    ``largest_share`` is that of the head with the largest one, whichever it is, in each layer and in all, chosen
    by the even documents and told of the odd ones, see `heads.attention_shares`. ``example_share`` is how much the
    latter looks at each token of an example. ``seen_positions`` is how many a query sees on average,
    ``antecedent_words`` how many of them are the subject's, at least and at most.
    """
    asked = queries(context, options)
    found = shares(model, asked)
    words = asked.last - asked.first + 1
    yield from attention_shares(found, options.antecedent, asked.owners)
    uniform: dict[str, Scalar] = {"group": options.antecedent}
    yield mean("uniform_share", words / asked.seen, uniform, "share", clusters=asked.owners)
    yield mean("seen_positions", asked.seen, unit="position", clusters=asked.owners)
    if len(words):
        yield Observation("antecedent_words", int(words.min()), {"number": "least"}, "position")
        yield Observation("antecedent_words", int(words.max()), {"number": "most"}, "position")
    if asked.even.any():
        layer, head = largest(found[:, asked.even])
        told = found[layer, ~asked.even, head]
        yield mean("largest_share", told, uniform, "share", clusters=asked.owners[~asked.even])
        yield from _examples(model, context, options, (layer, head))


def queries(context: Context, options: Options) -> Queries:
    """The tokens before the words of the slot, in the test set."""
    test = context.test
    places, distances = antecedent_distances(context.language, test, options.slot, options.antecedent)
    spoken = context.language.in_slot(test, options.antecedent)
    begins = np.where(spoken & ~np.roll(spoken, 1), np.arange(len(spoken)), 0)
    last = places - distances
    first = np.maximum.accumulate(begins)[last]
    return Queries(test, places - 1, test.positions[first], test.positions[last])


def shares(model: TrainedModel, asked: Queries) -> Numbers:
    """[layers, queries, heads], what each query gives its antecedent, all its words together."""
    model.network.eval()
    parts, documents = [], asked.documents
    for start in range(0, len(documents), _CHUNK):
        chunk = documents.take(np.arange(start, min(start + _CHUNK, len(documents))))
        mine = (asked.owners >= start) & (asked.owners < start + _CHUNK)
        rows = torch.from_numpy(asked.places[mine] - documents.offsets[start])
        weights = attention(model.network, pack(chunk), rows).double().numpy()
        position = np.arange(weights.shape[-1])
        inside = (position >= asked.first[mine, None]) & (position <= asked.last[mine, None])
        parts.append((weights * inside[:, None]).sum(-1))
    return np.concatenate(parts, axis=1)


def largest(found: Numbers) -> tuple[int, int]:
    """Layer and head, from 0, of the largest mean share; of equal ones the first."""
    layer, head = np.unravel_index(found.mean(1).argmax(), (found.shape[0], found.shape[2]))
    return int(layer), int(head)


def _examples(
    model: TrainedModel, context: Context, options: Options, looking: tuple[int, int]
) -> Iterator[Observation]:
    layer, head = looking
    for prompt in filter(None, options.prompts.split(" | ")):
        tokens = [BEGIN, *context.language.encode(prompt)]
        weights = attention(model.network, pack(Documents.of([tokens])))[layer, -1, head]
        for position, token in enumerate(tokens):
            place = {"prompt": prompt, "position": position, "token": context.language.vocabulary.tokens[token]}
            yield Observation("example_share", float(weights[position]), place, "share")
