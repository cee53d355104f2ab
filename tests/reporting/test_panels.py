"""Blocks: what panels hold is compared with the drawn observations themselves."""

import math
from dataclasses import replace
from types import ModuleType

import drawn_farm as farm
import numpy as np
import pandas as pd
import pytest

from seedbed.observations import Observation, rows
from seedbed.reporting.drawing.curves import Curve
from seedbed.reporting.drawing.stacks import KINDS
from seedbed.reporting.figures import figure
from seedbed.reporting.panels.bars import bars, stacks
from seedbed.reporting.panels.heat_maps import heat_map_of_runs, heat_maps
from seedbed.reporting.panels.lines import lines, lines_beside, mean_curve
from seedbed.reporting.panels.strips import beside, group, matrix, strip, trained_limits
from seedbed.reporting.results import Measure, Results

TABLE = farm.observations()
RESULTS = Results(TABLE, farm.STUDY)
NEAR, FAR, EXACT = farm.RUNS


def _column(run: str, metric: str, condition: str) -> dict[int, float]:
    chosen = (TABLE["run"] == run) & (TABLE["metric"] == metric) & (TABLE["condition"] == condition)
    return {
        int(seed): float(value) for seed, value in zip(TABLE[chosen]["seed"], TABLE[chosen]["value"], strict=True)
    }


def _results(drawn: ModuleType, *found: tuple[str, int, Observation]) -> Results:
    table = [row for run, seed, one in found for row in rows([one], study="farm", run=run, seed=seed)]
    return Results(drawn.table(table), farm.STUDY)


# --- lines


def test_a_line_has_every_seed_at_every_number_in_the_order_of_the_numbers() -> None:
    panel = lines(RESULTS, farm.AGREEMENT, "attractors").panels[0].drawing
    seeds = [curve for curve in panel.curves if curve.role == "seed"]
    assert len(seeds) == 3
    for seed, curve in enumerate(seeds):
        expected = [(k, _column("near", "agreement", f"attractors={k}")[seed]) for k in (0, 1, 2, 4, 8, 16)]
        assert curve.points == tuple(expected)


def test_the_mean_of_a_line_is_that_of_its_seeds_and_stands_behind_the_other_runs() -> None:
    first, second, _ = (panel.drawing for panel in lines(RESULTS, farm.AGREEMENT, "attractors").panels)
    (mean,) = [curve for curve in first.curves if curve.role == "mean"]
    assert mean.points[3] == (
        4,
        pytest.approx(np.mean(list(_column("near", "agreement", "attractors=4").values()))),
    )
    assert mean.points in [curve.points for curve in second.curves if curve.role == "other"]
    assert mean.points not in [curve.points for curve in first.curves if curve.role == "other"]


def test_the_panels_of_a_block_share_their_axes() -> None:
    block = lines(RESULTS, farm.AGREEMENT, "attractors")
    assert len({panel.drawing.y.limits for panel in block.panels}) == 1


def test_a_mean_stands_only_where_every_seed_has_a_point() -> None:
    curves = [Curve("a", ((1, 1.0), (2, 3.0))), Curve("b", ((1, 2.0),))]
    mean = mean_curve("run", curves, exponentiated=False)
    assert mean is not None
    assert mean.points == ((1, 1.5),)
    assert mean_curve("run", [], exponentiated=False) is None


def test_a_perplexity_is_averaged_on_its_logarithm() -> None:
    curves = [Curve("a", ((1, 2.0),)), Curve("b", ((1, 8.0),))]
    mean = mean_curve("run", curves, exponentiated=True)
    assert mean is not None
    assert mean.points == ((1, pytest.approx(4.0)),)


def test_what_a_logarithmic_axis_cannot_show_is_told(drawn: ModuleType) -> None:
    found = [
        ("near", 0, Observation("gradient", value, {"distance": k})) for k, value in ((1, 0.5), (2, 0.0), (3, 0.1))
    ]
    results = _results(drawn, *found)
    (panel,) = lines(results, farm.GRADIENT, "distance", [replace(NEAR, seeds=(0,))], ("linear", "log")).panels
    assert "absent" in {key.shape for key in panel.drawing.legend()}
    panel.drawing.figure()


