"""The Transformer that predicts the next token: by default attention, pre-norm, sinusoidal positions, tied output.

What mixes the tokens is a part of its own, a file of `models/mixers/`. The Transformer knows packed documents and
no objective; what a token may see is decided by the batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from seedbed.batching import Packed
from seedbed.messages import require_positive
from seedbed.models import mixers
from seedbed.models.embedding import Embedding
from seedbed.models.layers import Layer
from seedbed.models.positions import LearnedPositions, position_vectors
from seedbed.models.sizes import require_deviations

#: Options that name a file: the option, and the folder of the package that the file is in.
PARTS = {"mixer": "models/mixers"}

#: Position encodings at the input of the network; all others work inside a mixer.
_AT_INPUT = ("sinusoidal", "learned", "none")


@dataclass(frozen=True)
class Options:
    """The network's size, its variants, and the scale of its input."""

    d_model: int = 64  # width of a token's vector
    heads: int = 4  # of every mixer, a divisor of d_model
    layers: int = 2  # each a mixer and a feed-forward network
    d_ff: int = 256  # width inside a feed-forward layer
    positions: Literal["sinusoidal", "learned", "none", "rope", "alibi"] = "sinusoidal"  # position encoding
    max_positions: int = 512  # rows of the table of learned positions
    norm: Literal["pre", "post"] = "pre"  # before each part, with one more at the end; or after each part
    activation: Literal["gelu", "relu"] = "gelu"  # inside a feed-forward layer
    tied: bool = True  # the embedding is also the output; else an output of its own; neither has a bias
    embedding_std: float = 0.125  # of the initial embeddings
    scale_embedding: bool = True  # multiply input embeddings by sqrt(d_model)
    position_std: float = 0.02  # of the initial learned positions
    position_scale: float = 1.0  # what sinusoidal positions are multiplied with
    linear_std: float = (
        0.0  # of the initial weights of linear layers, whose biases are then 0; 0 is PyTorch's rule
    )
    mixer: str = "attention"  # what mixes the tokens of a document: a file of models/mixers/

    def __post_init__(self) -> None:
        """Check the ranges, and what depends on each other.

        Raises:
            ValueError: a size below 1, a deviation below 0, heads that do not divide d_model, an odd width for
                positions in pairs, a mixer that does not exist or that lacks the position encoding.
        """
        require_positive(
            d_model=self.d_model,
            heads=self.heads,
            layers=self.layers,
            d_ff=self.d_ff,
            max_positions=self.max_positions,
        )
        require_deviations(
            embedding_std=self.embedding_std, position_std=self.position_std, linear_std=self.linear_std
        )
        if self.d_model % self.heads:
            raise ValueError(f"heads: {self.heads} do not divide d_model, {self.d_model}")
        if self.positions == "sinusoidal" and self.d_model % 2:
            raise ValueError(f"sinusoidal positions need an even d_model, not {self.d_model}")
        with torch.device("meta"):  # the mixer checks what it is made of
            self.make_mixer()

    def make_mixer(self) -> mixers.Mixer:
        """The mixer of one layer.

        Raises:
            ValueError: it does not exist, lacks the position encoding, or the sizes do not fit.
        """
        kind = mixers.load(self.mixer)
        if self.positions in _AT_INPUT:
            return kind(self.d_model, self.heads)
        if self.positions not in kind.encodings:
            known = ", ".join([*_AT_INPUT, *kind.encodings])
            raise ValueError(
                f"positions: {self.positions} works inside attention, and the mixer is {self.mixer}: "
                f"expected one of {known}"
            )
        return kind(self.d_model, self.heads, self.positions)


class Model(nn.Module):
    """Embedding, positions if encoded at the input, layers, a final norm if these are pre-norm, and an output.

    The output is the embedding again, or a table of its own if it is not tied. What an objective may show the
    model (``reads``) is what its mixer reads.
    """

    def __init__(self, options: Options, vocabulary: int) -> None:
        """Make a model without weights; `initialisation.fill` draws them."""
        super().__init__()
        width, self.positions = options.d_model, options.positions
        self.position_scale, self.linear_std = options.position_scale, options.linear_std
        self.embedding = Embedding(vocabulary, width, options.embedding_std, options.scale_embedding)
        self.layers = nn.ModuleList(
            Layer(width, options.make_mixer(), options.d_ff, options.norm, options.activation)
            for _ in range(options.layers)
        )
        self.reads = self._layers()[0].mixer.reads
        self.norm = nn.LayerNorm(width) if options.norm == "pre" else nn.Identity()
        self.output = None if options.tied else nn.Linear(width, vocabulary, bias=False)
        # Last, so that a seed draws the same weights for the rest with every position encoding.
        learned = options.positions == "learned"
        self.table = LearnedPositions(options.max_positions, width, options.position_std) if learned else None

    def forward(
        self, batch: Packed, scored: Int[Tensor, " scored"] | None = None
    ) -> Float[Tensor, "scored vocabulary"]:
        """Logits for what follows each token, flat in document order.

        Args:
            batch: What is read.
            scored: Indices of the flat tokens whose logits are asked for; None is all.

        Raises:
            ValueError: a document is longer than the table of learned positions.
        """
        hidden = self._embed(batch.tokens, batch.positions)
        arranged, (*first, last) = self._layers()[0].mixer.arrange(batch), self.layers
        for layer in first:
            hidden = layer(hidden, arranged)
        return self._logits(last(hidden, arranged, scored))  # what follows the mixer is for each token alone

    def start(self, batch: int) -> list[mixers.State]:
        """The state before any token of ``batch`` documents side by side.

        Returns:
            The position of each document's next token, [batch], and then the state of each layer's mixer.
        """
        return [torch.zeros(batch, dtype=torch.long), *(layer.mixer.start(batch) for layer in self._layers())]

    @torch.no_grad()
    def step(
        self, tokens: Int[Tensor, " batch"], state: list[mixers.State]
    ) -> tuple[Float[Tensor, "batch vocabulary"], list[mixers.State]]:
        """Logits for what follows one more token each, as the causal `forward` gives them, and the state after it.

        Raises:
            ValueError: the document grows longer than the table of learned positions.
        """
        positions, *states = state
        hidden, after = self._embed(tokens, positions), [positions + 1]
        for layer, before in zip(self._layers(), states, strict=True):
            hidden, now = layer.step(hidden, before)
            after.append(now)
        return self._logits(hidden), after

    def _layers(self) -> list[Layer]:
        return list(self.layers)  # type: ignore[arg-type]

    def _embed(
        self, tokens: Int[Tensor, " tokens"], positions: Int[Tensor, " tokens"]
    ) -> Float[Tensor, "tokens width"]:
        """The tokens' vectors, with those of their positions if these are encoded at the input."""
        hidden = self.embedding(tokens)
        if self.positions == "sinusoidal":
            hidden = torch.add(hidden, position_vectors(positions, hidden.shape[1]), alpha=self.position_scale)
        return hidden if self.table is None else hidden + self.table(positions)  # type: ignore[no-any-return]

    def _logits(self, hidden: Float[Tensor, "tokens width"]) -> Float[Tensor, "tokens vocabulary"]:
        hidden = self.norm(hidden)
        return self.embedding.logits(hidden) if self.output is None else self.output(hidden)
