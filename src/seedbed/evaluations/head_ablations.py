"""What becomes of a word that the subject decides without a head, or all of a layer (objectives, exercise 7).

How much a head looks at the subject is a correlation; what happens without it is a cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from seedbed.evaluations import pronouns, subject_attention
from seedbed.evaluations.context import Context
from seedbed.evaluations.trained import TrainedModel
from seedbed.models.inspection import Forbidden, ablations, restricted
from seedbed.observations import Observation, Scalar, mean


@dataclass(frozen=True)
class Options:
    """Which words are asked for, what decides them, and the window; see the evaluation pronouns."""

    slot: str = "tail possessive"
    antecedent: str = "subject"
    window: int = 5


def evaluate(model: TrainedModel, context: Context, options: Options) -> Iterator[Observation]:
    """``ablated_probability`` and ``ablated_accuracy`` of the right word, and ``ablated_loss`` of all tokens.

    By layer and head, counted from 1, that gives zeros; ``head=all`` is the whole layer. The same by ``without``:
    ``nothing``; ``most attentive``, the head that looks at the subject most; ``most important``, the single head
    without which the right word outside the window is least probable. ``most_important_layer`` is its layer, and
    ``most_important_looks`` whether it is the most attentive one. A network of no finite predictions has neither.
    """
    yield from _named(_measured(model, context, options, {}), "nothing")
    heads = {}
    for layer, head, rule in ablations(model.network):
        found = _measured(model, context, options, rule)
        for one in found:
            yield replace(one, condition={**one.condition, "layer": layer, "head": head})
        if head != "all":
            heads[layer, head] = found
    asked = subject_attention.queries(
        context, subject_attention.Options(slot=options.slot, antecedent=options.antecedent)
    )
    if len(asked.places):
        layer, head = subject_attention.largest(subject_attention.shares(model, asked))
        yield from _named(heads[layer + 1, head + 1], "most attentive")
        known = {which: _known_outside(found) for which, found in heads.items()}
        if np.isfinite(list(known.values())).all():
            important = min(known, key=known.__getitem__)
            yield from _named(heads[important], "most important")
            yield Observation("most_important_layer", important[0], unit="layer")
            yield Observation("most_important_looks", float(important == (layer + 1, head + 1)), unit="share")


def _measured(
    model: TrainedModel, context: Context, options: Options, forbidden: Mapping[int, Forbidden]
) -> list[Observation]:
    inputs, targets = context.test.without_last(), context.test.without_first()
    with restricted(model.network, forbidden):
        predicted = model.log_probabilities(inputs)
    asked = pronouns.Options(options.slot, options.antecedent, options.window)
    known = [
        replace(one, metric=one.metric.replace("pronoun", "ablated"))
        for one in pronouns.known(predicted, context, asked)
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
