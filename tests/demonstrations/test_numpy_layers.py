"""The layers by NumPy, against cases by hand and the standard library."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seedbed.demonstrations import numpy_layers
from seedbed.demonstrations.numpy_layers import Array, Parameters

ONE = np.ones((1, 1))


def test_complex_steps_give_the_derivatives_by_the_rules() -> None:
    given = {"x": np.array([[0.3, -1.2]]), "y": np.array([[2.0]])}

    def function(at: Parameters) -> Array:
        return np.asarray((np.sin(at["x"]) * at["y"] ** 3).sum((-1, -2)))

    found = numpy_layers.complex_step(function, given)
    np.testing.assert_allclose(found["x"], 8 * np.cos(given["x"]), rtol=1e-15)
    np.testing.assert_allclose(found["y"], 12 * np.sin(given["x"]).sum(keepdims=True), rtol=1e-15)


def test_weights_are_those_of_the_hand_computed_case() -> None:
    scores = np.log([[1.0, 2, 4], [1, 1, 1], [1, 2, 4]])
    expected = [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 7, 2 / 7, 4 / 7]]
    np.testing.assert_allclose(numpy_layers.softmax(scores, numpy_layers.causal(3)), expected)
    np.testing.assert_allclose(numpy_layers.softmax(scores)[0], [1 / 7, 2 / 7, 4 / 7])


def test_large_scores_do_not_overflow() -> None:
    assert numpy_layers.softmax(np.array([[1e4, 0.0]])).tolist() == [[1, 0]]


def test_a_norm_has_mean_0_and_variance_1() -> None:
    identity = {"norm.weight": np.ones((1, 4)), "norm.bias": np.zeros((1, 4))}
    found = numpy_layers.layer_norm(np.array([[1.0, 2, 3, 6]]), identity, "norm", epsilon=0)
    np.testing.assert_allclose(found, [[-2, -1, 0, 3]] / np.sqrt(3.5))


@pytest.mark.parametrize(("activation", "expected"), [("gelu", lambda x: x / 2 * (1 + math.erf(x / 2**0.5))),
                                                      ("relu", lambda x: max(x, 0))])  # fmt: skip
def test_activations_are_those_of_the_standard_library(activation: str, expected: object) -> None:
    assert callable(expected)
    plain = {"expand.weight": ONE, "expand.bias": 0 * ONE, "contract.weight": ONE, "contract.bias": 0 * ONE}
    values = np.array([[-1.5], [-0.2], [0.0], [0.7], [3.0]])
    found = numpy_layers.feed_forward(values, plain, activation)  # type: ignore[arg-type]
    np.testing.assert_allclose(found.ravel(), [expected(x) for x in values.ravel()], atol=1e-15)


def test_elmans_network_is_the_formula() -> None:
    given = {"input.weight": 2 * ONE, "input.bias": 0 * ONE, "hidden.weight": 0.5 * ONE, "hidden.bias": ONE}
    first = math.tanh(2 * 0.1 + 1)
    second = math.tanh(2 * -0.4 + 0.5 * first + 1)
    np.testing.assert_allclose(numpy_layers.rnn(np.array([[0.1], [-0.4]]), given).ravel(), [first, second])


def test_a_cell_that_is_kept_open_remembers() -> None:
    """Gates at their ends: what is written first stays."""
    gates = {"write": (20.0, -10.0), "forget": (0.0, 20.0), "candidate": (1.0, 0.0), "read": (0.0, 20.0)}
    given = {f"{gate}.hidden.{kind}": 0 * ONE for gate in gates for kind in ("weight", "bias")}
    for gate, (weight, bias) in gates.items():
        given |= {f"{gate}.input.weight": weight * ONE, f"{gate}.input.bias": bias * ONE}
    found = numpy_layers.lstm(np.array([[1.0], [0.0], [0.0]]), given).ravel()
    np.testing.assert_allclose(found, math.tanh(math.tanh(1)), atol=1e-4)


def test_a_closed_update_gate_replaces_the_state() -> None:
    names = ("reset", "update", "new")
    given = {f"{gate}.{of}.{kind}": 0 * ONE for gate in names for of in ("input", "hidden") for kind in ("weight", "bias")}  # fmt: skip  # noqa: E501
    given |= {"update.input.bias": -30 * ONE, "new.input.weight": ONE}
    found = numpy_layers.gru(np.array([[0.3], [-0.6]]), given).ravel()
    np.testing.assert_allclose(found, np.tanh([0.3, -0.6]), atol=1e-12)


def test_heads_read_columns_of_their_own() -> None:
    """Head 1 looks for the same first column, head 2 at nothing in particular."""
    given = {f"{role}.bias": np.zeros((1, 2)) for role in ("query", "key")}
    given |= {"query.weight": np.diag([50.0, 0]), "key.weight": np.eye(2)}
    vectors = np.array([[1.0, 5], [-1, 7]])
    first, second = numpy_layers.head_weights(vectors, vectors, given, 2)
    np.testing.assert_allclose(first, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(second, 1 / 2)
