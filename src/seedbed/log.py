"""The log of a training: written by the training loop, stored beside the weights, read by evaluations."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass
class Log:
    """What happened in a training, one entry a step in every list.

    Attributes:
        epoch: From 1.
        learning_rate: The rate that the step used.
        training_loss: Nats a scored token of the step's batch.
        tokens: Scored tokens up to and with this step.
        validation_loss: Nats a scored token, at the last step of an epoch; NaN elsewhere.
        selected: True at the one step whose weights were kept.
    """

    epoch: list[int] = field(default_factory=list)
    learning_rate: list[float] = field(default_factory=list)
    training_loss: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    selected: list[bool] = field(default_factory=list)

    def add(self, epoch: int, rate: float, total: float, count: int) -> None:
        """Note one step."""
        self.epoch.append(epoch)
        self.learning_rate.append(rate)
        self.training_loss.append(total / count)
        self.tokens.append((self.tokens[-1] if self.tokens else 0) + count)
        self.validation_loss.append(math.nan)
        self.selected.append(False)
