import math

import pytest

from seedbed.reporting.numbers import brackets, ends, number, spread
from seedbed.statistics.intervals import Interval, t_interval


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (3.86849, "perplexity", "3.868"),
        (0.05456, "nat", "0.0546"),
        (-0.0023, "nat", "−0.0023"),
        (0.0, "nat", "0"),
        (0.741, "share", "74.1\u00a0%"),
        (6.6e-5, "share", "6.6 × 10⁻⁵"),
        (-3e-7, "nat", "−3.0 × 10⁻⁷"),
        (1.234e-9, "ratio", "1.2 × 10⁻⁹"),
        (106_496, "count", "106,496"),
        (5.8, "count", "5.8"),
        (0.0015, "rate", "0.0015"),
        (1234.56, "second", "1,234.6"),
        (2.0, "unknown unit", "2"),
        (3.8684912345, "nine digits", "3.86849123"),
        (6.6123456789e-5, "nine digits", "6.61234568 × 10⁻⁵"),
    ],
)
def test_numbers_are_written_by_their_unit(value: float, unit: str, text: str) -> None:
    assert number(value, unit) == text


def test_what_is_no_number_is_a_word() -> None:
    assert number(None, "nat") == "not measured"
    assert {number(value, "nat") for value in (math.nan, math.inf, -math.inf)} == {"non-finite"}


def test_an_interval_says_why_it_has_no_ends() -> None:
    assert ends(t_interval([]), "nat") == "not measured"
    assert ends(t_interval([1.0]), "nat") == "undefined, one seed"
    assert ends(t_interval([1.0, math.nan]), "nat") == "undefined, a seed is non-finite"
    assert ends(Interval(2, 1, 3, 5), "perplexity") == "1.000 to 3.000"
    assert brackets(Interval(2, 1, 3, 5), "perplexity") == "[1.000, 3.000]"


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([5, 7, 6], "5 to 7"),
        ([6, 6], "6"),
        ([None, None], "not measured"),
        ([math.nan, None], "non-finite"),
        ([6, math.nan], "6, some non-finite"),
        ([], "not measured"),
    ],
)
def test_a_spread_hides_nothing(values: list[float | None], text: str) -> None:
    assert spread(values, "count") == text
