"""The layer of a Transformer: a mixer, which moves information between tokens, then a feed-forward network.

Pre-norm, the stream ``x`` becomes ``x + f(norm(x))``; post-norm ``norm(x + f(x))`` (Vaswani et al. 2017, section
3.1), so that the stream is normed at the end of every layer and needs no final norm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from jaxtyping import Float, Int
from torch import Tensor, nn

from seedbed.models.activations import ACTIVATIONS
from seedbed.models.embedding import select_rows
from seedbed.models.mixers import Mixer, State


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
    """A mixer, then a feed-forward network, each added to the stream and normed."""

    def __init__(
        self,
        width: int,
        mixer: Mixer,
        inner: int,
        norm: Literal["pre", "post"] = "pre",
        activation: Literal["gelu", "relu"] = "gelu",
    ) -> None:
        """Make a layer; ``inner`` is the width inside the feed-forward network."""
        super().__init__()
        self.post = norm == "post"
        self.mixer_norm = nn.LayerNorm(width)
        self.mixer = mixer
        self.feed_forward_norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width, inner, activation)

    def forward(
        self,
        hidden: Float[Tensor, "tokens width"],
        arranged: Any,  # noqa: ANN401 - each mixer has its own
        kept: Int[Tensor, " kept"] | None = None,
    ) -> Float[Tensor, "kept width"]:
        """The stream after this layer.

        Args:
            hidden: The stream.
            arranged: Where the mixer finds the tokens, from `Mixer.arrange`.
            kept: Indices of the tokens whose stream goes on; None is all.
        """
        mixed = self._add(hidden, self.mixer_norm, lambda vectors: self.mixer(vectors, arranged))
        return self._add(select_rows(mixed, kept), self.feed_forward_norm, self.feed_forward)

    def step(
        self, hidden: Float[Tensor, "batch width"], state: State
    ) -> tuple[Float[Tensor, "batch width"], State]:
        """The stream of one more token each after this layer, and the mixer's next state."""
        mixed, state = self.mixer.step(hidden if self.post else self.mixer_norm(hidden), state)
        hidden = self.mixer_norm(hidden + mixed) if self.post else hidden + mixed
        return self._add(hidden, self.feed_forward_norm, self.feed_forward), state

    def _add(self, hidden: Tensor, norm: nn.Module, part: Callable[[Tensor], Tensor]) -> Tensor:
        return norm(hidden + part(hidden)) if self.post else hidden + part(norm(hidden))
