"""How much every head looks at the subject when a word has to come that it decides (objectives 5.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seedbed.batching import pack
from seedbed.documents import Documents
from seedbed.languages.vocabulary import BEGIN
from seedbed.measuring.antecedent_attention import (
    attention_shares,
    find_queries,
    head_of_largest_share,
    shares_of_antecedent,
)
from seedbed.measuring.context import Context
from seedbed.measuring.trained import TrainedModel
from seedbed.models.inspection import attention
from seedbed.observations import Observation, Scalar, mean

NEEDS = ("network",)
SOURCE = "language"


@dataclass(frozen=True)
class Options:
    """The words, what decides them, and examples."""

    slot: str  # the attention of the token before each word of this slot is measured
    antecedent: str  # the slot of the subject; the nearest one counts, all its words together
    prompts: tuple[str, ...] = ()  # beginnings without <bos>; the attention of their last token is shown


def evaluate(model: TrainedModel, context: Context, options: Options) -> Iterator[Observation]:
    """``attention_share`` of the subject by layer and head, and ``uniform_share``, its share of uniform attention.

    ``largest_share`` is the share of the head that has most, in each layer and in all. It is chosen on the even
    documents and measured on the odd ones, see `attention_shares`. ``example_share`` is how much the head with
    most in all layers looks at each token of an example. ``seen_positions`` is how many a query sees on average,
    ``antecedent_words`` how many of them are the subject's, at least and at most.
    """
    asked = find_queries(context, options.slot, options.antecedent)
    found = shares_of_antecedent(model, asked)
    words = asked.last - asked.first + 1
    yield from attention_shares(found, options.antecedent, asked.owners)
    uniform: dict[str, Scalar] = {"group": options.antecedent}
    yield mean("uniform_share", words / asked.seen, uniform, "share", clusters=asked.owners)
    yield mean("seen_positions", asked.seen, unit="position", clusters=asked.owners)
    if len(words):
        yield Observation("antecedent_words", int(words.min()), {"number": "least"}, "position")
        yield Observation("antecedent_words", int(words.max()), {"number": "most"}, "position")
    if asked.even.any():
        layer, head = head_of_largest_share(found[:, asked.even])
        share = found[layer, ~asked.even, head]
        yield mean("largest_share", share, uniform, "share", clusters=asked.owners[~asked.even])
        yield from _examples(model, context, options, (layer, head))


def _examples(
    model: TrainedModel, context: Context, options: Options, looking: tuple[int, int]
) -> Iterator[Observation]:
    layer, head = looking
    for prompt in options.prompts:
        tokens = [BEGIN, *context.language.encode(prompt)]
        weights = attention(model.network, pack(Documents.of([tokens])))[layer, -1, head]
        for position, token in enumerate(tokens):
            place = {"prompt": prompt, "position": position, "token": context.language.vocabulary.tokens[token]}
            yield Observation("example_share", float(weights[position]), place, "share")
