"""What True means in PyTorch's masks, and what happens to who gets it wrong: nothing, and wrong numbers.

Lectures: objectives 2.5 and 3.3; transformer 5.4 and pitfall 7 of section 12.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from seedbed.batching import Mask
from seedbed.demonstrations import numpy_layers
from seedbed.messages import require_positive
from seedbed.models.attention import attention_weights
from seedbed.observations import Observation

NEEDS = ("rng",)


@dataclass(frozen=True)
class Options:
    """Sizes of the attention, and what it reads."""

    width: int = 16
    heads: int = 4
    sequences: int = 3
    tokens: int = 5

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ValueError: a size below 1, one token alone, or heads that do not divide the width.
        """
        require_positive(**vars(self))
        if self.tokens < 2:
            raise ValueError(f"tokens {self.tokens}: expected at least 2")
        if self.width % self.heads:
            raise ValueError(f"heads {self.heads}: expected a divisor of width {self.width}")


@torch.no_grad()
def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """By function of PyTorch and meaning of True in a causal mask: how far its outputs are from causal attention.

    ``difference`` is the largest one from causal attention in NumPy, where the outputs are numbers. ``nan_rows``
    is the share of sequences whose output at a position is no number; ``errors`` is 1 if the mask is refused.
    ``blind_weight`` and ``seeing_weight`` are the sums of our own weights of a query that may see nothing, and of
    one that may. ``tgt_entries`` counts the entries of the mask that nn.Transformer makes for its target.
    """
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    attention = nn.MultiheadAttention(options.width, options.heads, batch_first=True).double()
    for parameter in attention.parameters():
        nn.init.normal_(parameter, std=options.width**-0.5, generator=generator)
    shape = (options.sequences, options.tokens, options.width)
    vectors = torch.randn(*shape, generator=generator, dtype=torch.double)
    allowed = torch.ones(options.tokens, options.tokens, dtype=torch.bool).tril()
    right = _causal(attention, vectors.numpy(), options.heads)
    plain = _plain(vectors.numpy())
    for meaning, mask in (("look here", allowed), ("do not look", ~allowed)):
        by_module = attention(vectors, vectors, vectors, attn_mask=mask)[0]
        by_function = F.scaled_dot_product_attention(vectors, vectors, vectors, attn_mask=mask)
        refused = _refused(attention, vectors, mask)
        yield Observation("errors", float(refused), {"function": "MultiheadAttention", "true": meaning}, "share")
        yield from _compared("MultiheadAttention", meaning, by_module.numpy(), right)
        yield from _compared("scaled_dot_product_attention", meaning, by_function.numpy(), plain)
    yield from _blind(vectors)
    yield from _target_mask(options.tokens)


def _refused(attention: nn.Module, vectors: Tensor, mask: Tensor) -> bool:
    try:
        attention(vectors, vectors, vectors, attn_mask=mask)
    except (RuntimeError, ValueError):
        return True
    return False


def _causal(attention: nn.MultiheadAttention, vectors: NDArray[np.float64], heads: int) -> NDArray[np.float64]:
    """What the module should give, by NumPy, with its own parameters."""
    parameters = {}
    for kind, joined in (("weight", attention.in_proj_weight), ("bias", attention.in_proj_bias[:, None])):
        for name, part in zip(("query", "key", "value"), joined.chunk(3), strict=True):
            parameters[f"{name}.{kind}"] = part.numpy() if kind == "weight" else part.numpy().T
    parameters["output.weight"] = attention.out_proj.weight.numpy()
    parameters["output.bias"] = attention.out_proj.bias[None].numpy()
    allowed = numpy_layers.causal(vectors.shape[1])
    return numpy_layers.attention(vectors, vectors, parameters, heads, allowed)


def _plain(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the function should give: queries, keys and values are the vectors themselves."""
    scores = vectors @ vectors.swapaxes(-1, -2) / np.sqrt(vectors.shape[-1])
    return np.asarray(numpy_layers.softmax(scores, numpy_layers.causal(vectors.shape[1])) @ vectors)


def _compared(
    function: str, meaning: str, found: NDArray[np.float64], right: NDArray[np.float64]
) -> Iterator[Observation]:
    of = {"function": function, "true": meaning}
    missing = np.isnan(found).any(-1)
    for position, share in enumerate(missing.mean(0)):
        yield Observation("nan_rows", float(share), {**of, "position": position}, "share")
    difference = np.abs(found - right)[~missing].max()
    yield Observation("difference", float(difference), of, "deviation")


def _blind(vectors: Tensor) -> Iterator[Observation]:
    """Our own attention, whose last query may see nothing."""
    tokens = vectors.shape[1]
    allowed = torch.ones(tokens, tokens, dtype=torch.bool)
    allowed[-1] = False
    weights = attention_weights(vectors, vectors, Mask.of(allowed[None]))
    for metric, row in (("blind_weight", -1), ("seeing_weight", 0)):
        yield Observation(metric, float(weights[:, row].sum(-1).mean()), unit="share")


def _target_mask(tokens: int) -> Iterator[Observation]:
    mask = nn.Transformer.generate_square_subsequent_mask(tokens)
    above = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
    for place, cells in (("above the diagonal", mask[above]), ("elsewhere", mask[~above])):
        for added, value in (("zero", 0.0), ("minus infinity", -torch.inf)):
            count = int((cells == value).sum())
            yield Observation("tgt_entries", count, {"place": place, "added": added}, "count")
