"""The layers of the networks once more, in NumPy, as the papers write them: what `parity` compares ours with.

Nothing here is shared with `seedbed.models`: heads are a loop, gates have a matrix each, documents come one after
the other. Parameters are matrices by name, ``NAME.weight`` [outputs, inputs] and ``NAME.bias`` [1, outputs].
Everything works on the last two axes, [tokens, width], so axes in front of them broadcast; and on complex numbers,
so that derivatives can be taken without any rule of differentiation (`complex_step`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

Array = NDArray[Any]
Parameters = Mapping[str, Array]

#: Far below the rounding of a double, as no difference is taken.
_STEP = 1e-30


def complex_step(function: Callable[[Parameters], Array], parameters: Parameters) -> dict[str, Array]:
    """The derivative of a number by every entry of every parameter (Squire and Trapp 1998).

    ``f(x + ih) = f(x) + ih f'(x)`` up to h², so the imaginary part divided by h is exact to the last digits.

    Args:
        function: Gives [entries] numbers, for parameters of which one has an axis of entries in front.
        parameters: Real.
    """
    gradients = {}
    for name, value in parameters.items():
        steps = 1j * _STEP * np.eye(value.size).reshape(-1, *value.shape)
        gradients[name] = function({**parameters, name: value + steps}).imag.reshape(value.shape) / _STEP
    return gradients


def linear(vectors: Array, parameters: Parameters, name: str) -> Array:
    """``x W^T + b``."""
    weight = parameters[f"{name}.weight"]
    return np.asarray(vectors @ weight.swapaxes(-1, -2) + parameters[f"{name}.bias"])


def layer_norm(vectors: Array, parameters: Parameters, name: str, epsilon: float = 1e-5) -> Array:
    """Each vector minus its mean, divided by its standard deviation, scaled and shifted (Ba et al. 2016)."""
    centred = vectors - vectors.mean(-1, keepdims=True)
    variance = (centred**2).mean(-1, keepdims=True)
    normed = centred / np.sqrt(variance + epsilon)
    return np.asarray(normed * parameters[f"{name}.weight"] + parameters[f"{name}.bias"])


def softmax(scores: Array, allowed: NDArray[np.bool_] | None = None) -> Array:
    """Along the last axis, over what is allowed; by default over all."""
    if allowed is None:
        allowed = np.ones(scores.shape[-2:], bool)
    highest = np.where(allowed, scores.real, -np.inf).max(-1, keepdims=True)
    powers = np.where(allowed, np.exp(scores - highest), 0)
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def causal(tokens: int) -> NDArray[np.bool_]:
    """[tokens, tokens], True where a query may see a key: itself and those before it."""
    return np.tri(tokens, dtype=bool)


def head_weights(
    vectors: Array, source: Array, parameters: Parameters, heads: int, allowed: NDArray[np.bool_] | None = None
) -> list[Array]:
    """Each head's weights, [queries, keys]: softmax(q k^T / sqrt(d_k)) (Vaswani et al. 2017, section 3.2.1)."""
    query, key = linear(vectors, parameters, "query"), linear(source, parameters, "key")
    width = query.shape[-1] // heads
    columns = [slice(head * width, (head + 1) * width) for head in range(heads)]
    return [softmax(query[..., own] @ key[..., own].swapaxes(-1, -2) / np.sqrt(width), allowed) for own in columns]


def attention(
    vectors: Array, source: Array, parameters: Parameters, heads: int, allowed: NDArray[np.bool_] | None = None
) -> Array:
    """Multi-head attention of one document to a source (Vaswani et al. 2017, section 3.2.2)."""
    value = linear(source, parameters, "value")
    width = value.shape[-1] // heads
    gathered = [
        weights @ value[..., head * width : (head + 1) * width]
        for head, weights in enumerate(head_weights(vectors, source, parameters, heads, allowed))
    ]
    return linear(np.concatenate(gathered, -1), parameters, "output")


def feed_forward(vectors: Array, parameters: Parameters, activation: Literal["gelu", "relu"] = "gelu") -> Array:
    """Two linear layers, for each token alone (Vaswani et al. 2017, section 3.3)."""
    inner = linear(vectors, parameters, "expand")
    return linear(_gelu(inner) if activation == "gelu" else _relu(inner), parameters, "contract")


