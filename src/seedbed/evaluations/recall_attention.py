"""Where the query looks: at the key, at the distractors or at itself (recurrence 5.5, 5.6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn

from seedbed.batching import pack
from seedbed.decoding.following import rows_as_documents
from seedbed.documents import Tokens
from seedbed.measuring.context import TaskContext
from seedbed.measuring.recall_questions import Questions, ask, questions_each, readable, require_rising
from seedbed.measuring.trained import TrainedModel
from seedbed.models.inspection import attention
from seedbed.observations import Observation, Scalar, mean

#: Questions in one forward pass: the weights of all positions take much memory.
_CHUNK = 64

#: Questions that an untrained network is asked.
_FEW = 128


NEEDS = ("network", "initial")
SOURCE = "task"


@dataclass(frozen=True)
class Options:
    """Which questions."""

    distances: tuple[int, ...] = (1, 2, 5, 10, 20, 35, 50, 75, 100, 118, 150, 200)

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: no distances, negative ones, or ones that do not rise.
        """
        require_rising(distances=self.distances)


def evaluate(model: TrainedModel, context: TaskContext, options: Options) -> Iterator[Observation]:
    """``query_attention`` of the query on each group of tokens, by distance, layer and head, counted from 1.

    A head's shares add up to 1. ``uniform_attention`` is what a group would have if all tokens had the same.
    ``finder_attention`` is the key's share in the head that looks at the key most, on average over the distances,
    and ``finder_layer`` its layer. The head is chosen on the first half of the questions and measured on the
    second: where it is chosen, the largest of several shares is biased upwards. ``initial_key_attention`` is the
    key's share before training, as a multiple of the uniform one, over all heads and some of the questions, which
    differ little then. A distance whose questions are longer than a learned position table has no observation.
    """
    distances = readable(model, options.distances)
    asked = {distance: ask(context, distance, questions_each(context)) for distance in distances}
    looks = {distance: look(model.network, questions) for distance, questions in asked.items()}
    for distance, weights in looks.items():
        yield from _shares(distance, weights)
    yield from _finder({distance: weights[..., 0] for distance, weights in looks.items()})
    untrained = model.initial()
    for distance, questions in asked.items():
        few = Questions(questions.tokens[:_FEW], questions.keys[:_FEW])
        multiple = float(look(untrained, few)[..., 0].mean()) * (distance + 2)
        yield Observation("initial_key_attention", multiple, {"distance": distance}, "ratio")


def look(network: nn.Module, asked: Questions) -> NDArray[np.float64]:
    """[layers, questions, heads, positions], the attention of the query; the key is the first position."""
    network.eval()
    parts = [
        _at_the_query(network, asked.tokens[start : start + _CHUNK]) for start in range(0, len(asked.keys), _CHUNK)
    ]
    found: NDArray[np.float64] = torch.cat(parts, 1).double().numpy()
    return found


def _at_the_query(network: nn.Module, questions: Tokens) -> Float[Tensor, "layers few heads positions"]:
    documents = rows_as_documents(questions)
    return attention(network, pack(documents), torch.from_numpy(documents.offsets[1:] - 1))[
        ..., : questions.shape[1]
    ]


def _shares(distance: int, weights: NDArray[np.float64]) -> Iterator[Observation]:
    for group, places in (("key", slice(1)), ("distractors", slice(1, -1)), ("query", slice(-1, None))):
        positions = len(range(distance + 2)[places])
        condition: dict[str, Scalar] = {"distance": distance, "group": group}
        yield Observation("uniform_attention", positions / (distance + 2), condition, "share")
        shares = weights[..., places].sum(-1)
        for layer in range(shares.shape[0]):
            for head in range(shares.shape[2]):
                which = condition | {"layer": layer + 1, "head": head + 1}
                yield mean("query_attention", shares[layer, :, head], which, "share")


def _finder(keys: dict[int, NDArray[np.float64]]) -> Iterator[Observation]:
    """The head with most attention on the key; ``keys`` has [layers, questions, heads] by distance."""
    # In halves, not alternately: the keys alternate too, so every other question would ask for only four of them.
    half = min(shares.shape[1] for shares in keys.values()) // 2
    together = np.mean([shares[:, :half].mean(1) for shares in keys.values()], axis=0)
    layer, head = np.unravel_index(together.argmax(), together.shape)
    yield Observation("finder_layer", int(layer) + 1, unit="layer")
    for distance, shares in keys.items():
        yield mean("finder_attention", shares[layer, half:, head], {"distance": distance}, "share")
