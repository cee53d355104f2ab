"""What a training read and what its log says: sizes, curves, the chosen epoch, divergence (objectives 5.1)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seedbed.measuring.context import Context, TaskContext
from seedbed.measuring.trained import TrainedModel
from seedbed.observations import Observation

NEEDS = ("network", "log", "corpus")
SOURCE = "any"


@dataclass(frozen=True)
class Options:
    """Nothing to choose."""


def evaluate(model: TrainedModel, context: Context | TaskContext, options: Options) -> Iterator[Observation]:
    """The observations of one training.

    ``corpus_tokens`` counts every token of the seed's training corpus once. On a language, ``corpus_withheld``
    counts those in sentences that training should never show. ``tokens`` counts the scored ones, again in each
    epoch. By epoch: ``training_loss`` is the mean over the epoch's tokens, each with the weights before its step,
    ``validation_loss`` the loss of the weights at its end, ``learning_rate`` the rate of its last step.
    ``final_validation_loss`` is that of the last epoch, and ``last_fall`` by how much the last epoch lowered it;
    after a single epoch that is NaN.
    ``diverged`` is 1 if the training ended with a loss that is not finite, of a step or, after the last step, of
    the validation documents.
    """
    log, corpus = model.log, model.corpus
    yield Observation("corpus_documents", len(corpus), unit="count")
    yield Observation("corpus_tokens", len(corpus.tokens), unit="count")
    if isinstance(context, Context):
        yield Observation("corpus_withheld", int(context.language.withheld_tokens(corpus).sum()), unit="count")
    yield Observation("longest_document", int(corpus.lengths.max(initial=0)), unit="token")
    # If a step's loss stopped the training within an epoch, the validation loss of that epoch is NaN as well.
    diverged = not (math.isfinite(log.training_loss[-1]) and math.isfinite(log.validation_loss[-1]))
    yield Observation("parameters", model.parameters(), unit="count")
    yield Observation("tokens", log.tokens[-1], unit="count")
    yield Observation("diverged", float(diverged), unit="share")
    chosen = log.epoch[log.selected.index(True)] if any(log.selected) else math.nan
    yield Observation("best_epoch", chosen, unit="epoch")
    epochs = np.array(log.epoch)
    scored = np.diff(log.tokens, prepend=0)
    losses = np.array(log.training_loss)
    ends = {epoch: int(np.flatnonzero(epochs == epoch)[-1]) for epoch in sorted(set(log.epoch))}
    validated = [log.validation_loss[last] for last in ends.values()]
    yield Observation("final_validation_loss", validated[-1], unit="nat")
    fall = validated[-2] - validated[-1] if len(validated) > 1 else math.nan
    yield Observation("last_fall", fall, unit="nat")
    for epoch, last in ends.items():
        steps = epochs == epoch
        condition = {"epoch": epoch}
        loss = float(losses[steps] @ scored[steps] / scored[steps].sum())
        yield Observation("training_loss", loss, condition, "nat", int(scored[steps].sum()))
        yield Observation("validation_loss", log.validation_loss[last], condition, "nat")
        yield Observation("learning_rate", log.learning_rate[last], condition)