def test_two_runs_of_a_panel_differ_by_more_than_their_colour() -> None:
    (panel,) = lines_beside(RESULTS, farm.AGREEMENT, "attractors", [(NEAR, FAR)], ("adapted", "scratch")).panels
    assert {(key.shape, key.words) for key in panel.drawing.legend()} >= {
        ("curve", "adapted"),
        ("dashes", "scratch"),
    }


# --- strips and bars


def test_a_strip_shows_the_runs_that_have_the_measure(drawn: ModuleType) -> None:
    results = _results(drawn, ("far", 0, Observation("cut", 0.5, {"connection": "none"}, "share", 10)))
    assert strip(results, farm.CUT.at({"connection": "none"})).runs == (FAR,)


def test_a_matrix_has_one_axis_and_a_small_panel_a_task() -> None:
    block = matrix(RESULTS, farm.TASKS)
    assert [panel.title for panel in block.panels] == ["cloze", "continuation", "copy"]
    assert len({panel.drawing.limits for panel in block.panels}) == 1
    assert all(panel.drawing.small for panel in block.panels)


def test_a_bar_leads_from_zero_to_the_mean_of_its_condition() -> None:
    panel = bars(RESULTS, farm.CUT, "connection").panels[0].drawing
    assert [row.label for row in panel.rows] == ["none", "subject", "verb before"]
    one = panel.rows[1].groups[0]
    assert one.bar
    assert one.mean == pytest.approx(np.mean(list(_column("near", "cut", "connection=subject").values())))
    assert panel.limits[0] <= 0


def test_two_runs_on_a_row_are_the_pair_that_was_asked_for() -> None:
    measure = farm.CUT.at({"connection": "none"})
    (panel,) = beside(RESULTS, measure, "Accuracy", [(NEAR, FAR)], ("adapted", "scratch")).panels
    first, second = panel.drawing.rows[0].groups
    assert (first.values, second.values) == (RESULTS.values(NEAR, measure), RESULTS.values(FAR, measure))
    assert (first.contrast, second.contrast) == (False, True)


@pytest.mark.parametrize("values", [(0.97, 1.0, 1.0), (0.0, 0.0, 0.05)])
def test_the_interval_of_a_share_ends_where_no_share_can_be(drawn: ModuleType, values: tuple[float, ...]) -> None:
    measure = Measure("right", "right", "right", "share")
    results = _results(
        drawn, *[("near", s, Observation("right", v, unit="share", n=100)) for s, v in enumerate(values)]
    )
    (span,) = group(results, NEAR, measure).spans
    assert 0 <= span.low < np.mean(values) < span.high <= 1


def test_an_axis_of_trained_runs_leaves_a_far_reference_beyond(drawn: ModuleType) -> None:
    measure = farm.CUT.at({"connection": "none"})
    block = strip(RESULTS, measure, limits=trained_limits(RESULTS, [measure]))
    low, high = block.panels[0].drawing.limits
    for run in (NEAR, FAR):
        assert all(low < value < high for value in RESULTS.values(run, measure).values() if value is not None)


# --- stacks


def test_a_stack_is_every_seeds_kinds_and_the_smallest_are_drawn_as_one() -> None:
    panel = stacks(RESULTS, farm.ERRORS, "error", "Errors").panels[0].drawing
    assert len(panel.kinds) == len(KINDS)
    assert panel.kinds[-1] == "3 other kinds"
    for stack in panel.rows[0].stacks:
        assert math.fsum(size or 0 for size in stack.sizes) == pytest.approx(1)
        assert stack.sizes[-2] == _column("near", "errors", "error=kind h")[stack.seed]


def test_kinds_are_told_by_letters_besides_their_colours() -> None:
    panel = stacks(RESULTS, farm.ERRORS, "error", "Errors").panels[0].drawing
    assert [key.words[:2] for key in panel.legend()][: len(KINDS)] == ["a:", "b:", "c:", "d:", "e:", "f:"]


