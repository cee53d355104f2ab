"""Derivatives by hand, against autograd."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch.autograd.functional import jacobian

from seedbed.demonstrations.sensitivity import Options, attention_norms, demonstrate, rnn_norms
from seedbed.observations import condition_text
from seedbed.randomness import stream

WIDTH, TOKENS = 4, 7
SEQUENCE = stream(0, "sequence").standard_normal((TOKENS, WIDTH))
MATRICES = stream(1, "matrices").standard_normal((3, WIDTH, WIDTH))


def by_autograd(function: Callable[[torch.Tensor], torch.Tensor]) -> NDArray[np.float64]:
    """[distances], of the last output."""
    derivative = jacobian(function, torch.from_numpy(SEQUENCE))  # type: ignore[no-untyped-call]
    norms: NDArray[np.float64] = derivative.norm(dim=(0, 2)).numpy()[::-1]
    return norms


def test_the_rnns_norms_are_those_of_autograd() -> None:
    recurrent, inputs = torch.from_numpy(MATRICES[:2])

    def last(sequence: torch.Tensor) -> torch.Tensor:
        state = torch.zeros(WIDTH, dtype=torch.double)
        for vector in sequence:
            state = torch.tanh(recurrent @ state + inputs @ vector)
        return state

    np.testing.assert_allclose(rnn_norms(SEQUENCE, *MATRICES[:2]), by_autograd(last), rtol=1e-12)


def test_the_norms_of_attention_are_those_of_autograd() -> None:
    query, key, value = torch.from_numpy(MATRICES)

    def last(sequence: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.scaled_dot_product_attention(
            sequence[-1:] @ query.T, sequence @ key.T, sequence @ value.T
        )[0]

    np.testing.assert_allclose(attention_norms(SEQUENCE, *MATRICES), by_autograd(last), rtol=1e-12)


def test_an_rnn_forgets_and_attention_does_not() -> None:
    found = {
        f"{one.metric} {condition_text(one.condition)}": one.value
        for one in demonstrate(Options(), rng=stream(0, "sensitivity"))
    }
    assert found["sensitivity distance=63;network=rnn"] < 1e-9 < found["smallest network=attention"]
    assert found["log10_sensitivity distance=32;network=rnn"] == pytest.approx(
        np.log10(found["sensitivity distance=32;network=rnn"])
    )
    near, far = (found[f"mean_sensitivity distances={part};network=attention"] for part in ("near", "far"))
    assert 0.5 < near / far < 2
    assert found["persistence network=rnn"] == pytest.approx(1, abs=0.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Options(width=0), "width"),
        (lambda: Options(far=8), "near 8, far 8: expected near < far < tokens 64"),
        (lambda: Options(distances=(64,)), r"distances \[64\]: expected each from 0 and below tokens 64"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], Options], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
