"""What a model is to the rest of Seedbed: the file `models/NAME.py` defines a class `Model` of this kind.

A model is an `nn.Module` and is made as ``Model(options, vocabulary)``, with the number of tokens. Its constructor
draws no weights: it is built on the meta device, given memory, and filled by `initialisation.fill` from a stream.
"""

from __future__ import annotations

from typing import Any, Protocol

from jaxtyping import Float, Int
from torch import Tensor

from seedbed.batching import Packed

#: What a model remembers of documents side by side: a tensor with one row for each document, a list or tuple of
#: states, or an object with ``take(rows)``, which gives the state of some of the documents.
State = Any


class Model(Protocol):
    """A network that predicts tokens.

    ``reads`` says which objectives it can read as they are meant: ``causal`` (a token sees those before it),
    ``prefix`` (and a prefix that sees itself), ``bidirectional`` (all see all) or ``encoder_decoder`` (of two
    batches, a source and a target). A run whose objective needs another is refused.

    A layer with parameters of its own (an `nn.Parameter`, not an `nn.Linear` or `nn.LayerNorm`) has a method
    ``draw(generator)``, which fills these, see `initialisation.DrawsItself`; the model itself may be such a layer.
    Buffers are refused by `initialisation.unfilled`, since the meta device loses their content: compute them where
    they are used, as `positions.sinusoidal` does.
    """

    reads: tuple[str, ...]

    def __call__(
        self, *batches: Packed, scored: Int[Tensor, " scored"] | None = None
    ) -> Float[Tensor, "scored vocabulary"]:
        """Logits for what follows each token, flat in document order.

        No document may see another, and with a causal batch no logit may depend on a later token.

        Args:
            batches: What is read: one batch of documents, or source and target of an encoder-decoder.
            scored: Indices of the (target's) flat tokens whose logits are asked for; None is all.
        """
        ...

    def start(self, batch: Any) -> State:  # noqa: ANN401 - see below
        """The state before any token of documents that are written side by side, one token of each at a time.

        Args:
            batch: How many documents; of an encoder-decoder, their sources, a `Packed`.
        """
        ...

    def step(self, tokens: Int[Tensor, " batch"], state: State) -> tuple[Float[Tensor, "batch vocabulary"], State]:
        """Logits for what follows one more token each, equal to those of the causal forward, and the next state.

        The given state stays as it was, so that a document can be continued in two ways.
        """
        ...
