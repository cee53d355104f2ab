"""Models of recall as its evaluations get them: small networks, and predictors whose answers are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from seedbed.documents import Documents, Tokens
from seedbed.log import Log
from seedbed.measuring.context import TaskContext
from seedbed.measuring.trained import TrainedModel
from seedbed.models import recurrent, transformer
from seedbed.models.initialisation import fill, unfilled
from seedbed.objectives import answer
from seedbed.randomness import torch_stream
from seedbed.tasks.recall import VOCABULARY, Options, Task

CONTEXT = TaskContext(Task(Options()), Documents.of([[0]] * 80))
TRANSFORMER = transformer.Options(d_model=16, heads=2, d_ff=16, positions="learned", max_positions=22)
LSTM = recurrent.Options(cell="lstm", embedding=6, hidden=5)


@dataclass(frozen=True)
class Answers:
    """Gives a token that it chooses by all that it has read 0.83, and every other one 0.01."""

    choose: Callable[[Tokens], int]

    def log_probabilities(self, documents: Documents) -> NDArray[np.float64]:
        found = np.full((len(documents.tokens), len(VOCABULARY)), np.log(0.01))
        for document, last in zip(documents, documents.offsets[1:] - 1, strict=True):
            found[last, self.choose(document)] = np.log(0.83)
        return found


def find_key(document: Tokens) -> int:
    """The one key among what was read."""
    return int(document.min())


def trained(options: transformer.Options | recurrent.Options, seed: int = 0) -> TrainedModel:
    """A network with the weights that a training of the seed would begin with."""
    module: ModuleType = transformer if isinstance(options, transformer.Options) else recurrent
    network = unfilled(lambda: module.Model(options, len(VOCABULARY)))
    fill(network, torch_stream(seed, "initialisation"))
    objective = answer.Objective(answer.Options(), len(VOCABULARY))
    return TrainedModel(network, objective, Log(), lambda: Documents.of([]), seed)
