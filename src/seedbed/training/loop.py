"""The training loop: the same for every model and objective.

It calls an objective's `examples` and `loss` and a model's forward, and it reads and writes no file. With one
thread, named streams and deterministic algorithms, the same machine gives the same bytes. A model or an objective
may also draw from global generators, as `nn.Dropout` does: in a training these are a stream too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from seedbed.documents import Documents
from seedbed.log import Log
from seedbed.models.initialisation import fill
from seedbed.randomness import global_streams, stream, torch_stream
from seedbed.training import schedule


@dataclass(frozen=True)
class Options:
    """How a run is trained: Adam, its rate over the steps, and the order of the documents."""

    epochs: int = 6  # passes over the training documents
    batch: int = 32  # documents a step; the last batch of an epoch may hold fewer
    learning_rate: float = 0.003  # the peak, reached at the end of the warm-up
    warm_up: int = 200  # steps
    schedule: Literal["cosine", "constant"] = "cosine"  # after the warm-up: a half cosine to 0, or the peak
    clip: float = 0.0  # the largest norm of all gradients together; 0 clips nothing
    order: Literal["shuffled", "stored"] = "shuffled"  # of an epoch's documents

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: an option is out of its range.
        """
        for name, least in (("epochs", 1), ("batch", 1), ("learning_rate", 0), ("warm_up", 0), ("clip", 0)):
            if not least <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} {getattr(self, name)}: expected a finite number, at least {least}")


_Batch = TypeVar("_Batch")


class Objective(Protocol[_Batch]):
    """What the loop needs of an objective."""

    def examples(self, documents: Documents, rng: np.random.Generator) -> _Batch:
        """Inputs, targets and scored tokens of some documents, in the objective's own form."""
        ...

    def loss(self, model: nn.Module, batch: _Batch) -> tuple[Tensor, int]:
        """The summed loss in nats and the number of scored tokens."""
        ...


@dataclass(frozen=True)
class Trained:
    """The result: the weights of the epoch with the least validation loss, and the log."""

    weights: dict[str, Tensor]
    log: Log


def train(
    model: nn.Module,
    objective: Objective[_Batch],
    training: Documents,
    validation: Documents,
    options: Options,
    seeds: Mapping[str, int],
    start: Mapping[str, Tensor] | None = None,
) -> Trained:
    """Train a model from its initialisation stream, or from given weights.

    A step's loss that is not finite ends the training: a diverged run is a result. Its weights are those of the
    best epoch so far, or the initial ones; its log ends with the loss that is not finite. If the last step of all
    makes weights that are not finite, only the validation loss shows it.

    Args:
        model: All its weights are set here.
        objective: What is learnt.
        training: The documents of the seed.
        validation: Documents whose loss chooses the epoch.
        options: The recipe.
        seeds: The seed of each stream: ``initialisation``, ``order``, ``corruption``, and ``noise``, which is that
            of the global generators.
        start: The weights to begin with, by name; None draws them.
    """
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    if start is None:
        fill(model, torch_stream(seeds["initialisation"], "initialisation"))
    else:
        model.load_state_dict(start)
    with global_streams(seeds["noise"], "noise"):
        return _train(model, objective, training, validation, options, seeds)


def _train(
    model: nn.Module,
    objective: Objective[_Batch],
    training: Documents,
    validation: Documents,
    options: Options,
    seeds: Mapping[str, int],
) -> Trained:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.0, fused=True)
    log, kept, best = Log(), snapshot(model), math.inf
    for step, (epoch, batch, last, rate) in enumerate(_steps(objective, training, options, seeds)):
        # In the first step fresh memory holds NaN, so that code that reads it is noticed. In every step that would
        # take 2 % of the time.
        torch.utils.deterministic.fill_uninitialized_memory = step == 0  # type: ignore[attr-defined]
        total, count = _step(model, objective, batch, optimizer, rate, options.clip)
        log.add(epoch, rate, total, count)
        if not math.isfinite(total):
            break
        if last:
            log.validation_loss[-1] = validation_loss(model, objective, validation, options.batch)
            if log.validation_loss[-1] < best:
                kept, best = snapshot(model), log.validation_loss[-1]
                log.selected = [False] * (len(log.selected) - 1) + [True]
    return Trained(kept, log)


def _steps(
    objective: Objective[_Batch], training: Documents, options: Options, seeds: Mapping[str, int]
) -> Iterator[tuple[int, _Batch, bool, float]]:
    """Every step of the training: its epoch, its batch, whether it ends the epoch, and its learning rate."""
    order, corruption = stream(seeds["order"], "order"), stream(seeds["corruption"], "corruption")
    steps, rate_at = -(-len(training) // options.batch), getattr(schedule, options.schedule)
    for epoch in range(options.epochs):
        read = order.permutation(len(training)) if options.order == "shuffled" else np.arange(len(training))
        for step in range(steps):
            chosen = training.take(read[step * options.batch : (step + 1) * options.batch])
            rate = rate_at(epoch * steps + step, options.epochs * steps, options.learning_rate, options.warm_up)
            yield epoch + 1, objective.examples(chosen, corruption), step == steps - 1, rate


def _step(
    model: nn.Module,
    objective: Objective[_Batch],
    batch: _Batch,
    optimizer: torch.optim.Optimizer,
    rate: float,
    clip: float,
) -> tuple[float, int]:
    for group in optimizer.param_groups:
        group["lr"] = rate
    total, count = objective.loss(model, batch)
    optimizer.zero_grad()
    (total / count).backward()  # type: ignore[no-untyped-call]
    if clip:
        nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    return total.item(), count


@torch.no_grad()
def validation_loss(model: nn.Module, objective: Objective[_Batch], documents: Documents, batch: int) -> float:
    """Nats for each scored token of the documents; their corruption is the same at every call."""
    corruption = stream(0, "validation corruption")
    total, count = 0.0, 0
    model.eval()
    for start in range(0, len(documents), batch):
        chosen = documents.take(np.arange(start, min(start + batch, len(documents))))
        loss, scored = objective.loss(model, objective.examples(chosen, corruption))
        total, count = total + loss.item(), count + scored
    model.train()
    return total / count


def snapshot(model: nn.Module) -> dict[str, Tensor]:
    """A copy of the weights by name."""
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
