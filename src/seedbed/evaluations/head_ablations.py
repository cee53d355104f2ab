"""How well a word that the subject decides is predicted without a head, or a layer (objectives, exercise 7).

How much a head looks at the subject is a correlation; what changes without the head shows a cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from seedbed.measuring.antecedent_attention import find_queries, head_of_largest_share, shares_of_antecedent
from seedbed.measuring.context import Context
from seedbed.measuring.decided_words import score_decided_words
from seedbed.measuring.trained import TrainedModel
from seedbed.messages import require_positive
from seedbed.models.inspection import Forbidden, ablations, restricted
from seedbed.observations import Observation, Scalar, mean

Numbers = NDArray[np.float64]


NEEDS = ("log_probabilities", "network")
SOURCE = "language"


@dataclass(frozen=True)
class Options:
    """Which words are asked for, what decides them, and the window; see the evaluation pronouns."""

    slot: str
    antecedent: str
    window: int = 5

    def __post_init__(self) -> None:
        require_positive(window=self.window)


def evaluate(model: TrainedModel, context: Context, options: Options) -> Iterator[Observation]:
    """``ablated_probability`` and ``ablated_accuracy`` of the right word, and ``ablated_loss`` of all tokens.

    By layer and head (counted from 1) whose output is 0; ``head=all`` is the whole layer. The same by ``without``:
    ``nothing``; ``most attentive``, the head that looks at the subject most; ``most important``, the single head
    without which the right word outside the window is least probable. ``most_important_layer`` is its layer, and
    ``most_important_looks`` whether it is the most attentive one. A network without finite predictions has
    neither. The two heads are chosen on the even documents and measured on the odd ones: on the documents on which
    it was chosen, the least of several figures is biased downwards.
    """
    yield from _named(_scored(_predicted(model, context, {}), context, options), "nothing")
    known, heads = {}, {}
    for layer, head, rule in ablations(model.network):
        predicted = _predicted(model, context, rule)
        for one in _scored(predicted, context, options):
            yield replace(one, condition={**one.condition, "layer": layer, "head": head})
        if head != "all":
            known[layer, head] = _known_outside(_scored(*_half(predicted, context, 0), options))
            heads[layer, head] = _scored(*_half(predicted, context, 1), options)
    asked = find_queries(context, options.slot, options.antecedent)
    if asked.even.any():
        layer, head = head_of_largest_share(shares_of_antecedent(model, asked)[:, asked.even])
        yield from _named(heads[layer + 1, head + 1], "most attentive")
        if np.isfinite(list(known.values())).all():
            important = min(known, key=known.__getitem__)
            yield from _named(heads[important], "most important")
            yield Observation("most_important_layer", important[0], unit="layer")
            yield Observation("most_important_looks", float(important == (layer + 1, head + 1)), unit="share")


def _predicted(model: TrainedModel, context: Context, forbidden: Mapping[int, Forbidden]) -> Numbers:
    """[tokens - documents, vocabulary], what follows each token but the last."""
    with restricted(model.network, forbidden):
        return model.log_probabilities(context.test.without_last())


def _half(predicted: Numbers, context: Context, first: int) -> tuple[Numbers, Context]:
    """The same for every other document, from the first on."""
    test = context.test.take(np.arange(first, len(context.test), 2))
    return predicted[context.test.without_last().owners % 2 == first], replace(context, test=test)


def _scored(predicted: Numbers, context: Context, options: Options) -> list[Observation]:
    targets = context.test.without_first()
    known = [
        replace(one, metric=one.metric.replace("pronoun", "ablated"))
        for one in score_decided_words(predicted, context, options.slot, options.antecedent, options.window)
        if one.metric != "pronoun_count"
    ]
    losses = -predicted[np.arange(len(targets.tokens)), targets.tokens]
    return [*known, mean("ablated_loss", losses, unit="nat", clusters=targets.owners)]


def _named(found: list[Observation], name: str) -> Iterator[Observation]:
    for one in found:
        condition: dict[str, Scalar] = {**one.condition, "without": name}
        yield replace(one, condition=condition)


def _known_outside(found: list[Observation]) -> float:
    return next(
        one.value for one in found if (one.metric, one.condition) == ("ablated_probability", {"window": "outside"})
    )