def _gelu(values: Array) -> Array:
    return np.asarray(values * (1 + erf(values / np.sqrt(2))) / 2)


def _relu(values: Array) -> Array:
    return np.where(values.real > 0, values, 0)


def under(parameters: Parameters, prefix: str) -> Parameters:
    """The parameters of a part of a layer."""
    return {name.removeprefix(prefix): value for name, value in parameters.items() if name.startswith(prefix)}


def _add(
    vectors: Array,
    parameters: Parameters,
    norm: str,
    order: Literal["pre", "post"],
    part: Callable[[Array], Array],
) -> Array:
    """A residual connection around a part, with its norm before or after."""
    if order == "pre":
        return np.asarray(vectors + part(layer_norm(vectors, parameters, norm)))
    return layer_norm(vectors + part(vectors), parameters, norm)


def encoder_layer(
    vectors: Array,
    parameters: Parameters,
    heads: int,
    order: Literal["pre", "post"],
    allowed: NDArray[np.bool_] | None = None,
) -> Array:
    """Self-attention and a feed-forward network (Vaswani et al. 2017, section 3.1)."""
    own = under(parameters, "attention.")
    vectors = _add(vectors, parameters, "norm_1", order, lambda x: attention(x, x, own, heads, allowed))
    return _add(vectors, parameters, "norm_2", order, partial(feed_forward, parameters=parameters))


def decoder_layer(
    vectors: Array, source: Array, parameters: Parameters, heads: int, order: Literal["pre", "post"]
) -> Array:
    """Causal self-attention, attention to the source and a feed-forward network (Vaswani et al. 2017, 3.1)."""
    own, cross = under(parameters, "attention."), under(parameters, "cross.")
    allowed = causal(vectors.shape[-2])
    vectors = _add(vectors, parameters, "norm_1", order, lambda x: attention(x, x, own, heads, allowed))
    vectors = _add(vectors, parameters, "norm_2", order, lambda x: attention(x, source, cross, heads))
    return _add(vectors, parameters, "norm_3", order, partial(feed_forward, parameters=parameters))


def _sigmoid(values: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-values)))


def rnn(inputs: Array, parameters: Parameters) -> Array:
    """Elman's network (Elman 1990): ``h' = tanh(W x + U h)``."""
    hidden, history = _start(parameters), []
    for x in _steps(inputs):
        hidden = np.tanh(linear(x, parameters, "input") + linear(hidden, parameters, "hidden"))
        history.append(hidden)
    return np.concatenate(history, -2)


def gru(inputs: Array, parameters: Parameters) -> Array:
    """The gated recurrent unit (Cho et al. 2014), with the reset gate after the product, as in PyTorch."""
    hidden, history = _start(parameters, "reset.hidden"), []
    for x in _steps(inputs):
        reset, update = (
            _sigmoid(linear(x, parameters, f"{gate}.input") + linear(hidden, parameters, f"{gate}.hidden"))
            for gate in ("reset", "update")
        )
        inner = reset * linear(hidden, parameters, "new.hidden")
        hidden = (1 - update) * np.tanh(linear(x, parameters, "new.input") + inner) + update * hidden
        history.append(hidden)
    return np.concatenate(history, -2)


def lstm(inputs: Array, parameters: Parameters) -> Array:
    """Long short-term memory with a forget gate (Hochreiter and Schmidhuber 1997; Gers et al. 2000)."""
    hidden, history = _start(parameters, "forget.hidden"), []
    cell = hidden
    for x in _steps(inputs):
        write, forget, candidate, read = (
            linear(x, parameters, f"{gate}.input") + linear(hidden, parameters, f"{gate}.hidden")
            for gate in ("write", "forget", "candidate", "read")
        )
        cell = _sigmoid(forget) * cell + _sigmoid(write) * np.tanh(candidate)
        hidden = _sigmoid(read) * np.tanh(cell)
        history.append(hidden)
    return np.concatenate(history, -2)


def _start(parameters: Parameters, name: str = "hidden") -> Array:
    return np.zeros((1, parameters[f"{name}.weight"].shape[-1]))


def _steps(inputs: Array) -> list[Array]:
    return [inputs[..., [step], :] for step in range(inputs.shape[-2])]
