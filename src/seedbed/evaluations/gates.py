"""What the gates of an LSTM do with a key and with the distractors after it (recurrence 5.6)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from seedbed.documents import Tokens
from seedbed.measuring.context import TaskContext
from seedbed.measuring.recall_questions import Questions, ask, questions_each
from seedbed.measuring.trained import TrainedModel
from seedbed.messages import require_positive
from seedbed.models.gates import Gates, gates
from seedbed.observations import Observation, Scalar

Numbers = NDArray[np.float64]


NEEDS = ("network",)
SOURCE = "task"


@dataclass(frozen=True)
class Options:
    """Which questions, and which cells keep what they hold."""

    distance: int = 50
    keeping: float = 0.99  # a cell keeps if its forget gate is above this on average over the distractors

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: no distractor, or a limit that no gate can be above.
        """
        require_positive(distance=self.distance)
        if not 0 <= self.keeping < 1:
            raise ValueError(f"keeping {self.keeping}: expected at least 0 and less than 1")


def evaluate(model: TrainedModel, context: TaskContext, options: Options) -> Iterator[Observation]:
    """``gate`` by kind, token and cells, ``keeping_cells``, and how much of what is written they explain.

    ``gate`` is the mean of a gate over cells and tokens: the key, all distractors, or the query. ``keeping_cells``
    counts the cells whose forget gate stays open. ``written_explained`` is about what a cell writes at the
    distractors (input gate times candidate). It is the share of the variance that lies between the groups with the
    same key, or with the same distractor: the sum over cells of the variances between groups, divided by the sum
    of their variances. Without keeping cells, their numbers are NaN.
    """
    asked = ask(context, options.distance, questions_each(context))
    model.network.eval()
    seen = gates(model.network, torch.from_numpy(asked.tokens))
    keeps = seen.forget_gate[:, 1:-1].mean((0, 1)).numpy() > options.keeping
    yield Observation("keeping_cells", int(keeps.sum()), unit="count")
    for cells, chosen in (("all", np.ones_like(keeps)), ("keeping", keeps)):
        yield from _means(seen, chosen, cells)
        yield from _explained(seen, asked, chosen, cells)


def _means(seen: Gates, chosen: NDArray[np.bool_], cells: str) -> Iterator[Observation]:
    kinds = {"input": seen.input_gate, "forget": seen.forget_gate, "output": seen.output_gate}
    tokens = {"key": slice(1), "distractor": slice(1, -1), "query": slice(-1, None)}
    for kind, values in kinds.items():
        for token, places in tokens.items():
            found = values[:, places].double().numpy()[..., chosen]
            condition: dict[str, Scalar] = {"gate": kind, "token": token, "cells": cells}
            yield Observation("gate", float(found.mean()) if found.size else math.nan, condition, "share")


def _explained(seen: Gates, asked: Questions, chosen: NDArray[np.bool_], cells: str) -> Iterator[Observation]:
    written = (seen.input_gate * seen.candidate)[:, 1:-1].double().numpy()[..., chosen]
    distractors = asked.tokens[:, 1:-1]
    groups = {"key": np.broadcast_to(asked.keys[:, None], distractors.shape), "distractor": distractors}
    for by, each in groups.items():
        share = explained_share(written.reshape(each.size, -1), each.ravel())
        yield Observation("written_explained", share, {"by": by, "cells": cells}, "share")


def explained_share(values: Numbers, groups: Tokens) -> float:
    """The share of variance that lies between groups (eta squared), over all columns together.

    Args:
        values: [items, columns].
        groups: [items].

    Returns:
        From 0 to 1; NaN without columns or variance.
    """
    centred = values - values.mean(0)
    member = groups[:, None] == np.unique(groups)
    between = float(((member.T @ centred) ** 2 / member.sum(0)[:, None]).sum())
    total = float((centred**2).sum())
    return between / total if total else math.nan
