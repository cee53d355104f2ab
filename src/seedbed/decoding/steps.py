"""Score the next token with a causal network that keeps its state, so that it reads each token once."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from seedbed.decoding.following import Numbers
from seedbed.documents import Tokens

#: What a network remembers of a batch of documents: a tensor with one row for each document, a list or tuple of
#: states, or an object with a method ``take(rows)``.
NetworkState = Any


class Network(Protocol):
    """A network that reads one token of each document at a time."""

    def step(
        self, tokens: Int[Tensor, " batch"], state: NetworkState
    ) -> tuple[Float[Tensor, "batch vocabulary"], NetworkState]:
        """Read one more token of each document; return the logits of the next token, and the new state."""
        ...


class StepwiseScorer:
    """A `following.NextTokenScorer` that keeps the state of the network between steps.

    Finished documents are dropped when they are at least half of the documents in the state. Dropping copies the
    states of the others; in total, no more states are copied than there were documents.
    """

    def __init__(self, network: Network, state: NetworkState, documents: int) -> None:
        """Begin with the state of this number of documents before any token is read."""
        self.network, self.state = network, state
        self.remembered, self.read = np.arange(documents), 0

    def __call__(self, growing: Tokens, texts: Tokens) -> Numbers:
        """[growing, vocabulary], the logits of the next tokens, in double precision.

        Args:
            growing: [growing], ascending indices of the documents.
            texts: [growing, length], all their tokens so far; at least one of each is new.
        """
        places = np.searchsorted(self.remembered, growing)
        if 2 * len(growing) <= len(self.remembered):
            self.state = take_rows(self.state, torch.from_numpy(places))
            self.remembered, places = growing, np.arange(len(growing))
        tokens = np.zeros((len(self.remembered), texts.shape[1]), np.int64)
        tokens[places] = texts
        for column in torch.from_numpy(tokens).T[self.read :]:
            logits, self.state = self.network.step(column, self.state)
        self.read = texts.shape[1]
        return np.asarray(logits.double().numpy()[places])


def take_rows(state: NetworkState, rows: Int[Tensor, " rows"]) -> NetworkState:
    """The state of the documents in these rows."""
    if isinstance(state, list | tuple):
        return type(state)(take_rows(part, rows) for part in state)
    return state[rows] if isinstance(state, Tensor) else state.take(rows)
