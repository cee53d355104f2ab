"""The encoder-decoder Transformer: one stack reads a source, another writes a target and attends to the source.

Pre-norm, sinusoidal positions, and one embedding for source, target and output. What a token may see within its
own stream is decided by the batches: usually a source is bidirectional and a target causal (objectives 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from seedbed.batching import Mask, Packed, cross_layout
from seedbed.messages import require_positive
from seedbed.models.cache import Cache
from seedbed.models.cross_attention import CrossAttention
from seedbed.models.embedding import Embedding, select_rows
from seedbed.models.heads import HeadLayout, cross_heads
from seedbed.models.layers import FeedForward, Layer
from seedbed.models.mixers.attention import Mixer as SelfAttention
from seedbed.models.positions import position_vectors
from seedbed.models.sizes import require_deviations


@dataclass(frozen=True)
class Options:
    """The network's size, and the scale of its input."""

    d_model: int = 64  # width of a token's vector
    heads: int = 4  # of every attention layer, a divisor of d_model
    encoder_layers: int = 2  # each attention and feed-forward
    decoder_layers: int = 2  # each attention, attention to the source, and feed-forward
    d_ff: int = 256  # width inside a feed-forward layer
    embedding_std: float = 0.125  # of the initial embeddings
    scale_embedding: bool = True  # multiply input embeddings by sqrt(d_model)

    def __post_init__(self) -> None:
        """Check the ranges, and what depends on each other.

        Raises:
            ValueError: a size below 1, a deviation below 0, heads that do not divide d_model, or an odd d_model.
        """
        require_positive(
            d_model=self.d_model,
            heads=self.heads,
            encoder_layers=self.encoder_layers,
            decoder_layers=self.decoder_layers,
            d_ff=self.d_ff,
        )
        require_deviations(embedding_std=self.embedding_std)
        if self.d_model % self.heads:
            raise ValueError(f"heads: {self.heads} do not divide d_model, {self.d_model}")
        if self.d_model % 2:
            raise ValueError(f"sinusoidal positions need an even d_model, not {self.d_model}")


@dataclass(frozen=True, eq=False)
class State:
    """What a decoder remembers: the tokens so far, and the source, which does not change.

    Attributes:
        own: The keys and values of the tokens so far, by layer.
        source: Those of the source, by layer, [2, batch, heads, length, width] each.
        mask: Of one query over all places of its source.
    """

    own: tuple[Cache, ...]
    source: tuple[Float[Tensor, "2 batch heads length width"], ...]
    mask: Mask

    def take(self, rows: Int[Tensor, " rows"]) -> State:
        """The state of some of the documents."""
        own, source = (cache.take(rows) for cache in self.own), (memory[:, rows] for memory in self.source)
        return State(tuple(own), tuple(source), self.mask.take(rows))