# --- heat maps


def test_a_cell_is_the_mean_over_seeds_and_tells_each() -> None:
    panel = heat_maps(RESULTS, farm.ATTENTION, ("layer", "head"), "group").panels[0].drawing
    assert [row.label for row in panel.rows][:2] == ["layer 1, head 1", "layer 1, head 2"]
    values = _column("near", "attention", "group=other;head=2;layer=1")
    cell = panel.rows[1].cells[panel.columns.index("other")]
    assert cell.value == pytest.approx(np.mean(list(values.values())))
    assert all(f"{100 * value:.1f}" in cell.words for value in values.values())


def test_the_key_of_a_heat_map_says_what_its_numbers_are() -> None:
    runs = (NEAR, replace(NEAR, seeds=(1,)), EXACT)
    panels = heat_maps(RESULTS, farm.ATTENTION, ("layer", "head"), "group", runs).panels
    told = [panel.drawing.legend()[0].words.partition(",")[0] for panel in panels]
    assert told == ["mean over seeds", "one seed", "reference"]


def test_a_combination_that_was_not_measured_is_an_empty_cell(drawn: ModuleType) -> None:
    found = [
        ("near", 0, Observation("attention", 0.5, at, "share", 9))
        for at in ({"layer": 1, "head": 1}, {"layer": 2, "head": 2})
    ]
    panel = heat_maps(_results(drawn, *found), farm.ATTENTION, ("layer",), "head").panels[0].drawing
    assert [[cell.value for cell in row.cells] for row in panel.rows] == [[0.5, None], [None, 0.5]]
    panel.figure()


def test_numbers_below_zero_are_told_apart_in_the_key(drawn: ModuleType) -> None:
    found = [("near", 0, Observation("x", value, {"k": k})) for k, value in ((1, -2.0), (2, 1.0), (3, math.nan))]
    panel = heat_map_of_runs(_results(drawn, *found), Measure("x", "x", "x", ""), "k", "X").panels[0].drawing
    assert [key.shape for key in panel.legend()] == ["above", "below"]
    panel.figure()


# --- figures


def test_a_figure_of_blocks_has_every_seed_of_all_that_they_show() -> None:
    blocks = lines(RESULTS, farm.AGREEMENT, "attractors"), bars(RESULTS, farm.CUT, "connection")
    one = figure(RESULTS, "both", "Both?", "Yes.", *blocks)
    assert [column.key for column in one.table.columns][2:4] == [
        "agreement(attractors=0)",
        "agreement(attractors=1)",
    ]
    assert len(one.table.columns) == 2 + 6 + 3
    assert [row[:2] for row in one.table.rows] == [
        *((run, s) for run in ("near", "far") for s in range(3)),
        ("exact", "none"),
    ]
    assert one.shows("cut", "connection=subject")
    assert [small for small, _ in one.grids] == [True, False]


def test_a_figure_spells_out_what_it_shows_once_however_often_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    one = figure(RESULTS, "lines", "Lines?", "Yes.", lines(RESULTS, farm.AGREEMENT, "attractors"))
    spelt: list[object] = []
    monkeypatch.setattr("seedbed.reporting.figures.condition_text", lambda at: spelt.append(at) or "at")
    assert [one.shows("agreement", text) for text in ("at", "elsewhere", "at")] == [True, False, True]
    assert len(spelt) == len(one.measures)


def test_a_block_of_nothing_draws_nothing() -> None:
    nothing = Results(pd.DataFrame(TABLE.iloc[:0]), farm.STUDY)
    for block in (
        lines(nothing, farm.AGREEMENT, "attractors"),
        bars(nothing, farm.CUT, "connection"),
        heat_maps(nothing, farm.ATTENTION, ("layer",), "head"),
        stacks(nothing, farm.ERRORS, "error", "Errors"),
        strip(nothing, farm.CUT),
        matrix(nothing, farm.TASKS),
    ):
        assert figure(nothing, "none", "None?", "No.", block).grids == []
