"""The log of a training. The training loop writes it, it is stored with the weights, and evaluations read it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass
class Log:
    """What happened in a training; every list has one entry for each step.

    Attributes:
        epoch: The epoch, from 1.
        learning_rate: The learning rate of the step.
        training_loss: The loss on the step's batch, in nats per scored token.
        tokens: The number of scored tokens up to and including this step.
        validation_loss: The loss in nats per scored token, at the last step of an epoch; NaN at other steps.
        selected: True at the one step whose weights were kept.
    """

    epoch: list[int] = field(default_factory=list)
    learning_rate: list[float] = field(default_factory=list)
    training_loss: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    selected: list[bool] = field(default_factory=list)

    def add(self, epoch: int, rate: float, total: float, count: int) -> None:
        """Record one step.

        Args:
            epoch: The epoch, from 1.
            rate: The learning rate.
            total: The summed loss in nats.
            count: The number of scored tokens.
        """
        self.epoch.append(epoch)
        self.learning_rate.append(rate)
        self.training_loss.append(total / count)
        self.tokens.append((self.tokens[-1] if self.tokens else 0) + count)
        self.validation_loss.append(math.nan)
        self.selected.append(False)
