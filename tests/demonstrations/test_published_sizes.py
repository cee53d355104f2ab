from __future__ import annotations

import pytest

from seedbed.demonstrations.published_sizes import Options, demonstrate


def test_entries_are_added_and_tokens_divided_by_parameters() -> None:
    found = list(demonstrate(Options(entries=(3, 4), trained=("a 2 5", "b 0.5 1"))))
    assert [(one.metric, one.value, dict(one.condition)) for one in found] == [
        ("entries", 7, {}),
        ("tokens_per_parameter", 2.5, {"model": "a"}),
        ("tokens_per_parameter", 2, {"model": "b"}),
    ]


@pytest.mark.parametrize("text", ["a 1", "a 0 1", "a 1 -2", "a 1 nan", "a x 1", ""])
def test_a_model_needs_two_numbers_above_0(text: str) -> None:
    with pytest.raises(ValueError, match="expected a name, parameters and tokens, both above 0"):
        Options(entries=(), trained=(text,))
