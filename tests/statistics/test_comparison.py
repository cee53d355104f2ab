"""What counts as moved, and how often a number that did not move is reported as moved."""

from __future__ import annotations

import math

import pytest

from seedbed.randomness import stream
from seedbed.statistics.comparison import (
    ComparedItem,
    compare_rows,
    compare_verdicts,
    compare_watched,
    resolutions,
)
from seedbed.statistics.decisions import Outcome
from seedbed.statistics.observed import ObservationKey, ObservationTable
from seedbed.statistics.verdicts import Verdict

CELL = ObservationKey("garden", "flm", "divergence", "")


def row(value: float, seed: int | None = 0, **more: object) -> dict[str, object]:
    given = {"study": "garden", "run": "flm", "metric": "divergence", "condition": "", "text": "", "n": None}
    return given | {"seed": seed, "value": value, "unit": "nat", "recipe": "r"} | more


def outcomes(now: list[dict[str, object]], reference: list[dict[str, object]]) -> list[str]:
    return [one.outcome for one in compare_rows(now, reference, decides=True)]


@pytest.mark.parametrize(
    ("now", "then", "outcome"),
    [
        (1.0, 1.0 + 1e-7, "same"),
        (1.0, 1.0 + 2e-6, "moved"),
        (0.0, 0.0, "same"),
        (0.0, 1e-9, "moved"),
        (math.nan, math.nan, "same"),
        (math.nan, 1.0, "moved"),
        (1.0, math.nan, "moved"),
        (math.inf, 1.0, "moved"),
        (math.inf, math.inf, "same"),
    ],
)
def test_a_row_is_the_same_to_a_millionth(now: float, then: float, outcome: str) -> None:
    assert outcomes([row(now)], [row(then)]) == [outcome]


def test_another_text_has_moved() -> None:
    assert outcomes([row(math.nan, text="a")], [row(math.nan, text="b")]) == ["moved"]


def test_a_row_of_another_recipe_says_nothing() -> None:
    (one,) = compare_rows([row(2.0, recipe="s")], [row(1.0)], decides=True)
    assert one.outcome == "other recipe"
    assert not one.failed


def test_a_row_that_its_recipe_no_longer_yields_is_missing() -> None:
    found = compare_rows([row(1.0)], [row(1.0), row(1.0, metric="excess")], decides=True)
    assert [(one.metric, one.outcome, one.failed) for one in found] == [
        ("divergence", "same", False),
        ("excess", "missing", True),
    ]


def test_a_seed_that_was_not_run_again_is_not_compared() -> None:
    assert outcomes([row(1.0)], [row(1.0), row(1.0, 7, recipe="r7")]) == ["same"]


def test_a_row_that_the_reference_does_not_have_is_new_and_fails_nothing() -> None:
    found = compare_rows([row(1.0), row(1.0, metric="excess")], [row(1.0)], decides=True)
    assert [(one.outcome, one.failed) for one in found] == [("same", False), ("new", False)]


def test_elsewhere_a_moved_row_fails_nothing() -> None:
    (one,) = compare_rows([row(2.0)], [row(1.0)], decides=False)
    assert (one.outcome, one.failed) == ("moved", False)


def test_a_reference_run_has_no_seed_in_either_form() -> None:
    assert outcomes([row(1.0, None)], [row(1.0, math.nan)]) == ["same"]  # type: ignore[arg-type]


def watched(now: list[float], then: list[float], **more: object) -> ComparedItem:
    tables = [
        ObservationTable([row(value, seed, **more) for seed, value in enumerate(values)]) for values in (now, then)
    ]
    known = resolutions([row(then[0], **more)]) if then else {}
    (one,) = compare_watched([CELL], tables[0], tables[1], known)
    return one


def test_a_mean_is_expected_in_the_prediction_interval() -> None:
    then = [1.0, 1.1, 0.9, 1.05, 0.95]
    # t of 4 degrees of freedom at 97.5 % is 2.7764; s = .0790569; n = 2, K = 5.
    half = 2.7764451 * 0.07905694 * math.sqrt(1 / 5 + 1 / 2)
    inside, outside = watched([1 + half * 0.99] * 2, then), watched([1 + half * 1.01] * 2, then)
    assert (inside.low, inside.high) == pytest.approx((1 - half, 1 + half), abs=1e-6)
    assert [inside.outcome, outside.outcome] == ["same", "moved"]
    assert outside.failed


