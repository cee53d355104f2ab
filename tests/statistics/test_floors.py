"""A number below its exact floor is found, and one that chance or rounding explains is not."""

from __future__ import annotations

import math

import pytest

from seedbed.statistics.floors import floor_violations


def row(metric: str, condition: str, value: float | None, error: float | None = 0.01) -> dict[str, object]:
    where = {"study": "garden", "run": "flm", "seed": 3, "metric": metric, "condition": condition}
    return where | {"value": value, "item_error": error}


@pytest.mark.parametrize(
    "honest",
    [
        row("excess", "sentences=all", 0.2),
        row("excess", "sentences=all", -0.049),
        row("excess", "sentences=all", math.nan),
        row("excess", "sentences=all", None),
        row("excess", "sentences=all", -0.1, math.nan),
        row("excess", "sentences=withheld", -1.0),
        row("loss", "sentences=all", -1.0),
        row("divergence", "sentences=other", -1e-7, None),
        row("cloze_divergence", "method=direct", 0.0, None),
    ],
)
def test_a_possible_number_is_no_violation(honest: dict[str, object]) -> None:
    assert floor_violations([honest]) == []


@pytest.mark.parametrize(
    "impossible",
    [
        row("excess", "sentences=all", -0.051),
        row("excess", "sentences=all", -0.001, None),
        row("continuation_excess", "", -0.2),
        row("divergence", "sentences=other", -1e-4),
        row("cloze_divergence", "evidence=behind;method=direct", -1e-3),
    ],
)
def test_an_impossible_number_is_named(impossible: dict[str, object]) -> None:
    (found,) = floor_violations([row("excess", "sentences=all", 0.1), impossible])
    assert (found.study, found.run, found.seed, found.value) == ("garden", "flm", 3, impossible["value"])
    assert found.words.startswith(f"flm, seed 3: {impossible['metric']}")


def test_a_reference_run_has_no_seed() -> None:
    (found,) = floor_violations([row("excess", "sentences=all", -1.0) | {"run": "exact", "seed": math.nan}])
    assert found.words == ("exact: excess (sentences=all) is -1, below 0 by more than chance allows (-0.05)")