class DecoderLayer(nn.Module):
    """Attention to the tokens so far, attention to the source, a feed-forward network: each pre-norm."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        """Make a layer; ``inner`` is the width inside the feed-forward network."""
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = SelfAttention(width, heads)
        self.cross_norm = nn.LayerNorm(width)
        self.cross = CrossAttention(width, heads)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width, inner)

    def forward(
        self,
        hidden: Float[Tensor, "tokens width"],
        layout: HeadLayout,
        source: Float[Tensor, "source_tokens width"],
        cross: HeadLayout,
    ) -> Float[Tensor, "tokens width"]:
        """The stream after this layer.

        Args:
            hidden: The stream.
            layout: Where it attends to itself.
            source: The encoder's vectors.
            cross: Where it attends to them.
        """
        hidden = hidden + self.attention(self.attention_norm(hidden), layout)
        hidden = hidden + self.cross(self.cross_norm(hidden), source, cross)
        return hidden + self.feed_forward(self.feed_forward_norm(hidden))  # type: ignore[no-any-return]

    def step(
        self,
        hidden: Float[Tensor, "batch width"],
        cache: Cache,
        source: Float[Tensor, "2 batch heads source_length head_width"],
        source_mask: Mask,
    ) -> tuple[Float[Tensor, "batch width"], Cache]:
        """The stream of one more token each after this layer, and the cache with it.

        Args:
            hidden: The stream.
            cache: Of the tokens so far.
            source: Keys and values of the source, from `CrossAttention.remember`.
            source_mask: Of one query over all places of its source.
        """
        attended, cache = self.attention.step(self.attention_norm(hidden), cache)
        hidden = hidden + attended
        hidden = hidden + self.cross.step(self.cross_norm(hidden), source, source_mask)
        return hidden + self.feed_forward(self.feed_forward_norm(hidden)), cache


class Model(nn.Module):
    """Embedding and positions, encoder and decoder with a final norm each, and the embedding again as output."""

    #: What an objective may be for the model to read it as it is meant.
    reads = ("encoder_decoder",)

    def __init__(self, options: Options, vocabulary: int) -> None:
        """Make a model without weights; `initialisation.fill` draws them."""
        super().__init__()
        width, heads, inner = options.d_model, options.heads, options.d_ff
        self.heads = heads
        self.embedding = Embedding(vocabulary, width, options.embedding_std, options.scale_embedding)
        self.encoder = nn.ModuleList(
            Layer(width, SelfAttention(width, heads), inner) for _ in range(options.encoder_layers)
        )
        self.encoder_norm = nn.LayerNorm(width)
        self.decoder = nn.ModuleList(DecoderLayer(width, heads, inner) for _ in range(options.decoder_layers))
        self.decoder_norm = nn.LayerNorm(width)

    def forward(
        self, source: Packed, target: Packed, scored: Int[Tensor, " scored"] | None = None
    ) -> Float[Tensor, "scored vocabulary"]:
        """Logits for what follows each token of the target, flat in document order.

        Args:
            source: What the encoder reads.
            target: What the decoder reads.
            scored: Indices of the target's flat tokens whose logits are asked for; None is all.

        Raises:
            ValueError: source and target are not of the same number of documents.
        """
        encoded, hidden = self._encode(source), self._embed(target.tokens, target.positions)
        layout = self._decoder_layers()[0].attention.arrange(target)
        cross = cross_heads(cross_layout(target, source), target.positions, source.positions, self.heads)
        for layer in self.decoder:
            hidden = layer(hidden, layout, encoded, cross)
        return self._logits(select_rows(hidden, scored))

    @torch.no_grad()
    def start(self, source: Packed) -> State:
        """The state before any token of the targets of some sources."""
        batch, layers = len(source.lengths), self._decoder_layers()
        length = int(source.lengths.max()) if batch else 0
        places = length * torch.arange(batch).repeat_interleave(source.lengths) + source.positions
        encoded = self._encode(source)
        own = tuple(layer.attention.start(batch) for layer in layers)
        memory = tuple(layer.cross.remember(encoded, places, (batch, length)) for layer in layers)
        return State(own, memory, Mask.of_lengths(source.lengths, length))

    @torch.no_grad()
    def step(self, tokens: Int[Tensor, " batch"], state: State) -> tuple[Float[Tensor, "batch vocabulary"], State]:
        """Logits for what follows one more token each, as `forward` gives them, and the state after it."""
        hidden, own = self._embed(tokens, torch.tensor([state.own[0].length])), []
        for layer, before, source in zip(self._decoder_layers(), state.own, state.source, strict=True):
            hidden, cache = layer.step(hidden, before, source, state.mask)
            own.append(cache)
        return self._logits(hidden), State(tuple(own), state.source, state.mask)

    def _encode(self, source: Packed) -> Float[Tensor, "source_tokens width"]:
        hidden, layers = self._embed(source.tokens, source.positions), list(self.encoder)
        layout = layers[0].mixer.arrange(source)  # type: ignore[union-attr, operator]
        for layer in layers:
            hidden = layer(hidden, layout)
        return self.encoder_norm(hidden)  # type: ignore[no-any-return]

    def _decoder_layers(self) -> list[DecoderLayer]:
        return list(self.decoder)  # type: ignore[arg-type]

    def _embed(
        self, tokens: Int[Tensor, " tokens"], positions: Int[Tensor, " tokens"]
    ) -> Float[Tensor, "tokens width"]:
        vectors = self.embedding(tokens)
        return vectors + position_vectors(positions, vectors.shape[1])  # type: ignore[no-any-return]

    def _logits(self, hidden: Float[Tensor, "tokens width"]) -> Float[Tensor, "tokens vocabulary"]:
        return self.embedding.logits(self.decoder_norm(hidden))