def test_seeds_that_were_all_alike_leave_the_resolution_of_the_measurement() -> None:
    share = {"unit": "share", "n": 500}
    assert watched([0.998, 1.0], [1.0, 1.0, 1.0], **share).outcome == "same"
    assert watched([0.996, 0.998], [1.0, 1.0, 1.0], **share).outcome == "moved"
    assert watched([1.00001], [1.0, 1.0]).outcome == "moved"


@pytest.mark.parametrize("now", [[], [1.0, math.nan], [math.inf]])
def test_what_is_missing_or_not_finite_is_never_the_same(now: list[float]) -> None:
    assert watched(now, [1.0, 1.1, 0.9]).failed


@pytest.mark.parametrize(
    ("now", "then", "outcome"),
    [([1.0], [], "new"), ([math.nan], [math.nan], "same"), ([1.0], [math.nan], "moved"), ([], [1.0], "missing")],
)
def test_only_what_the_reference_has_can_have_moved(now: list[float], then: list[float], outcome: str) -> None:
    found = watched(now, then)
    assert (found.outcome, found.failed) == (outcome, outcome in ("moved", "missing"))


def test_without_a_change_a_list_of_numbers_moves_in_at_most_five_percent_of_builds() -> None:
    rng, alarms, builds = stream(0, "reference under the null"), 0, 400
    cells = [CELL._replace(metric=f"m{index}") for index in range(10)]
    for _ in range(builds):
        tables = [
            ObservationTable(
                row(float(value), seed, metric=cell.metric)
                for cell, values in zip(cells, rng.normal(1, 0.1, (len(cells), seeds)), strict=True)
                for seed, value in enumerate(values)
            )
            for seeds in (5, 10)
        ]
        alarms += any(one.failed for one in compare_watched(cells, *tables, {}))
    assert alarms / builds <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / builds)
    assert alarms > 0


def test_a_large_change_of_one_number_among_many_is_found() -> None:
    rng = stream(1, "reference under the null")
    cells = [CELL._replace(metric=f"m{index}") for index in range(60)]
    then, now = (rng.normal(1, 0.1, (60, seeds)) for seeds in (10, 5))
    now[17] += 1
    tables = [
        ObservationTable(
            row(float(value), seed, metric=cell.metric)
            for cell, values in zip(cells, drawn, strict=True)
            for seed, value in enumerate(values)
        )
        for drawn in (now, then)
    ]
    moved = [one.metric for one in compare_watched(cells, *tables, {}) if one.failed]
    assert "m17" in moved


@pytest.mark.parametrize(
    ("now", "then", "moved"),
    [
        ("reproduced", "reproduced", False),
        ("contradicted", "reproduced", True),
        ("reproduced", "differs", True),
    ],
)
def test_a_verdict_moves_when_it_is_decided_the_other_way(now: Outcome, then: Outcome, moved: bool) -> None:
    (one,) = compare_verdicts([verdict(now)], [verdict(then)], {"garden"}, ())
    assert one.failed == moved
    assert one.text == f"{then} → {now}"


def test_a_verdict_decides_nothing_on_another_processor_and_with_another_recipe() -> None:
    pair = ([verdict("reproduced")], [verdict("contradicted")])
    (elsewhere,) = compare_verdicts(*pair, {"farm"}, ())
    assert (elsewhere.outcome, elsewhere.failed) == ("moved", False)
    (changed,) = compare_verdicts(*pair, {"garden"}, {("garden", "flm")})
    assert (changed.outcome, changed.failed) == ("other recipe", False)


@pytest.mark.parametrize(
    ("now", "then"), [("undecided", "reproduced"), ("reproduced", "not run"), ("undecided", "undecided")]
)
def test_what_one_side_leaves_undecided_is_neither_moved_nor_the_same(now: Outcome, then: Outcome) -> None:
    assert compare_verdicts([verdict(now)], [verdict(then)], {"garden"}, ()) == []


def verdict(outcome: Outcome) -> Verdict:
    return Verdict("lecture:it", outcome, "", evidence=(ObservationKey("garden", "flm", "loss", ""),))
