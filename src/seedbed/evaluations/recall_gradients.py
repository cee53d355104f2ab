"""How much an untrained network learns from the query about a key far back: its gradient (recurrence 5.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from seedbed.documents import Documents
from seedbed.measuring.context import TaskContext
from seedbed.measuring.recall_questions import ask, readable
from seedbed.measuring.trained import TrainedModel
from seedbed.models.embedding import Embedding
from seedbed.observations import Observation, mean
from seedbed.tasks.recall import KEYS

NEEDS = ("network", "objective", "initial")
SOURCE = "task"


@dataclass(frozen=True)
class Options:
    """Which questions, and between which distances the decay is summed up."""

    distances: tuple[int, ...] = (1, 2, 5, 10, 20, 35, 50, 75, 100, 118, 150, 200)
    questions: int = 64  # a distance, the same number for every key
    # The decay is summed up between these distances; the first is what ratios are relative to.
    least: int = 10
    middle: int = 50
    most: int = 100

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: what is no distance, keys that cannot be asked for alike, or no way between ends.
        """
        if self.questions < 1 or self.questions % KEYS:
            raise ValueError(f"questions {self.questions}: expected a multiple of {KEYS}, so many for every key")
        for name in ("least", "middle", "most"):
            if getattr(self, name) not in self.distances:
                raise ValueError(f"{name} {getattr(self, name)}: expected one of the distances {self.distances}")
        if not self.least < self.middle < self.most:
            raise ValueError(f"least {self.least}, middle {self.middle}, most {self.most}: expected them to rise")


def evaluate(model: TrainedModel, context: TaskContext, options: Options) -> Iterator[Observation]:
    """``initial_gradient``, the mean norm of the gradient of the query's loss by the key's vector, by distance.

    Of the network before training, in double precision, since single precision ends near 1e-38.
    ``initial_gradient_ratio`` is relative to the least distance. ``initial_gradient_exponent`` is the slope of log
    gradient over log(distance + 2): -1 where it falls as the uniform attention on the key does.
    ``initial_gradient_persistence`` is how fast log gradient falls from the middle to the most distance, relative
    to its fall from the least to the middle: 1 where the decay is exponential, and with the default distances 0.37
    for any power of distance + 2. What ends behind a learned position table yields no observation.
    """
    network = model.initial().double()
    norms: dict[int, float] = {}
    for distance in readable(model, options.distances):
        asked = ask(context, distance, options.questions).answered
        found = mean("initial_gradient", gradient_norms(network, model.objective, asked), {"distance": distance})
        norms[distance] = found.value
        yield found
    if options.least in norms:
        for distance, norm in norms.items():
            yield Observation(
                "initial_gradient_ratio", norm / norms[options.least], {"distance": distance}, "ratio"
            )
    if options.most in norms:
        yield Observation("initial_gradient_exponent", _exponent(norms, options), unit="exponent")
        yield Observation("initial_gradient_persistence", _persistence(norms, options), unit="ratio")


def _exponent(norms: dict[int, float], options: Options) -> float:
    """The slope of the least squares line."""
    chosen = [distance for distance in norms if options.least <= distance <= options.most]
    logs = np.log([norms[distance] for distance in chosen])
    return float(np.polyfit(np.log(np.array(chosen) + 2), logs, 1)[0])


def _persistence(norms: dict[int, float], options: Options) -> float:
    ends = [options.least, options.middle, options.most]
    first, second = np.diff(np.log([norms[end] for end in ends])) / np.diff(ends)
    return float(second / first)


def gradient_norms(network: nn.Module, objective: Any, asked: Documents) -> NDArray[np.float64]:  # noqa: ANN401 - as in TrainedModel
    """[questions], the norm of the gradient of each question's loss by the vector that its key is read as.

    Args:
        network: Has one `Embedding`.
        objective: Scores the answer alone.
        asked: One key each, and its answer.
    """
    read: list[tuple[Tensor, Tensor]] = []
    (embedding,) = (layer for layer in network.modules() if isinstance(layer, Embedding))
    hook = embedding.register_forward_hook(lambda _, tokens, vectors: read.append((tokens[0], vectors)))
    try:
        loss, _ = objective.loss(network, objective.examples(asked, np.random.default_rng(0)))
    finally:
        hook.remove()
    ((tokens, vectors),) = read
    (gradient,) = torch.autograd.grad(loss, vectors)
    norms: NDArray[np.float64] = gradient[tokens < KEYS].norm(dim=1).numpy()
    return norms
