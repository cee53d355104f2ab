"""The recurrent network that predicts the next token: embedding, recurrent layers, linear output.

It reads a document from left to right, also where a prefix would allow more. It knows no objective.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from seedbed.batching import Packed
from seedbed.messages import require_positive
from seedbed.models.embedding import Embedding
from seedbed.models.recurrence import Recurrence, State
from seedbed.models.sizes import require_deviations


@dataclass(frozen=True)
class Options:
    """The cell, its sizes and what its weights begin with."""

    cell: Literal["rnn", "gru", "lstm"] = "gru"  # Elman's network, gated recurrent unit, long short-term memory
    embedding: int = 64  # width of a token's vector
    hidden: int = 140  # width of a state
    layers: int = 1  # each reads the hidden states of the one below
    two_biases: bool = True  # as torch.nn has them; False leaves out the one beside the hidden weights
    forget_bias: float = 0.0  # added to the drawn bias of the LSTM's forget gate
    tied: bool = False  # the embedding is also the output, without a bias; else an output of its own, with one
    embedding_std: float = 1.0  # of the initial embeddings

    def __post_init__(self) -> None:
        """Check the ranges, and what depends on each other.

        Raises:
            ValueError: a size below 1, a deviation below 0, a forget gate that the cell lacks, or a tied output of
                another width.
        """
        require_positive(embedding=self.embedding, hidden=self.hidden, layers=self.layers)
        require_deviations(embedding_std=self.embedding_std)
        if self.forget_bias and self.cell != "lstm":
            raise ValueError(
                f"forget_bias is {self.forget_bias}, but only the lstm has a forget gate, no {self.cell}"
            )
        if self.tied and self.embedding != self.hidden:
            raise ValueError(
                f"a tied output needs embedding and hidden to be equal, not {self.embedding} and {self.hidden}"
            )


class Model(nn.Module):
    """Embedding, recurrent layers, and a linear output or the embedding again."""

    #: What an objective may be for the model to read it as it is meant.
    reads = ("causal",)

    def __init__(self, options: Options, vocabulary: int) -> None:
        """Make a model without weights; `initialisation.fill` draws them."""
        super().__init__()
        self.embedding = Embedding(vocabulary, options.embedding, options.embedding_std, scale=False)
        self.layers = nn.ModuleList(
            Recurrence(options.cell, width, options.hidden, options.two_biases, options.forget_bias)
            for width in [options.embedding, *[options.hidden] * (options.layers - 1)]
        )
        self.output = None if options.tied else nn.Linear(options.hidden, vocabulary)

    def forward(
        self, batch: Packed, scored: Int[Tensor, " scored"] | None = None
    ) -> Float[Tensor, "scored vocabulary"]:
        """Logits for what follows each token, flat in document order.

        Args:
            batch: What is read.
            scored: Indices of the flat tokens whose logits are asked for; None is all.
        """
        hidden = self.embedding(batch.tokens[batch.time_steps.order])
        for layer in self.layers:
            hidden = layer(hidden, batch.time_steps)
        if scored is None:
            return self._logits(hidden).index_select(0, batch.time_steps.inverse)
        return self._logits(hidden.index_select(0, batch.time_steps.inverse[scored]))

    def start(self, batch: int) -> list[State]:
        """The states of all layers before any token, for ``batch`` documents side by side."""
        return [layer.start(batch) for layer in self._layers()]

    @torch.no_grad()
    def step(
        self, tokens: Int[Tensor, " batch"], states: list[State]
    ) -> tuple[Float[Tensor, "batch vocabulary"], list[State]]:
        """Logits for what follows one more token each, as `forward` gives them, and the states after it."""
        hidden, after = self.embedding(tokens), []
        for layer, state in zip(self._layers(), states, strict=True):
            after.append(layer.step(hidden, state))
            hidden = after[-1][0]
        return self._logits(hidden), after

    def _layers(self) -> list[Recurrence]:
        return list(self.layers)  # type: ignore[arg-type]

    def _logits(self, hidden: Float[Tensor, "tokens hidden"]) -> Float[Tensor, "tokens vocabulary"]:
        return self.embedding.logits(hidden) if self.output is None else self.output(hidden)
