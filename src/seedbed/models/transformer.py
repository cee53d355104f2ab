"""The Transformer that predicts the next token: by default pre-norm, sinusoidal positions, tied output.

It knows packed documents and no objective; what a token may see is decided by the batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from seedbed.batching import Mask, Packed
from seedbed.messages import require_positive
from seedbed.models.attention import HeadSlots, head_slots
from seedbed.models.cache import State
from seedbed.models.embedding import Embedding
from seedbed.models.layers import Layer
from seedbed.models.positions import LearnedPositions, distance_bias, position_vectors, turns
from seedbed.models.sizes import require_deviations


@dataclass(frozen=True)
class Options:
    """The network's size, its variants, and the scale of its input."""

    d_model: int = 64  # width of a token's vector
    heads: int = 4  # of every attention layer, a divisor of d_model
    layers: int = 2  # each attention and feed-forward
    d_ff: int = 256  # width inside a feed-forward layer
    positions: Literal["sinusoidal", "learned", "none", "rope", "alibi"] = "sinusoidal"  # how a place is told
    max_positions: int = 512  # rows of the table of learned positions
    norm: Literal["pre", "post"] = "pre"  # before each part, with one more at the end; or behind each, without
    activation: Literal["gelu", "relu"] = "gelu"  # inside a feed-forward layer
    tied: bool = True  # the embedding is also the output; else an output of its own; neither has a bias
    embedding_std: float = 0.125  # of the initial embeddings
    scale_embedding: bool = True  # multiply input embeddings by sqrt(d_model)
    position_std: float = 0.02  # of the initial learned positions
    position_scale: float = 1.0  # what sinusoidal positions are multiplied with
    linear_std: float = (
        0.0  # of the initial weights of linear layers, whose biases are then 0; 0 is PyTorch's rule
    )

    def __post_init__(self) -> None:
        """Check what hangs together.

        Raises:
            ValueError: a size below 1, a deviation below 0, heads that do not divide d_model, or an odd width for
                positions in pairs.
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
        if self.positions == "rope" and self.d_model // self.heads % 2:
            raise ValueError(f"rope needs heads of an even width, not {self.d_model // self.heads}")


class Model(nn.Module):
    """Embedding, positions if told at the input, layers, a final norm if these are pre-norm, and an output.

    The output is the embedding again, or a table of its own if it is not tied.
    """

    #: What an objective may be for the model to read it as it is meant.
    reads = ("causal", "prefix", "bidirectional")

    def __init__(self, options: Options, vocabulary: int) -> None:
        """Make a model; its weights are `initialisation.fill`'s business."""
        super().__init__()
        width = options.d_model
        self.heads, self.positions = options.heads, options.positions
        self.position_scale, self.linear_std = options.position_scale, options.linear_std
        self.embedding = Embedding(vocabulary, width, options.embedding_std, options.scale_embedding)
        self.layers = nn.ModuleList(
            Layer(width, options.heads, options.d_ff, options.norm, options.activation)
            for _ in range(options.layers)
        )
        self.norm = nn.LayerNorm(width) if options.norm == "pre" else nn.Identity()
        self.output = None if options.tied else nn.Linear(width, vocabulary, bias=False)
        # Last, so that a seed draws the same weights for the rest whatever tells the positions.
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
        hidden = self._placed(batch.tokens, batch.positions)
        slots, (*first, last) = self._slots(batch), self.layers
        for layer in first:
            hidden = layer(hidden, slots)
        return self._logits(last(hidden, slots, scored))  # what stands behind attention is for each token alone

    def start(self, batch: int) -> State:
        """The state before any token, for so many documents side by side."""
        return State.empty(self.embedding.weight, len(self.layers), batch, self.heads, self._head_width())

    @torch.no_grad()
    def step(self, tokens: Int[Tensor, " batch"], state: State) -> tuple[Float[Tensor, "batch vocabulary"], State]:
        """Logits for what follows one more token each, as the causal `forward` gives them, and the state after it.

        Raises:
            ValueError: the document grows longer than the table of learned positions.
        """
        place = torch.tensor([state.length])
        hidden, mask = self._placed(tokens, place), self._mask(place)
        turn = turns(place, self._head_width()) if self.positions == "rope" else None
        state = state.longer()
        for index, layer in enumerate(self.layers):
            assert isinstance(layer, Layer)
            hidden = layer.step(hidden, state.layer(index), mask, turn)
        return self._logits(hidden), state

    def _placed(
        self, tokens: Int[Tensor, " tokens"], positions: Int[Tensor, " places"]
    ) -> Float[Tensor, "tokens width"]:
        """The tokens' vectors, with those of their positions if these are told at the input."""
        hidden = self.embedding(tokens)
        if self.positions == "sinusoidal":
            hidden = torch.add(hidden, position_vectors(positions, hidden.shape[1]), alpha=self.position_scale)
        return hidden if self.table is None else hidden + self.table(positions)  # type: ignore[no-any-return]

    def _slots(self, batch: Packed) -> HeadSlots:
        """Where attention finds the heads, with positions if these are told there."""
        slots = head_slots(batch.layout, batch.positions, self.heads)
        if self.positions == "rope":
            return slots.rotated(batch.positions, self._head_width())
        return slots.biased() if self.positions == "alibi" else slots

    def _mask(self, place: Int[Tensor, " 1"]) -> Mask:
        """Of one query, which sees every place up to its own."""
        seen = torch.arange(int(place) + 1)
        if self.positions == "alibi":
            return Mask(distance_bias(place[:, None], seen, self.heads), None)
        return Mask(torch.zeros(1, 1, 1, len(seen)), None)

    def _head_width(self) -> int:
        return self.embedding.weight.shape[1] // self.heads

    def _logits(self, hidden: Float[Tensor, "tokens width"]) -> Float[Tensor, "tokens vocabulary"]:
        hidden = self.norm(hidden)
        return self.embedding.logits(hidden) if self.output is None else self.output(hidden)
