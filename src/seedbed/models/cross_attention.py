"""Attention of one stream of documents to another: what a decoder reads of its source."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from seedbed.batching import Mask
from seedbed.models.attention import attend, attend_once, require_divisor
from seedbed.models.heads import ROLES, HeadLayout


class CrossAttention(nn.Module):
    """Every token attends to those of its document's source (Vaswani et al. 2017, section 3.2.3)."""

    def __init__(self, width: int, heads: int) -> None:
        """Make the layer.

        Args:
            width: Of the tokens' vectors.
            heads: A divisor of the width.

        Raises:
            ValueError: the heads do not divide the width.
        """
        super().__init__()
        require_divisor(width, heads)
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.memory = nn.Linear(width, (ROLES - 1) * width)
        self.output = nn.Linear(width, width)

    def forward(
        self,
        hidden: Float[Tensor, "tokens width"],
        source: Float[Tensor, "source_tokens width"],
        layout: HeadLayout,
    ) -> Float[Tensor, "tokens width"]:
        """The tokens' vectors after each has gathered what it attends to; the layout is of `cross_heads`."""
        vectors = torch.cat([self.query(hidden).flatten(), self.memory(source).flatten()])
        return self.output(attend(vectors, hidden.shape[1], layout))  # type: ignore[no-any-return]

    def remember(
        self,
        source: Float[Tensor, "source_tokens width"],
        places: Int[Tensor, " source_tokens"],
        shape: tuple[int, int],
    ) -> Float[Tensor, "2 batch heads length head_width"]:
        """Keys and values of a source for `step`, one document a row.

        Args:
            source: The tokens' vectors.
            places: Where each token goes, counted row by row.
            shape: Rows, and the length of each; places without a token hold zeros.
        """
        rows = source.new_zeros(shape[0] * shape[1], (ROLES - 1) * source.shape[1])
        rows[places] = self.memory(source)
        return rows.view(*shape, ROLES - 1, self.heads, -1).permute(2, 0, 3, 1, 4).contiguous()

    def step(
        self,
        hidden: Float[Tensor, "batch width"],
        memory: Float[Tensor, "2 batch heads length head_width"],
        mask: Mask,
    ) -> Float[Tensor, "batch width"]:
        """The vectors of one more token each, after it has gathered what it attends to.

        Args:
            hidden: The tokens' vectors.
            memory: Of the source.
            mask: Of one query over all places of its row.
        """
        query = self.query(hidden).view(len(hidden), self.heads, -1)
        return self.output(attend_once(query, memory, mask))  # type: ignore[no-any-return]
