"""The encoder-decoder Transformer: one stack reads a source, another writes a target and looks at what was read.

Pre-norm, sinusoidal positions, and one embedding for source, target and output. What a token may see within its
own stream is decided by the batches: by habit a source is bidirectional and a target causal (objectives 4.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from seedbed.batching import Mask, Packed, across
from seedbed.messages import require_positive
from seedbed.models import cache
from seedbed.models.attention import cross_slots, head_slots
from seedbed.models.embedding import Embedding, chosen
from seedbed.models.layers import DecoderLayer, Layer
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
        """Check what hangs together.

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
    """What a decoder remembers: the tokens so far, and the source, which stays.

    Attributes:
        own: Keys and values of the tokens so far.
        source: Those of the source, for each layer [2, batch, heads, length, width].
        mask: Of one query over all places of its source.
    """

    own: cache.State
    source: tuple[Float[Tensor, "2 batch heads length width"], ...]
    mask: Mask

    def take(self, rows: Int[Tensor, " rows"]) -> State:
        """The state of some of the documents."""
        source = tuple(memory[:, rows] for memory in self.source)
        return State(self.own.take(rows), source, self.mask.take(rows))


class Model(nn.Module):
    """Embedding and positions, encoder and decoder with a final norm each, and the embedding again as output."""

    #: What an objective may be for the model to read it as it is meant.
    reads = ("encoder_decoder",)

    def __init__(self, options: Options, vocabulary: int) -> None:
        """Make a model; its weights are `initialisation.fill`'s business."""
        super().__init__()
        width, heads, inner = options.d_model, options.heads, options.d_ff
        self.heads = heads
        self.embedding = Embedding(vocabulary, width, options.embedding_std, options.scale_embedding)
        self.encoder = nn.ModuleList(Layer(width, heads, inner) for _ in range(options.encoder_layers))
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
        read, hidden = self._read(source), self._placed(target.tokens, target.positions)
        slots = head_slots(target.layout, target.positions, self.heads)
        cross = cross_slots(across(target, source), target.positions, source.positions, self.heads)
        for layer in self.decoder:
            hidden = layer(hidden, slots, read, cross)
        return self._logits(chosen(hidden, scored))

    @torch.no_grad()
    def start(self, source: Packed) -> State:
        """The state before any token of the targets of some sources."""
        batch, width = len(source.lengths), self.embedding.weight.shape[1] // self.heads
        own = cache.State.empty(self.embedding.weight, len(self.decoder), batch, self.heads, width)
        length = int(source.lengths.max()) if batch else 0
        places = length * torch.arange(batch).repeat_interleave(source.lengths) + source.positions
        read = self._read(source)
        memory = tuple(layer.cross.remember(read, places, (batch, length)) for layer in self._decoder_layers())
        return State(own, memory, Mask.filled(source.lengths, length))

    @torch.no_grad()
    def step(self, tokens: Int[Tensor, " batch"], state: State) -> tuple[Float[Tensor, "batch vocabulary"], State]:
        """Logits for what follows one more token each, as `forward` gives them, and the state after it."""
        own = state.own.longer()
        hidden = self._placed(tokens, torch.tensor([state.own.length]))
        mask = Mask(torch.zeros(1, 1, 1, own.length), None)
        for index, layer in enumerate(self._decoder_layers()):
            hidden = layer.step(hidden, own.layer(index), mask, state.source[index], state.mask)
        return self._logits(hidden), State(own, state.source, state.mask)

    def _read(self, source: Packed) -> Float[Tensor, "source_tokens width"]:
        hidden = self._placed(source.tokens, source.positions)
        slots = head_slots(source.layout, source.positions, self.heads)
        for layer in self.encoder:
            hidden = layer(hidden, slots)
        return self.encoder_norm(hidden)  # type: ignore[no-any-return]

    def _decoder_layers(self) -> Iterator[DecoderLayer]:
        for layer in self.decoder:
            assert isinstance(layer, DecoderLayer)
            yield layer

    def _placed(
        self, tokens: Int[Tensor, " tokens"], positions: Int[Tensor, " places"]
    ) -> Float[Tensor, "tokens width"]:
        vectors = self.embedding(tokens)
        return vectors + position_vectors(positions, vectors.shape[1])  # type: ignore[no-any-return]

    def _logits(self, hidden: Float[Tensor, "tokens width"]) -> Float[Tensor, "tokens vocabulary"]:
        return self.embedding.logits(self.decoder_norm(hidden))
