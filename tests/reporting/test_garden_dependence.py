"""The figures on what an output depends on: every head of every seed, and nothing where nothing was measured."""

from __future__ import annotations

import math
import re
from types import ModuleType

import pytest

from seedbed.observations import Observation, Scalar, rows
from seedbed.reporting.drawing.marks import Mark
from seedbed.reporting.drawing.patterns import Pattern
from seedbed.reporting.drawing.points import Points
from seedbed.reporting.drawing.svg import draw
from seedbed.reporting.figures import Figure
from seedbed.reporting.results import Results, ShownRun
from seedbed.reporting.studies.garden.dependence import dependence_part

SEEDS = (0, 1, 2)
CAUSAL = "100 110 111"
#: How many layers a run has; each has two heads.
LAYERS = {"flm": 2, "flm-one-layer": 1}


def head_measures(name: str, seed: int) -> list[Observation]:
    """The first head looks most; in seed 0 it is the most important one too, in the others the second is."""
    heads = [(layer, head) for layer in range(1, LAYERS[name] + 1) for head in (1, 2)]
    important = (1, 1) if seed == 0 else (1, 2)
    found = [Observation("uniform_share", 0.1, {"group": "subject"}, "share", 300)]
    known: dict[tuple[int, int], float] = {}
    for at in heads:
        place: dict[str, Scalar] = {"layer": at[0], "head": at[1]}
        share = 0.8 if at == (1, 1) else 0.05 * sum(at)
        known[at] = 0.6 if at == important else 0.95 - 0.01 * sum(at)
        found.append(Observation("attention_share", share, {**place, "group": "subject"}, "share", 300))
        found.append(Observation("ablated_probability", known[at], {**place, "window": "outside"}, "share", 300))
    conditions: dict[str, tuple[dict[str, Scalar], float]] = {
        "nothing": ({"without": "nothing"}, 0.98),
        "attentive": ({"without": "most attentive"}, known[1, 1]),
        "important": ({"without": "most important"}, known[important]),
        **{f"layer {k}": ({"layer": k, "head": "all"}, 0.3) for k in range(1, LAYERS[name] + 1)},
    }
    for condition, value in conditions.values():
        found.append(Observation("ablated_probability", value, {**condition, "window": "outside"}, "share", 300))
    found.append(Observation("most_important_looks", float(seed == 0), unit="share"))
    return [*found, Observation("largest_share", 0.8, {"group": "subject"}, "share")]


def dependencies(name: str, seed: int) -> list[Observation]:
    text = CAUSAL if name != "gru" or seed else CAUSAL.replace("111", "011")
    found = [
        Observation("dependency", 1.0, {"on": "text", "pair": "allowed"}, "share", 900),
        Observation("dependency_matrix", math.nan, {"on": "text"}, text=text),
    ]
    if name == "span":
        found.append(Observation("dependency", 1.0, {"on": "source", "pair": "allowed"}, "share", 900))
        found.append(Observation("dependency_matrix", math.nan, {"on": "source"}, text="1111 1111 1111"))
    else:
        found.append(Observation("dependency", 0.0, {"on": "text", "pair": "forbidden"}, "share", 900))
    return found


def results(drawn: ModuleType, heads: tuple[str, ...] = (), dependent: tuple[str, ...] = ()) -> Results:
    runs = [ShownRun(name, f"model {name}", "trained", SEEDS) for name in dict.fromkeys((*heads, *dependent))]
    table = [
        row
        for run in runs
        for seed in run.seeds
        for row in rows(
            [
                *(head_measures(run.name, seed) if run.name in heads else ()),
                *(dependencies(run.name, seed) if run.name in dependent else ()),
            ],
            study="garden",
            run=run.name,
            seed=seed,
        )
    ]
    return Results(drawn.table(table), drawn.study(*runs))


def figures(found: Results) -> dict[str, Figure]:
    (part,) = dependence_part(found, Mark(0.7, "possible", "possible"))
    return {one.name: one for one in part.figures}


