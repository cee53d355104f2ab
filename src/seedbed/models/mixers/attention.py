"""Self-attention as what mixes the tokens of a document (Vaswani et al. 2017, section 3.2).

What a token may attend to is decided by the batch. Two position encodings work in here: RoPE rotates queries and
keys, ALiBi adds to the scores.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Complex, Float, Int
from torch import Tensor, nn

from seedbed.batching import Mask, Packed
from seedbed.models.attention import attend, attend_once, require_divisor
from seedbed.models.cache import Cache
from seedbed.models.heads import ROLES, HeadLayout, self_heads
from seedbed.models.positions import distance_bias, rotations


class Mixer(nn.Module):
    """Every token attends to those of its document that the masks of the batch allow."""

    #: What a batch may show a token.
    reads: ClassVar[tuple[str, ...]] = ("causal", "prefix", "bidirectional")
    #: The position encodings that work in here.
    encodings: ClassVar[tuple[str, ...]] = ("rope", "alibi")

    def __init__(self, width: int, heads: int, encoding: str | None = None) -> None:
        """Make the layer.

        Args:
            width: Of the tokens' vectors.
            heads: A divisor of the width.
            encoding: One of `encodings`, or None.

        Raises:
            ValueError: the heads do not divide the width, or rotations are asked of heads of an odd width.
        """
        super().__init__()
        require_divisor(width, heads)
        if encoding == "rope" and width // heads % 2:
            raise ValueError(f"rope needs heads of an even width, not {width // heads}")
        self.heads, self.encoding = heads, encoding
        self.project = nn.Linear(width, ROLES * width)
        self.output = nn.Linear(width, width)

    def arrange(self, batch: Packed) -> HeadLayout:
        """Where the heads find the tokens of a batch, with positions if these are encoded in here."""
        layout = self_heads(batch.layout, batch.positions, self.heads)
        if self.encoding == "rope":
            return layout.rotated(batch.positions, self._head_width())
        return layout.biased() if self.encoding == "alibi" else layout

    def forward(self, hidden: Float[Tensor, "tokens width"], layout: HeadLayout) -> Float[Tensor, "tokens width"]:
        """The tokens' vectors after each has gathered what it attends to."""
        return self.output(attend(self.queries_keys_values(hidden, layout), hidden.shape[1], layout))  # type: ignore[no-any-return]

    def queries_keys_values(
        self, hidden: Float[Tensor, "tokens width"], layout: HeadLayout
    ) -> Float[Tensor, "tokens roles_heads_width"]:
        """Queries, keys and values, rotated if the layout says so."""
        projected: Tensor = self.project(hidden)
        return projected if layout.rotations is None else _rotate(projected, layout.rotations, layout.heads)

    def start(self, batch: int) -> Cache:
        """No keys and values yet, for ``batch`` documents side by side."""
        return Cache.empty(self.output.weight, batch, self.heads, self._head_width())

    def step(
        self, hidden: Float[Tensor, "batch width"], cache: Cache
    ) -> tuple[Float[Tensor, "batch width"], Cache]:
        """The vectors of one more token each, after it has attended to all so far, and the cache with it."""
        position, projected = torch.tensor([cache.length]), self.project(hidden)
        if self.encoding == "rope":
            projected = _rotate(projected, rotations(position, self._head_width()), self.heads)
        query, key, value = projected.view(len(hidden), ROLES, self.heads, -1).unbind(1)
        cache = cache.append(key, value)
        return self.output(attend_once(query, cache.keys_and_values(), self._mask(position))), cache

    def _mask(self, position: Int[Tensor, " 1"]) -> Mask:
        """Of one query, which sees every position up to its own."""
        seen = torch.arange(int(position) + 1)
        if self.encoding == "alibi":
            return Mask(distance_bias(position[:, None], seen, self.heads), None)
        return Mask(torch.zeros(1, 1, 1, len(seen)), None)

    def _head_width(self) -> int:
        return self.project.in_features // self.heads


def _rotate(
    projected: Float[Tensor, "tokens roles_heads_width"], rotations: Complex[Tensor, "tokens pairs"], heads: int
) -> Float[Tensor, "tokens roles_heads_width"]:
    """Queries, keys and values with the first two rotated; their pairs of columns are read as complex numbers."""
    pairs = torch.view_as_complex(projected.view(len(projected), ROLES, heads, rotations.shape[1], 2))
    factors = torch.stack([rotations, rotations, torch.ones_like(rotations)], 1).to(pairs.dtype)
    return torch.view_as_real(pairs * factors[:, :, None]).flatten(1)
