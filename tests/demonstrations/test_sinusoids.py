"""Sinusoidal positions, their shifts and dot products, against cases by hand and complex rotations."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterable

import numpy as np
import pytest

from seedbed.demonstrations import index_features, position_dot_products, position_shifts, sinusoids
from seedbed.demonstrations.numpy_positions import frequencies, rotation, vectors
from seedbed.observations import Observation, condition_text


def by_name(found: Iterable[Observation]) -> dict[str, float]:
    rows = list(found)
    named = {f"{one.metric} {condition_text(one.condition)}".strip(): float(one.value) for one in rows}
    assert len(named) == len(rows)
    return named


def test_vectors_by_hand() -> None:
    """At width 4 the second pair turns by 1/100."""
    assert np.allclose(vectors([0], 4), [[0, 1, 0, 1]])
    expected = [[math.sin(-3), math.cos(3), math.sin(-0.03), math.cos(0.03)]]
    assert np.allclose(vectors([-3], 4), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("shift", [-7, 0, 1, 30])
def test_a_rotation_turns_each_pair_as_a_complex_number(shift: int) -> None:
    moved = vectors([11], 6) @ rotation(shift, 6)
    for pair, speed in enumerate(frequencies(6)):
        turned = cmath.exp(1j * speed * 11) * cmath.exp(1j * speed * shift)
        assert cmath.isclose(complex(moved[0, 2 * pair + 1], moved[0, 2 * pair]), turned, rel_tol=1e-12)


def test_clocks_of_two_pairs() -> None:
    found = by_name(sinusoids.demonstrate(sinusoids.Options(width=4, widths=(4,), shown=2, shown_width=4)))
    assert found["wavelength pair=0"] == pytest.approx(2 * math.pi, rel=1e-6)
    assert found["wavelength pair=1"] == pytest.approx(200 * math.pi, rel=1e-6)
    assert found["wavelength_ratio of=smallest"] == pytest.approx(100, rel=1e-6)
    assert found["neighbour_distance pair=0"] == pytest.approx(2 * math.sin(0.5), rel=1e-6)
    # 44 positions are nearly seven turns of the first pair; the second one needs more than 199 for one.
    assert found["far_to_near pair=0"] < 0.02
    assert found["far_to_near pair=1"] == pytest.approx(math.sin(0.1) / math.sin(0.005), rel=1e-4)
    assert found["norm of=shortest;width=4"] == pytest.approx(math.sqrt(2), rel=1e-6)
    assert found["value column=2;position=1"] == pytest.approx(math.sin(0.01), rel=1e-6)


def test_equal_vectors_would_be_found() -> None:
    """At width 2, positions 0 and 44 are 44 − 14π apart on the circle, and 0 and 710 nearly the same."""
    options = sinusoids.Options(width=4, widths=(2,), positions=711)
    assert by_name(sinusoids.demonstrate(options))["nearest width=2"] < 1e-4


def test_shifts_hold_to_the_precision_of_the_table() -> None:
    found = by_name(position_shifts.demonstrate(position_shifts.Options()))
    for name, error in found.items():
        limits = {"table=seedbed": 2e-7, "table=numpy": 1e-12, "table=single": 1e-4}
        for table, limit in limits.items():
            if name.startswith("shift_error") and table in name:
                assert error < limit
    assert found["shift_error shift=50;table=single"] > 1e-6
    assert found["turn pair=0;shift=-5"] == pytest.approx(2 * math.pi - 5, rel=1e-6)
    assert found["turn pair=0;shift=10"] == pytest.approx(10 - 4 * math.pi, rel=1e-5)
    assert found["entry column=0;row=1"] == pytest.approx(math.sin(1))
    assert found["entry column=1;row=0"] == pytest.approx(-math.sin(1))


def test_dot_products_of_one_pair_are_a_cosine() -> None:
    options = position_dot_products.Options(widths=(2,), starts=(0, 5), distances=(3,), longest=7, rising=7)
    found = by_name(position_dot_products.demonstrate(options))
    assert found["dot_product distance=3;start=5;width=2"] == pytest.approx(math.cos(3), abs=1e-6)
    assert found["by_distance distance=7;width=2"] == pytest.approx(math.cos(7), abs=1e-6)
    assert found["rises width=2"] == 3  # from 3 on: cos 3 < cos 4 < cos 5 < cos 6, and cos 7 < cos 6
    assert found["lead_at_zero width=2"] == pytest.approx(1 - math.cos(6), abs=1e-6)
    for metric in ("start_difference", "formula_difference", "direction_difference"):
        assert found[f"{metric} table=numpy;width=2"] < 1e-14


def test_features_by_hand() -> None:
    found = by_name(index_features.demonstrate(index_features.Options(lengths=(4,), width=2)))
    assert [found[f"largest feature={name};length=4"] for name in ("index", "fraction")] == [3, 0.75]
    assert [found[f"step feature={name};length=4"] for name in ("index", "fraction")] == [1, 0.25]
    assert found["step feature=sinusoidal;length=4"] == pytest.approx(2 * math.sin(0.5), rel=1e-6)
    assert found["distinct feature=sinusoidal;length=4"] == 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sinusoids.Options(width=3), "width 3: expected an even number from 2"),
        (lambda: sinusoids.Options(width=2), "width 2: expected at least 4"),
        (lambda: sinusoids.Options(positions=20), "positions 20: expected at least 21"),
        (lambda: position_shifts.Options(shifts=(300,)), r"shifts \[300\]: expected at least one, each below"),
        (lambda: position_shifts.Options(single_shifts=(-1,)), r"single_shifts \[-1\]"),
        (lambda: position_shifts.Options(composed=()), r"composed \[\]"),
        (lambda: position_dot_products.Options(distances=(101,)), "expected them from 1 to longest 100"),
        (lambda: position_dot_products.Options(distances=()), "expected them from 1"),
        (lambda: position_dot_products.Options(starts=()), "start -1: expected at least 0"),
        (lambda: index_features.Options(lengths=(1,)), "length 1: expected at least 2"),
    ],
)
def test_bad_options_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
