"""Gated linear attention (Yang et al. 2024, sections 4.1 to 4.4): a matrix as memory, which decays.

Each head has a state ``S``, [key width, value width], and reads and writes it at every token:

    S_t = diag(a_t) S_(t-1) + k_t^T v_t        o_t = q_t S_t        a_t in (0, 1)

The decay ``a_t`` depends on the token. What is read is normed head by head and gated. There are no scores: the
cost grows linearly with the length of a document, and a step costs the same at every position.

Step by step this is a recurrence. For whole documents it is computed in chunks. With ``b_t`` the product of the
decays from the chunk's first token to ``t``, and ``S`` the state before the chunk,

    o_t = (q_t b_t) S + sum over u <= t of ((q_t b_t) (k_u / b_u)^T) v_u
    S after the chunk = diag(b_last) (S + sum over u of (k_u / b_u)^T v_u)

so that a chunk is a few matrix products, and only the states go from chunk to chunk. The products stay within the
range of single precision because logarithms of decays are bounded from below, see `_STEEPEST`. Nothing here
depends on a later token, not even in the last digit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from seedbed.batching import Packed, TimeSteps, time_steps

_CHUNK = 16  # tokens
#: The decays are those of a sigmoid to the power of 1 / 16, so that at first they are near 1 (section 4.4).
_TEMPERATURE = 16
#: The least logarithm of a decay: a memory that keeps less than a fiftieth has forgotten. In a chunk of 16 the
#: factors then stay within exp(64), and single precision ends at exp(88).
_STEEPEST = -4.0
#: Numbers that the decays of all heads are computed from. The paper has 16 with widths from 1,024 on.
_RANK = 4


@dataclass(frozen=True, eq=False)
class Chunks:
    """Where the chunks of a batch find its tokens. Only a document's last chunk has padding.

    Attributes:
        token_of_slot: [chunks * 16], the token in each slot, chunk after chunk; the number of tokens at padding.
        slot_of_token: [tokens], its inverse.
        steps: Of the chunks: first those that begin a document, then the second ones.
    """

    token_of_slot: Int[Tensor, " slots"]
    slot_of_token: Int[Tensor, " tokens"]
    steps: TimeSteps


class Mixer(nn.Module):
    """Every token reads the memory of its document, after its own key and value are written to it."""

    #: What a batch may show a token: the past alone.
    reads: ClassVar[tuple[str, ...]] = ("causal",)
    #: The position encodings that work in here: there are no scores that they could change.
    encodings: ClassVar[tuple[str, ...]] = ()

    def __init__(self, width: int, heads: int, encoding: str | None = None) -> None:
        """Make the layer.

        Queries and keys are half as wide as values (section 4.4), so that the layer has about as many parameters
        as one of attention.

        Args:
            width: Of the tokens' vectors.
            heads: A divisor of half the width.
            encoding: None.

        Raises:
            ValueError: the heads do not divide half the width.
        """
        super().__init__()
        if width % (2 * heads):
            raise ValueError(
                f"{heads} heads do not divide {width / 2:g}, half the width, which is that of gated_linear's keys"
            )
        keys = width // 2
        self.heads, self.sizes = heads, [keys, keys, width, width, _RANK]
        self.project = nn.Linear(width, sum(self.sizes), bias=False)
        self.decay = nn.Linear(_RANK, keys)
        self.norm = nn.LayerNorm(width // heads)
        self.output = nn.Linear(width, width, bias=False)

    def arrange(self, batch: Packed) -> Chunks:
        """The chunks of a batch."""
        counts = (batch.lengths + _CHUNK - 1) // _CHUNK
        steps = time_steps(counts)
        first = (counts.cumsum(0) - counts).repeat_interleave(batch.lengths)
        chunk = steps.inverse[first + batch.positions // _CHUNK]
        slot_of_token = chunk * _CHUNK + batch.positions % _CHUNK
        tokens = len(batch.tokens)
        token_of_slot = torch.full((len(steps.order) * _CHUNK,), tokens)
        return Chunks(token_of_slot.scatter_(0, slot_of_token, torch.arange(tokens)), slot_of_token, steps)

    def forward(self, hidden: Float[Tensor, "tokens width"], chunks: Chunks) -> Float[Tensor, "tokens width"]:
        """The tokens' vectors after each has read the memory of its document."""
        query, key, value, gate, decay = self._project(hidden)
        slots = F.pad(torch.cat([query, key, value, decay], 1), (0, 0, 0, 1)).index_select(0, chunks.token_of_slot)
        parts = slots.view(-1, _CHUNK, slots.shape[1]).split_with_sizes([*self.sizes[:3], self.sizes[0]], 2)
        query, key, value, decay = (self._by_head(part).transpose(1, 2) for part in parts)
        read = _read(query, key, value, decay, chunks.steps.sizes)
        flat = read.transpose(1, 2).flatten(2).flatten(0, 1)
        return self._output(flat.index_select(0, chunks.slot_of_token), gate)

    def start(self, batch: int) -> Float[Tensor, "batch heads key_width value_width"]:
        """Empty memories, for ``batch`` documents side by side."""
        keys, values = self.sizes[0] // self.heads, self.sizes[2] // self.heads
        return self.output.weight.new_zeros(batch, self.heads, keys, values)

    def step(
        self, hidden: Float[Tensor, "batch width"], memory: Float[Tensor, "batch heads key_width value_width"]
    ) -> tuple[Float[Tensor, "batch width"], Float[Tensor, "batch heads key_width value_width"]]:
        """The vectors of one more token each after it has read the memory, and the memory with it."""
        query, key, value, gate, decay = self._project(hidden)
        query, key, value, decay = map(self._by_head, (query, key, value, decay))
        memory = memory * decay.exp()[..., None] + key[..., None] * value[..., None, :]
        read = torch.einsum("bhk,bhkv->bhv", query, memory)
        return self._output(read.flatten(1), gate), memory

    def _project(self, hidden: Float[Tensor, "tokens width"]) -> list[Tensor]:
        """Queries, keys, values, gates before their activation, and logarithms of decays; heads side by side."""
        query, key, value, gate, decay = self.project(hidden).split_with_sizes(self.sizes, 1)
        logarithm = F.logsigmoid(self.decay(decay)) / _TEMPERATURE
        return [query * (self.sizes[0] // self.heads) ** -0.5, key, value, gate, logarithm.clamp(min=_STEEPEST)]

    def _output(
        self, read: Float[Tensor, "tokens width"], gate: Float[Tensor, "tokens width"]
    ) -> Float[Tensor, "tokens width"]:
        normed = self.norm(self._by_head(read)).flatten(1)
        return self.output(normed * F.silu(gate))  # type: ignore[no-any-return]

    def _by_head(self, vectors: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch heads head_width"]:
        return vectors.view(*vectors.shape[:-1], self.heads, vectors.shape[-1] // self.heads)


def _read(
    query: Float[Tensor, "chunks heads slots key_width"],
    key: Float[Tensor, "chunks heads slots key_width"],
    value: Float[Tensor, "chunks heads slots value_width"],
    decay: Float[Tensor, "chunks heads slots key_width"],
    sizes: list[int],
) -> Float[Tensor, "chunks heads slots value_width"]:
    """What each slot reads, given queries, keys, values and logarithms of decays; zeros where a slot is padding.

    Args:
        query: Chunks come in the order of `Chunks.steps`, as all others.
        key: Likewise.
        value: Likewise.
        decay: Likewise.
        sizes: How many documents have a chunk at each step.
    """
    total = decay.cumsum(2)
    kept = total.exp()
    query = query * kept
    key = key * (-total).exp()  # the gradient of a division by `kept` would square it, which underflows
    written = key.transpose(2, 3) @ value
    before = _states(written, kept[:, :, -1, :, None], sizes)
    return (query @ key.transpose(2, 3)).tril() @ value + query @ before


def _states(
    written: Float[Tensor, "chunks heads key_width value_width"],
    kept: Float[Tensor, "chunks heads key_width 1"],
    sizes: list[int],
) -> Float[Tensor, "chunks heads key_width value_width"]:
    """The state before each chunk, given what the chunks write and keep."""
    if not sizes:
        return written
    states = [written.new_zeros(sizes[0], *written.shape[1:])]
    for write, keep, size in zip(torch.split(written, sizes), torch.split(kept, sizes), sizes[1:], strict=False):
        states.append(((states[-1] + write) * keep)[:size])
    return torch.cat(states)
