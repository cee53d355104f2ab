"""Models without weights, and the one function that draws them.

Constructors draw nothing and the global generator is never used: a model is built on the meta device, given
memory, and filled from a named stream.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar, runtime_checkable

import torch
from torch import nn

_Model = TypeVar("_Model", bound=nn.Module)


@runtime_checkable
class DrawsItself(Protocol):
    """A layer of our own with parameters of its own: it has the rule for them."""

    def draw(self, generator: torch.Generator) -> None:
        """Fill the layer's own parameters, not those of layers inside it."""
        ...


def unfilled(make: Callable[[], _Model]) -> _Model:
    """A model whose weights are memory of unknown content, for `fill`.

    Args:
        make: Calls the constructor.

    Raises:
        TypeError: the model has a buffer, whose content the meta device would lose.
    """
    with torch.device("meta"):
        model = make()
    for name, _ in model.named_buffers():
        raise TypeError(f"buffer {name}: compute it where it is used, it would be lost")
    return model.to_empty(device="cpu")


@torch.no_grad()
def fill(model: nn.Module, generator: torch.Generator) -> None:
    """Draw all weights, layer by layer in the order of their definition.

    Linear layers get weights and biases from U(-1/sqrt(inputs), 1/sqrt(inputs)), as PyTorch's own; where the model
    has a ``linear_std`` that is not 0, weights from N(0, linear_std) and biases of 0. GPT-2 begins so too, but
    divides the weights of layers that write into its residual stream by the root of the number of these layers,
    which is not done here. Norms get ones and zeros; layers of our own draw themselves.

    Raises:
        TypeError: a layer has parameters but no rule.
    """
    linear_std: float = getattr(model, "linear_std", 0.0)
    for name, layer in model.named_modules():
        if isinstance(layer, nn.Linear):
            _fill_linear(layer, linear_std, generator)
        elif isinstance(layer, nn.LayerNorm):
            layer.reset_parameters()
        elif isinstance(layer, DrawsItself):
            layer.draw(generator)
        elif any(True for _ in layer.parameters(recurse=False)):
            kind = type(layer).__name__
            raise TypeError(f"{name}: no rule to fill a {kind}; give it `draw`, or {fill.__module__}.fill a rule")


def _fill_linear(layer: nn.Linear, std: float, generator: torch.Generator) -> None:
    if std:
        layer.weight.normal_(0, std, generator=generator)
        if layer.bias is not None:
            layer.bias.zero_()
        return
    bound = layer.in_features**-0.5
    for parameter in layer.parameters():
        parameter.uniform_(-bound, bound, generator=generator)
