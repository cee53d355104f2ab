import math

import pytest

from seedbed.statistics.numbers import number_text, seeds_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.85149, "3.851"),
        (0.05, "0.05"),
        (-0.0681, "−0.0681"),
        (106496.0, "106,496"),
        (999.96, "1000"),
        (6.6e-05, "6.6e−05"),
        (0.0, "0"),
        (math.nan, "undefined"),
        (-math.inf, "undefined"),
    ],
)
def test_a_number_is_written_as_people_write_it(value: float, text: str) -> None:
    assert number_text(value) == text


def test_one_seed_is_singular() -> None:
    assert [seeds_text(count) for count in (0, 1, 2)] == ["0 seeds", "1 seed", "2 seeds"]
