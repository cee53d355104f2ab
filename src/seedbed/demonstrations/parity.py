"""Are the layers that all studies train what they claim to be? Ours against PyTorch's and against NumPy's.

Each layer exists three times: ours (`seedbed.models`), PyTorch's (`torch.nn`) and one in NumPy that follows the
papers and shares no code with the others (`numpy_layers`). All get the same random parameters and inputs. What is
compared are the outputs, and the gradients of a random weighted sum of them by every parameter and input: ours are
written out, PyTorch's are autograd's, NumPy's come from complex steps (transformer 3.1, 5.4, 7.3, 7.4, 8.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch
from torch import nn

from seedbed.demonstrations import numpy_layers
from seedbed.demonstrations.layer_versions import (
    OWN_ATTENTION,
    TORCH_ATTENTION,
    Sizes,
    TorchVersion,
    Versions,
    attention,
    batch_of,
    by_document,
    filled,
    layers,
)
from seedbed.demonstrations.numpy_layers import Array, complex_step
from seedbed.models.inspection import weights
from seedbed.models.mixers.attention import Mixer as SelfAttention
from seedbed.observations import Observation

NEEDS = ("rng",)

_COMPARED = ("output", "gradient")


@dataclass(frozen=True)
class Options:
    """Sizes of the layers, and lengths of the documents that they read together."""

    width: int = 8
    heads: int = 2
    inner: int = 16
    vocabulary: int = 7
    lengths: tuple[int, ...] = (5, 3)
    source_lengths: tuple[int, ...] = (4, 6)  # of what each document attends to, where it attends to another

    def __post_init__(self) -> None:
        """Check what depends on each other.

        Raises:
            ValueError: no document or an empty one, not one source for each, or heads that do not divide
                the width.
        """
        if len(self.lengths) != len(self.source_lengths):
            raise ValueError(f"source_lengths {list(self.source_lengths)}: expected one for each of lengths")
        if min((*self.lengths, *self.source_lengths), default=0) < 1:
            raise ValueError(f"lengths {list(self.lengths)}: expected at least one document, and each from 1")
        if self.heads < 1 or self.width % self.heads:
            raise ValueError(f"heads {self.heads}: expected a divisor of width {self.width}")


def demonstrate(options: Options, *, rng: np.random.Generator) -> Iterator[Observation]:
    """By layer, pair of versions, and what is compared (``output`` or ``gradient``): ``difference``.

    It is the largest difference between two versions, relative to the largest entry, in double precision;
    ``single_difference`` is that of ours (PyTorch's, where ours is the same) in single precision from NumPy's in
    double. ``weight_difference`` compares the weights of each head. ``linear_shape`` and ``in_proj_shape`` say how
    PyTorch stores matrices; ``linear_difference`` is that of ``nn.Linear`` from x W^T + b.
    """
    for name, versions in layers(Sizes(**vars(options))).items():
        yield from _compare(name, versions, versions.draw(rng), rng)
    yield from _head_weights(options, rng)
    yield from _layout(options, rng)


def _compare(
    name: str, versions: Versions, leaves: Mapping[str, Array], rng: np.random.Generator
) -> Iterator[Observation]:
    output = versions.numpy(leaves)
    asked = rng.standard_normal(output.shape)
    gradient = complex_step(lambda given: (versions.numpy(given) * asked).sum((-1, -2)), leaves)
    found = {"numpy": (output, _joined(gradient))}
    single = {}
    for version, function in (("torch", versions.torch), ("seedbed", versions.own)):
        if function:
            found[version] = _measured(function, leaves, asked, torch.float64)
            single[version] = _measured(function, leaves, asked, torch.float32)
    for one, other in combinations(reversed(found), 2):
        for what, value in zip(_COMPARED, map(difference, found[one], found[other]), strict=True):
            condition = {"layer": name, "between": f"{one} and {other}", "of": what}
            yield Observation("difference", value, condition, "ratio")
    ours = single.get("seedbed", single["torch"])
    for what, value in zip(_COMPARED, map(difference, ours, found["numpy"]), strict=True):
        yield Observation("single_difference", value, {"layer": name, "of": what}, "ratio")


def _measured(
    function: TorchVersion, leaves: Mapping[str, Array], asked: Array, kind: torch.dtype
) -> tuple[Array, Array]:
    """The output, and the gradient of its weighted sum by all leaves."""
    given = {name: torch.from_numpy(value).to(kind).requires_grad_() for name, value in leaves.items()}
    output = function(given)
    total = (output * torch.from_numpy(asked).to(kind)).sum()
    gradients = torch.autograd.grad(total, list(given.values()))
    by_name = {name: gradient.numpy() for name, gradient in zip(given, gradients, strict=True)}
    return output.detach().numpy(), _joined(by_name)


def _joined(gradients: Mapping[str, Array]) -> Array:
    return np.concatenate([gradient.ravel() for gradient in gradients.values()])


def difference(first: Array, second: Array) -> float:
    """The largest difference of two arrays, relative to the largest entry of the second."""
    return float(np.abs(first - second).max() / np.abs(second).max())


def _head_weights(options: Options, rng: np.random.Generator) -> Iterator[Observation]:
    """The weights of each head of self-attention, over the documents together."""
    leaves = attention(Sizes(**vars(options)), causal=False).draw(rng)
    given = {name: torch.from_numpy(value) for name, value in leaves.items()}
    own = SelfAttention(options.width, options.heads).double()
    own.load_state_dict(filled(own, OWN_ATTENTION, given))
    other = nn.MultiheadAttention(options.width, options.heads, batch_first=True).double()
    other.load_state_dict(filled(other, TORCH_ATTENTION, given))
    batch = batch_of(options.lengths, False)
    layout, tokens = own.arrange(batch), torch.arange(len(batch.tokens))
    ours = weights(own, given["vectors"], layout, tokens).transpose(0, 1)  # [heads, tokens, longest]
    found: dict[str, list[Array]] = {"seedbed": [], "torch": [], "numpy": []}
    for x, rows in zip(
        by_document(options.lengths, given["vectors"]), by_document(options.lengths, ours), strict=True
    ):
        found["seedbed"].append(rows[..., : len(x)].numpy().ravel())
        with torch.no_grad():
            _, theirs = other(x[None], x[None], x[None], average_attn_weights=False)
        found["torch"].append(theirs.numpy().ravel())
        by_numpy = numpy_layers.head_weights(x.numpy(), x.numpy(), leaves, options.heads)
        found["numpy"].append(np.stack(by_numpy).ravel())
    joined: dict[str, Array] = {name: np.concatenate(parts) for name, parts in found.items()}
    for one, another in combinations(joined, 2):
        value = float(np.abs(joined[one] - joined[another]).max())
        yield Observation("weight_difference", value, {"between": f"{one} and {another}"}, "share")


def _layout(options: Options, rng: np.random.Generator) -> Iterator[Observation]:
    """How PyTorch lays out the matrices of a linear layer and of attention."""
    layer = nn.Linear(options.width, options.inner).double()
    x, weight = rng.standard_normal((3, options.width)), rng.standard_normal((options.inner, options.width))
    bias = rng.standard_normal(options.inner)
    layer.load_state_dict({"weight": torch.from_numpy(weight), "bias": torch.from_numpy(bias)})
    with torch.no_grad():
        value = difference(layer(torch.from_numpy(x)).numpy(), x @ weight.T + bias)
    yield Observation("linear_difference", value, unit="ratio")
    stacked = nn.MultiheadAttention(options.width, options.heads).in_proj_weight
    for metric, parameter in (("linear_shape", layer.weight), ("in_proj_shape", stacked)):
        for axis, size in zip(("rows", "columns"), parameter.shape, strict=True):
            yield Observation(metric, size, {"axis": axis}, "count")
