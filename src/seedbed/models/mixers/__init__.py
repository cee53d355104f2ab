"""What mixes the tokens of a document in a layer of a Transformer: one file for each kind, which defines `Mixer`.

A mixer is named by its file, so nothing is registered. Everything else in a layer works on each token alone.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, ClassVar, Protocol

from jaxtyping import Float
from torch import Tensor

from seedbed.batching import Packed

#: What a mixer remembers of documents side by side: a tensor with one row for each document, a list or tuple of
#: states, or an object with ``take(rows)``. A state never changes, so that a document can be continued in two
#: ways.
State = Any


class Mixer(Protocol):
    """What a Transformer needs of a mixer: an `nn.Module` that is made of width, heads and position encoding.

    ``reads`` says what a batch may show a token, as in `models.model.Model`. ``encodings`` names the position
    encodings that work inside; those at the input of the network work with every mixer.
    """

    reads: ClassVar[tuple[str, ...]]
    encodings: ClassVar[tuple[str, ...]]

    def __init__(self, width: int, heads: int, encoding: str | None = None) -> None:
        """Make the layer, without weights; ``encoding`` is one of `encodings`, or None.

        Raises:
            ValueError: the sizes do not fit together.
        """
        ...

    def arrange(self, batch: Packed) -> Any:  # noqa: ANN401 - each mixer has its own
        """Where this mixer finds the tokens of a batch; the same for all layers, so computed once a batch."""
        ...

    def __call__(
        self,
        hidden: Float[Tensor, "tokens width"],
        arranged: Any,  # noqa: ANN401 - each mixer has its own
        /,
    ) -> Float[Tensor, "tokens width"]:
        """The flat tokens' vectors after mixing, given what `arrange` found; no document sees another."""
        ...

    def start(self, batch: int) -> State:
        """The state before any token, for ``batch`` documents side by side."""
        ...

    def step(
        self, hidden: Float[Tensor, "batch width"], state: State
    ) -> tuple[Float[Tensor, "batch width"], State]:
        """The vectors of one more token each after mixing, as the causal forward gives them; the next state."""
        ...


def names() -> list[str]:
    """The mixers that there are: the files of this folder."""
    return sorted(file.stem for file in Path(__file__).parent.glob("[!_]*.py"))


def load(name: str) -> type[Mixer]:
    """The mixer that a file of this folder defines.

    Raises:
        ValueError: there is no such file.
    """
    if name not in names():
        raise ValueError(f"mixer {name}: no models/mixers/{name}.py; known are {', '.join(names())}")
    found: type[Mixer] = importlib.import_module(f"{__name__}.{name}").Mixer
    return found
