"""What a Transformer's agreement depends on: attention is cut off, and the verb predicted again (recurrence 6.4).

The weight on a position is a correlation; what changes without it shows a cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seedbed.documents import Documents
from seedbed.languages import agreement
from seedbed.languages.agreement import SentencePrefixes
from seedbed.measuring.context import Context
from seedbed.measuring.trained import TrainedModel
from seedbed.measuring.verb_hits import hits
from seedbed.messages import require_positive
from seedbed.models.inspection import Forbidden, ablations, attention_layers, cut, restricted
from seedbed.observations import Observation, Scalar, mean

NEEDS = ("log_probabilities", "network")
SOURCE = "language"
REHEARSED = {"pairs": 8}


@dataclass(frozen=True)
class Options:
    """The sentences, all attractors opposite to the subject."""

    attractors: int = 3
    pairs: int = 200

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: an option below 1.
        """
        require_positive(attractors=self.attractors, pairs=self.pairs)


def evaluate(model: TrainedModel, context: Context, options: Options) -> Iterator[Observation]:
    """``cut_accuracy`` by the group of positions that no later position may attend to, in all layers and heads.

    ``cut=nothing`` is the unchanged model. The last attractor is not cut off: the verb is predicted there, so no
    later position looks at it; the group ``attractors`` are the others. ``cut_change`` is the largest change, in
    nats, of any next token's log probability if the cut-off subject takes the other number. It must be 0, since no
    path is left. ``ablated_accuracy`` is by the head, or all heads of a layer, whose output is 0; both count from
    1.
    """
    test = agreement.sentence_prefixes(context.language, options.attractors, "opposite", options.pairs)
    layers = range(len(attention_layers(model.network)))
    yield _measured(model, test, "cut_accuracy", {"cut": "nothing"}, {})
    for group, places in agreement.position_groups(options.attractors).items():
        if places and group != "last attractor":
            yield _measured(model, test, "cut_accuracy", {"cut": group}, dict.fromkeys(layers, cut(places)))
    yield _unseen_change(model, context, options)
    for layer, head, rule in ablations(model.network):
        yield _measured(model, test, "ablated_accuracy", {"layer": layer, "head": head}, rule)


def _unseen_change(model: TrainedModel, context: Context, options: Options) -> Observation:
    """Of sentences that differ only in the subject; each kind is predicted by itself, so rounding is the same."""
    test = agreement.sentence_prefixes(context.language, options.attractors, "mixed", options.pairs)
    subject, each = cut(agreement.position_groups(options.attractors)["subject"]), np.arange(len(test.documents))
    with restricted(model.network, dict.fromkeys(range(len(attention_layers(model.network))), subject)):
        singular, plural = (_predicted(model, test.documents.take(kind)) for kind in (each[::2], each[1::2]))
    return Observation("cut_change", float(np.abs(singular - plural).max()), {"cut": "subject"}, "nat")


def _predicted(model: TrainedModel, documents: Documents) -> NDArray[np.float64]:
    """[documents, vocabulary], what may follow each document."""
    return model.log_probabilities(documents)[documents.offsets[1:] - 1]


def _measured(
    model: TrainedModel,
    test: SentencePrefixes,
    metric: str,
    condition: Mapping[str, Scalar],
    forbidden: Mapping[int, Forbidden],
) -> Observation:
    with restricted(model.network, forbidden):
        return mean(metric, hits(model, test), condition, "share", clusters=test.pairs)
