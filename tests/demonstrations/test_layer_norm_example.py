"""The example by hand."""

from __future__ import annotations

import pytest

from seedbed.demonstrations.layer_norm_example import Options, demonstrate
from seedbed.observations import condition_text


def test_two_numbers_become_minus_one_and_one_whatever_they_are() -> None:
    found = {
        f"{one.metric} {condition_text(one.condition)}": one.value
        for one in demonstrate(Options((3, 7), factor=5, shift=-2))
    }
    for numbers, mean, deviation in (("plain", 5, 2), ("scaled", 25, 10), ("shifted", 3, 2)):
        assert found[f"mean numbers={numbers}"] == mean
        assert found[f"deviation numbers={numbers}"] == deviation
        assert [found[f"normed numbers={numbers};place={place}"] for place in (0, 1)] == [-1, 1]


@pytest.mark.parametrize(
    ("numbers", "factor", "message"),
    [
        ((2, 2), 10, r"numbers \[2, 2\]: expected two different ones"),
        ((1, 2), 0, "factor 0: expected above 0"),
    ],
)
def test_bad_options_are_refused(numbers: tuple[float, ...], factor: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Options(numbers, factor)
