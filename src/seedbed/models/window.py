"""The window model: the next token from the last few alone (Bengio et al. 2003).

The vectors of the last tokens are concatenated and go through a network of two layers. The model does not see what
lies further back; it sees all that lies in the window, also across the end of a sentence, `<bos>` included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from seedbed.batching import Packed
from seedbed.messages import require_positive
from seedbed.models.activations import ACTIVATIONS
from seedbed.models.embedding import Embedding, select_rows
from seedbed.models.sizes import require_deviations


@dataclass(frozen=True)
class Options:
    """The window's and the network's sizes, and the scale of its input."""

    words: int = 5  # tokens in the window, the newest included
    embedding: int = 64  # width of a token's vector
    hidden: int = 238  # width between the two layers
    activation: Literal["tanh", "gelu", "relu"] = "tanh"  # between the two layers
    embedding_std: float = 1.0  # of the initial embeddings

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, or a deviation below 0.
        """
        require_positive(words=self.words, embedding=self.embedding, hidden=self.hidden)
        require_deviations(embedding_std=self.embedding_std)


class Model(nn.Module):
    """Embedding and two linear layers.

    Before the start of a document the window sees zeros. A learned vector instead would add nothing: how many
    slots are empty says how far back `<bos>` is, which the model sees anyway.
    """

    #: What an objective may be for the model to read it as it is meant.
    reads = ("causal",)

    def __init__(self, options: Options, vocabulary: int) -> None:
        """Make a model without weights; `initialisation.fill` draws them."""
        super().__init__()
        self.words, self.empty = options.words, vocabulary
        self.activation = ACTIVATIONS[options.activation]
        self.embedding = Embedding(vocabulary, options.embedding, options.embedding_std, scale=False)
        self.expand = nn.Linear(options.words * options.embedding, options.hidden)
        self.output = nn.Linear(options.hidden, vocabulary)

    def forward(
        self, batch: Packed, scored: Int[Tensor, " scored"] | None = None
    ) -> Float[Tensor, "scored vocabulary"]:
        """Logits for what follows each token, flat in document order.

        Args:
            batch: What is read.
            scored: Indices of the flat tokens whose logits are asked for; None is all.
        """
        back = torch.arange(self.words - 1, -1, -1)
        place = select_rows(torch.arange(len(batch.tokens)), scored)[:, None]
        there = select_rows(batch.positions, scored)[:, None] >= back
        seen = batch.tokens[(place - back).clamp(min=0)].where(there, self.empty)
        return self._logits(seen)

    def start(self, batch: int) -> Int[Tensor, "batch words"]:
        """Empty windows, for ``batch`` documents side by side."""
        return torch.full((batch, self.words), self.empty)

    @torch.no_grad()
    def step(
        self, tokens: Int[Tensor, " batch"], windows: Int[Tensor, "batch words"]
    ) -> tuple[Float[Tensor, "batch vocabulary"], Int[Tensor, "batch words"]]:
        """Logits for what follows one more token each, as `forward` gives them, and the windows after it."""
        windows = torch.cat([windows[:, 1:], tokens[:, None]], 1)
        return self._logits(windows), windows

    def _logits(self, windows: Int[Tensor, "tokens words"]) -> Float[Tensor, "tokens vocabulary"]:
        table = F.pad(self.embedding.weight, (0, 0, 0, 1))  # its last row is what an empty slot holds
        return self.output(self.activation(self.expand(F.embedding(windows, table).flatten(1))))  # type: ignore[no-any-return]
