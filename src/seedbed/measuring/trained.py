"""A trained model as an evaluation sees it: network, predictions, training corpus and log."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from seedbed.decoding.following import NextTokenScorer
from seedbed.documents import Documents
from seedbed.log import Log
from seedbed.models import initialisation
from seedbed.randomness import torch_stream


@dataclass(frozen=True)
class TrainedModel:
    """A network with the objective and the corpus it was trained on, and the log of its training.

    The objective turns what the network computes into predictions, so the methods below call those of the
    objective. The configuration ensures that an evaluation only calls methods that the objective has.
    ``initialisation`` is the seed of the stream of the initial weights; None if the training began with the
    weights of another run.
    """

    network: nn.Module
    objective: Any
    log: Log
    read_corpus: Callable[[], Documents]
    initialisation: int | None = None

    @cached_property
    def corpus(self) -> Documents:
        """The training corpus; it is read only when used, since few evaluations do and it can be large."""
        return self.read_corpus()

    def parameters(self) -> int:
        """How many numbers the training set."""
        return sum(parameter.numel() for parameter in self.network.parameters())

    def initial(self) -> nn.Module:
        """The network as it was before its training: drawn again, in memory of its own.

        Raises:
            ValueError: training began with the weights of another run.
        """
        if self.initialisation is None:
            raise ValueError("training began with another run's weights, not with new ones: name only other runs")
        network = copy.deepcopy(self.network)
        initialisation.fill(network, torch_stream(self.initialisation, "initialisation"))
        return network

    def log_probabilities(self, documents: Documents) -> NDArray[np.float64]:
        """As `context.Predictor` says."""
        return self._asked("log_probabilities", documents)  # type: ignore[no-any-return]

    def fill(self, documents: Documents, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """As `context.Filler` says."""
        return self._asked("fill", documents, places)  # type: ignore[no-any-return]

    def infill(
        self, documents: Documents, places: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """As `context.Infiller` says."""
        return self._asked("infill", documents, places, sizes)  # type: ignore[no-any-return]

    def continuation(self, documents: Documents, starts: NDArray[np.int64]) -> NDArray[np.float64]:
        """As `context.Continuer` says."""
        return self._asked("continuation", documents, starts)  # type: ignore[no-any-return]

    def beginning(self, documents: int) -> tuple[list[int], NextTokenScorer]:
        """As `context.Writer` says."""
        return self._asked("beginning", documents)  # type: ignore[no-any-return]

    def _asked(self, method: str, *arguments: object) -> Any:  # noqa: ANN401 - each method says its own
        self.network.eval()
        return getattr(self.objective, method)(self.network, *arguments)
