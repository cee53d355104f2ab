"""The layers of a Transformer: of a stack that looks at itself, and of a decoder that looks at a source too.

Pre-norm, the stream ``x`` becomes ``x + f(norm(x))``; post-norm ``norm(x + f(x))`` (Vaswani et al. 2017, section
3.1), so that the stream is normed at the end of every layer and needs no final norm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from jaxtyping import Complex, Float, Int
from torch import Tensor, nn

from seedbed.batching import Mask
from seedbed.models.activations import ACTIVATIONS
from seedbed.models.attention import Attention, CrossAttention, HeadSlots
from seedbed.models.embedding import chosen


class FeedForward(nn.Module):
    """Two linear layers with an activation between, for each token alone."""

    def __init__(self, width: int, inner: int, activation: Literal["gelu", "relu"] = "gelu") -> None:
        """Make the layer; ``inner`` is the width between the two."""
        super().__init__()
        self.activation = ACTIVATIONS[activation]
        self.expand = nn.Linear(width, inner)
        self.contract = nn.Linear(inner, width)

    def forward(self, hidden: Float[Tensor, "tokens width"]) -> Float[Tensor, "tokens width"]:
        """The tokens' vectors after it."""
        return self.contract(self.activation(self.expand(hidden)))  # type: ignore[no-any-return]


class Layer(nn.Module):
    """Attention, then a feed-forward network, each added to the stream and normed."""

    def __init__(
        self,
        width: int,
        heads: int,
        inner: int,
        norm: Literal["pre", "post"] = "pre",
        activation: Literal["gelu", "relu"] = "gelu",
    ) -> None:
        """Make a layer; ``inner`` is the width inside the feed-forward network."""
        super().__init__()
        self.post = norm == "post"
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width, inner, activation)

    def forward(
        self, hidden: Float[Tensor, "tokens width"], slots: HeadSlots, kept: Int[Tensor, " kept"] | None = None
    ) -> Float[Tensor, "kept width"]:
        """The stream after this layer.

        Args:
            hidden: The stream.
            slots: Where it attends to itself.
            kept: Indices of the tokens whose stream goes on; None is all.
        """
        return self._through(hidden, lambda vectors: self.attention(vectors, slots), kept)

    def step(
        self,
        hidden: Float[Tensor, "batch width"],
        memory: Float[Tensor, "2 batch heads length head_width"],
        mask: Mask,
        turns: Complex[Tensor, "1 pairs"] | None,
    ) -> Float[Tensor, "batch width"]:
        """The stream of one more token each after this layer; the arguments are those of `Attention.step`."""
        return self._through(hidden, lambda vectors: self.attention.step(vectors, memory, mask, turns))

    def _through(self, hidden: Tensor, attend: Callable[[Tensor], Tensor], kept: Tensor | None = None) -> Tensor:
        hidden = chosen(self._add(hidden, self.attention_norm, attend), kept)
        return self._add(hidden, self.feed_forward_norm, self.feed_forward)

    def _add(self, hidden: Tensor, norm: nn.Module, part: Callable[[Tensor], Tensor]) -> Tensor:
        return norm(hidden + part(hidden)) if self.post else hidden + part(norm(hidden))


class DecoderLayer(nn.Module):
    """Attention to the tokens so far, attention to the source, a feed-forward network: each pre-norm."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        """Make a layer; ``inner`` is the width inside the feed-forward network."""
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.cross_norm = nn.LayerNorm(width)
        self.cross = CrossAttention(width, heads)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width, inner)

    def forward(
        self,
        hidden: Float[Tensor, "tokens width"],
        slots: HeadSlots,
        source: Float[Tensor, "source_tokens width"],
        cross: HeadSlots,
    ) -> Float[Tensor, "tokens width"]:
        """The stream after this layer.

        Args:
            hidden: The stream.
            slots: Where it attends to itself.
            source: The encoder's vectors.
            cross: Where it attends to them.
        """
        hidden = hidden + self.attention(self.attention_norm(hidden), slots)
        hidden = hidden + self.cross(self.cross_norm(hidden), source, cross)
        return hidden + self.feed_forward(self.feed_forward_norm(hidden))  # type: ignore[no-any-return]

    def step(
        self,
        hidden: Float[Tensor, "batch width"],
        memory: Float[Tensor, "2 batch heads length head_width"],
        mask: Mask,
        source: Float[Tensor, "2 batch heads source_length head_width"],
        source_mask: Mask,
    ) -> Float[Tensor, "batch width"]:
        """The stream of one more token each after this layer.

        Args:
            hidden: The stream.
            memory: As `Attention.step` has it.
            mask: Of one query over all places so far.
            source: Keys and values of the source, from `CrossAttention.remember`.
            source_mask: Of one query over all places of its source.
        """
        hidden = hidden + self.attention.step(self.attention_norm(hidden), memory, mask, None)
        hidden = hidden + self.cross.step(self.cross_norm(hidden), source, source_mask)
        return hidden + self.feed_forward(self.feed_forward_norm(hidden))  # type: ignore[no-any-return]
