from __future__ import annotations

import math

import pytest

from seedbed.demonstrations.published_sizes import Model, Options, demonstrate


def model(name: str, parameters: float, tokens: float) -> Model:
    return {"name": name, "parameters": parameters, "tokens": tokens}


def test_entries_are_added_and_tokens_divided_by_parameters() -> None:
    found = list(demonstrate(Options(entries=(3, 4), trained=(model("a", 2, 5), model("b", 0.5, 1)))))
    assert [(one.metric, one.value, dict(one.condition)) for one in found] == [
        ("entries", 7, {}),
        ("tokens_per_parameter", 2.5, {"model": "a"}),
        ("tokens_per_parameter", 2, {"model": "b"}),
    ]


@pytest.mark.parametrize(("parameters", "tokens"), [(0, 1), (1, -2), (math.nan, 1)])
def test_a_model_needs_two_numbers_above_0(parameters: float, tokens: float) -> None:
    with pytest.raises(ValueError, match="trained: a: expected parameters and tokens above 0"):
        Options(entries=(), trained=(model("a", parameters, tokens),))