@pytest.fixture(scope="module")
def whole(drawn: ModuleType) -> dict[str, Figure]:
    return figures(results(drawn, ("flm", "flm-one-layer"), ("flm", "gru", "span")))


def test_every_head_of_every_seed_is_a_point(whole: dict[str, Figure]) -> None:
    flm, one_layer = (panel.drawing for panel in whole["heads"].panels)
    assert isinstance(flm, Points)
    assert isinstance(one_layer, Points)
    assert (len(flm.points), len(one_layer.points)) == (len(SEEDS) * 4, len(SEEDS) * 2)
    (first,) = [one for one in flm.points if one.label == "seed 0, head 1, layer 1"]
    assert (first.x, first.y, first.contrast) == (0.8, 0.6, False)
    assert {one.contrast for one in flm.points if "layer 2" in one.label} == {True}


def test_the_line_of_a_panel_is_its_run_with_all_heads(whole: dict[str, Figure]) -> None:
    for panel in whole["heads"].panels:
        assert isinstance(panel.drawing, Points)
        assert panel.drawing.mark
        assert panel.drawing.mark.value == pytest.approx(0.98)


def test_seeds_whose_most_important_head_looks_most_are_counted(whole: dict[str, Figure]) -> None:
    assert "model flm, 1 of 3; model flm-one-layer, 1 of 3" in whole["heads"].answer


def test_a_run_has_a_bar_for_each_layer_that_it_has(whole: dict[str, Figure]) -> None:
    labels = [[row.label for row in panel.drawing.rows] for panel in whole["removal"].panels]
    assert [one[-1] for one in labels] == ["all of layer 2", "all of layer 1"]
    assert [len(one) for one in labels] == [5, 4]


def test_a_square_is_the_share_of_seeds_in_which_the_output_depends_on_the_input(whole: dict[str, Figure]) -> None:
    patterns = {one.title: one.drawing for one in whole["dependency"].panels if isinstance(one.drawing, Pattern)}
    assert list(patterns) == ["model flm", "model gru", "model span, its own text", "model span, source"]
    assert patterns["model flm"].rows == ((1, 0, 0), (1, 1, 0), (1, 1, 1))
    assert patterns["model gru"].rows[2] == (pytest.approx(2 / 3), 1, 1)


def test_neighbours_that_are_alike_are_one_mark(whole: dict[str, Figure]) -> None:
    patterns = {one.title: one.drawing for one in whole["dependency"].panels if isinstance(one.drawing, Pattern)}
    assert len(list(patterns["model flm"].stretches())) == 3
    assert "output 3: input 1, in 66.7\xa0% of the seeds; output 3: inputs 2 to 3" in patterns["model gru"].words()


def test_a_text_is_left_to_the_table_of_single_numbers(whole: dict[str, Figure]) -> None:
    assert not whole["dependency"].shows("dependency_matrix", "on=text")
    assert whole["dependency"].shows("dependency", "on=source;pair=allowed")


def test_what_the_masks_forbid_is_told_as_a_number(whole: dict[str, Figure]) -> None:
    answer = whole["dependency"].answer
    assert "depends on 100.0\xa0% of the inputs that its mask allows, and on 0\xa0% of the others" in answer


def test_what_was_not_measured_is_left_out(drawn: ModuleType) -> None:
    assert list(figures(results(drawn, dependent=("flm",)))) == ["dependency"]
    assert list(figures(results(drawn, heads=("flm",)))) == ["heads", "removal"]
    flm = drawn.trained()
    assert not list(dependence_part(Results(drawn.draw_observations(flm), drawn.study(flm)), None))


def test_every_panel_is_drawn_in_colors_of_the_page(whole: dict[str, Figure]) -> None:
    for panel in (panel for one in whole.values() for panel in one.panels):
        assert not re.search(r"#[0-9a-f]{6}\b(?!-)", draw(panel.drawing, "p", panel.title))
