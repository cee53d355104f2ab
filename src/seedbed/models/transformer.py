"""The Transformer that predicts the next token: pre-norm, sinusoidal positions, tied output.

It knows packed documents and no objective; what a token may see is decided by the batch.
"""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from seedbed.batching import Packed
from seedbed.models.attention import Attention, HeadSlots, head_slots
from seedbed.models.embedding import Embedding, position_vectors


@dataclass(frozen=True)
class Options:
    """The network's size and the scale of its input."""

    d_model: int = 64  # width of a token's vector, even
    heads: int = 4  # of every attention layer, a divisor of d_model
    layers: int = 2  # each attention and feed-forward
    d_ff: int = 256  # width inside a feed-forward layer
    embedding_std: float = 0.125  # of the initial embeddings
    scale_embedding: bool = True  # multiply input embeddings by sqrt(d_model)

    def __post_init__(self) -> None:
        """Check how the sizes hang together.

        Raises:
            ValueError: d_model is odd or no multiple of the heads.
        """
        if self.d_model % 2:
            raise ValueError(f"sinusoidal positions need an even d_model, not {self.d_model}")
        if self.d_model % self.heads:
            raise ValueError(f"heads: {self.heads} do not divide d_model, {self.d_model}")


class Model(nn.Module):
    """Embedding and positions, layers, a final norm, and the embedding again as output."""

    def __init__(self, options: Options, vocabulary: int) -> None:
        """Make a model; its weights are `initialisation.fill`'s business."""
        super().__init__()
        width = options.d_model
        self.heads = options.heads
        self.embedding = Embedding(vocabulary, width, options.embedding_std, options.scale_embedding)
        self.layers = nn.ModuleList(Layer(width, options.heads, options.d_ff) for _ in range(options.layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, batch: Packed) -> Float[Tensor, "tokens vocabulary"]:
        """Logits for what follows each token, flat in document order."""
        embedded = self.embedding(batch.tokens)
        hidden = embedded + position_vectors(batch.positions, embedded.shape[1])
        slots = head_slots(batch.layout, batch.positions, self.heads)
        for layer in self.layers:
            hidden = layer(hidden, slots)
        return self.embedding.logits(self.norm(hidden))


class Layer(nn.Module):
    """Attention, then a feed-forward network with GELU, each on normed input and added to the stream."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        """Make a layer of the given widths."""
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.expand = nn.Linear(width, inner)
        self.contract = nn.Linear(inner, width)

    def forward(self, hidden: Float[Tensor, "tokens width"], slots: HeadSlots) -> Float[Tensor, "tokens width"]:
        """The stream after this layer."""
        hidden = hidden + self.attention(self.attention_norm(hidden), slots)
        return hidden + self.contract(F.gelu(self.expand(self.feed_forward_norm(hidden))))  # type: ignore[no-any-return]
