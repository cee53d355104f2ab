"""What follows documents that a causal network writes, one step a token: nothing is read twice."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from seedbed.decoding.following import Numbers
from seedbed.documents import Tokens

#: What a network remembers of documents side by side: a tensor with a row a document, a list or tuple of states,
#: or whatever has ``take(rows)``.
State = Any


class Network(Protocol):
    """Whatever reads documents side by side, one token of each at a time."""

    def step(self, tokens: Int[Tensor, " batch"], state: State) -> tuple[Float[Tensor, "batch vocabulary"], State]:
        """Logits for what follows one more token each, and the state after it."""
        ...


class Steps:
    """A `following.Following` that remembers what it has read.

    Documents that grow no more are dropped once they are half of those it remembers. Dropping copies the memory of
    the others, so that all times together copy no more documents than there were.
    """

    def __init__(self, network: Network, state: State, documents: int) -> None:
        """Begin with the state before any token of so many documents."""
        self.network, self.state = network, state
        self.remembered, self.read = np.arange(documents), 0

    def __call__(self, growing: Tokens, texts: Tokens) -> Numbers:
        """[growing, vocabulary], the logits of what follows, in double precision.

        Args:
            growing: [growing], ascending indices of the documents.
            texts: [growing, length], all their tokens so far, at least one of them new.
        """
        places = np.searchsorted(self.remembered, growing)
        if 2 * len(growing) <= len(self.remembered):
            self.state = taken(self.state, torch.from_numpy(places))
            self.remembered, places = growing, np.arange(len(growing))
        tokens = np.zeros((len(self.remembered), texts.shape[1]), np.int64)
        tokens[places] = texts
        for column in torch.from_numpy(tokens).T[self.read :]:
            logits, self.state = self.network.step(column, self.state)
        self.read = texts.shape[1]
        return np.asarray(logits.double().numpy()[places])


def taken(state: State, rows: Int[Tensor, " rows"]) -> State:
    """The state of some of the documents."""
    if isinstance(state, list | tuple):
        return type(state)(taken(part, rows) for part in state)
    return state[rows] if isinstance(state, Tensor) else state.take(rows)
