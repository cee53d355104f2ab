"""How the gradient that reaches a key decays with its distance, in untrained networks (recurrence 2.5, 5.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from seedbed.decoding.following import rows_as_documents
from seedbed.documents import Documents
from seedbed.models.embedding import Embedding
from seedbed.models.inspection import longest_document
from seedbed.objectives import answer
from seedbed.observations import Observation, mean
from seedbed.randomness import stream
from seedbed.tasks import recall

NEEDS = ("task", "networks")
REHEARSED = {"questions": 8}


@dataclass(frozen=True)
class Options:
    """Which questions, and between which distances the decay is described."""

    distances: tuple[int, ...] = (1, 2, 5, 10, 20, 35, 50, 75, 100, 118, 150, 200)
    questions: int = 64  # at each distance, the same number for every key
    # The decay is described between these distances; ratios are relative to the least.
    least: int = 10
    middle: int = 50
    most: int = 100

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: distances that do not rise, a number of questions that the keys cannot share, or ends that
                are no distances.
        """
        if sorted(set(self.distances)) != list(self.distances) or min(self.distances, default=0) < 1:
            raise ValueError(
                f"distances {list(self.distances)}: expected at least one, each from 1 and above the one before"
            )
        if self.questions < 1 or self.questions % recall.KEYS:
            raise ValueError(
                f"questions {self.questions}: expected a multiple of {recall.KEYS}, the number of keys"
            )
        for name in ("least", "middle", "most"):
            if getattr(self, name) not in self.distances:
                raise ValueError(f"{name} {getattr(self, name)}: expected one of distances {list(self.distances)}")
        if not self.least < self.middle < self.most:
            raise ValueError(f"least {self.least}, middle {self.middle}, most {self.most}: expected them to rise")


def demonstrate(
    options: Options, *, task: recall.Task, networks: Mapping[str, nn.Module]
) -> Iterator[Observation]:
    """By network and distance ``initial_gradient``, the mean norm of the gradient of the loss by the key's vector.

    The gradient is of the query's loss, in double precision, since single precision ends near 1e-38.
    ``initial_gradient_ratio`` is relative to the least distance. ``initial_gradient_exponent`` is the slope of log
    gradient over log(distance + 2): -1 if it falls like the uniform attention on the key.
    ``initial_gradient_persistence`` is how fast the log gradient falls from the middle to the largest distance,
    relative to its fall from the least to the middle. It is 1 for an exponential decay and, with the default
    distances, 0.37 for any power of distance + 2. A distance beyond a learned position table has no observation.

    Args:
        options: The options.
        task: Recall.
        networks: Untrained, with one `Embedding` each; they become double.

    Raises:
        ValueError: the task is another one.
    """
    if not isinstance(task, recall.Task):
        raise ValueError(f"expected the task recall, found {type(task).__module__.rpartition('.')[2]}")
    for name, network in networks.items():
        yield from _of_network(network.double(), {"network": name}, options)


def _of_network(network: nn.Module, of: dict[str, str], options: Options) -> Iterator[Observation]:
    longest = longest_document(network)
    norms: dict[int, float] = {}
    for distance in options.distances:
        if longest is None or distance + 2 <= longest:
            answered = questions(distance, options.questions)
            found = mean("initial_gradient", gradient_norms(network, answered), of | {"distance": distance})
            norms[distance] = found.value
            yield found
    if options.least in norms:
        for distance, norm in norms.items():
            ratio = norm / norms[options.least]
            yield Observation("initial_gradient_ratio", ratio, of | {"distance": distance}, "ratio")
    if options.most in norms:
        yield Observation("initial_gradient_exponent", _exponent(norms, options), of, "exponent")
        yield Observation("initial_gradient_persistence", _persistence(norms, options), of, "ratio")


def questions(distance: int, number: int) -> Documents:
    """Sequences with their answers, the same for all networks and seeds; evaluations of recall ask the same."""
    rng = stream(0, f"recall of {distance} distractors, 0 before the key")
    return rows_as_documents(recall.balanced_sequences(rng, number, distance))


def _exponent(norms: dict[int, float], options: Options) -> float:
    """The slope of the least squares line."""
    chosen = [distance for distance in norms if options.least <= distance <= options.most]
    logs = np.log([norms[distance] for distance in chosen])
    return float(np.polyfit(np.log(np.array(chosen) + 2), logs, 1)[0])


def _persistence(norms: dict[int, float], options: Options) -> float:
    ends = [options.least, options.middle, options.most]
    first, second = np.diff(np.log([norms[end] for end in ends])) / np.diff(ends)
    return float(second / first)


def gradient_norms(network: nn.Module, answered: Documents) -> NDArray[np.float64]:
    """[questions], the norm of the gradient of each question's loss by the vector that its key is read as.

    Args:
        network: Has one `Embedding`.
        answered: Questions with one key each, and the answer.
    """
    objective = answer.Objective(answer.Options(), recall.VOCABULARY)
    read: list[tuple[Tensor, Tensor]] = []
    (embedding,) = (layer for layer in network.modules() if isinstance(layer, Embedding))
    hook = embedding.register_forward_hook(lambda _, tokens, vectors: read.append((tokens[0], vectors)))
    try:
        loss, _ = objective.loss(network, objective.examples(answered, np.random.default_rng(0)))
    finally:
        hook.remove()
    ((tokens, vectors),) = read
    (gradient,) = torch.autograd.grad(loss, vectors)
    norms: NDArray[np.float64] = gradient[tokens < recall.KEYS].norm(dim=1).numpy()
    return norms
