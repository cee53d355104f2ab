"""The figures of the farm study: what their sentences say is counted from the observations."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pandas as pd
import pytest

from seedbed.configuration.configuration import Configuration
from seedbed.observations import Observation, Scalar, rows
from seedbed.reporting.results import Results, ShownRun, ShownStudy
from seedbed.reporting.studies import farm

RUNS = (
    ShownRun("rnn", "RNN", "trained", (0, 1)),
    ShownRun("gpt", "GPT", "trained", (0, 1, 2)),
    ShownRun("gpt-nope", "no positions", "trained", (0, 1, 2)),
    ShownRun("gpt-sd-100", "large", "trained", (0, 1)),
    ShownRun("exact", "the language itself", "reference"),
)
STUDY = ShownStudy("farm", "The farm", "Lead.", "farm", True, RUNS)
#: The agreement of a seed with 4 to 8 attractors, of each run.
BEYOND = {
    "rnn": (1.0, 1.0),
    "gpt": (1.0, 0.25, 0.5),
    "gpt-nope": (1.0, 1.0, 0.875),
    "gpt-sd-100": (0.125, 0.0),
}


def measured(run: str, seed: int) -> Iterator[Observation]:
    for attractors in range(9):
        value = BEYOND[run][seed] if attractors == 6 else 1.0
        yield Observation(
            "agreement_accuracy", value, {"attractors": attractors, "numbers": "opposite"}, "share", 400
        )
        for nearest in ("same", "opposite"):
            mixed: dict[str, Scalar] = {"attractors": attractors, "numbers": "mixed", "nearest": nearest}
            yield Observation("agreement_accuracy", value, mixed, "share", 200)
    for metric, value in (("loss", 0.93), ("language_loss", 0.925), ("divergence", 0.005), ("excess", 0.005)):
        yield Observation(metric, value + 0.001 * seed, {"sentences": "all"}, "nat", 2000)
    if run.startswith("gpt"):
        yield Observation("uniform_share", 0.125, {"group": "subject"}, "share")
        for layer in (1, 2):
            for group in ("subject", "prepositions"):
                at: dict[str, Scalar] = {"layer": layer, "group": group}
                yield Observation("largest_share", 0.75, at, "share", 400)
                yield Observation("attention_share", 0.75, {**at, "head": 1}, "share", 400)
        for group, value in (("nothing", 1.0), ("subject", 0.0625)):
            yield Observation("cut_accuracy", value, {"cut": group}, "share", 400)


@pytest.fixture(scope="module")
def results() -> Results:
    found = [
        row
        for run in RUNS
        for seed in run.seeds
        for row in rows(measured(run.name, seed), study="farm", run=run.name, seed=seed)
    ]
    return Results(pd.DataFrame(found).assign(text=None), STUDY)


def test_a_seed_fails_where_any_number_of_attractors_takes_it_below_three_quarters(results: Results) -> None:
    sentence = farm.headline(results).sentence
    assert "in 100.0\N{NO-BREAK SPACE}% of cases" in sentence
    assert sentence.endswith("GPT: 2 of 3; no positions: 0 of 3.")


def test_the_facts_are_the_lowest_agreement_of_each_encoding(results: Results) -> None:
    percent = "\N{NO-BREAK SPACE}%"
    assert [fact.number for fact in farm.headline(results).facts] == [f"25.0{percent}", f"87.5{percent}"]


def test_the_sizes_stand_in_their_order_and_apart_from_the_other_figures(results: Results) -> None:
    figures = {one.name: one for part in farm.parts(results) for one in part.figures}
    assert "GPT: 2 of 3; large: 2 of 2" in figures["sizes"].answer
    shown = {row[0] for row in figures["closeness"].table.rows}
    assert shown == {"rnn", "gpt", "gpt-nope", "exact"}


def test_the_table_of_heads_has_every_seed_once_though_one_is_drawn(results: Results) -> None:
    (heads,) = [one for part in farm.parts(results) for one in part.figures if one.name == "heads"]
    assert heads.panels[0].title == "GPT, seed 0"
    seeds = [(run, seed) for run in ("gpt", "gpt-nope") for seed in range(3)]
    assert [row[:2] for row in heads.table.rows] == [*seeds, *(("gpt-sd-100", seed) for seed in range(2))]


def test_every_figure_has_something_to_draw(results: Results) -> None:
    for part in farm.parts(results):
        for one in part.figures:
            assert not all(panel.drawing.empty for panel in one.panels), one.name


def test_nothing_measured_is_said_in_words(drawn: ModuleType) -> None:
    nothing = Results(drawn.table([]), STUDY)
    assert farm.headline(nothing).sentence == "The farm study has no finite result in this build."
    assert [one.name for part in farm.parts(nothing) for one in part.figures]


def test_the_share_of_a_head_is_read_against_that_of_a_uniform_one_as_it_was_measured(results: Results) -> None:
    (heads,) = [one for part in farm.parts(results) for one in part.figures if one.name == "heads"]
    assert "With equal attention on all positions it would be 12.5\N{NO-BREAK SPACE}%" in heads.answer


def test_the_attractors_that_the_sentences_speak_of_are_those_of_the_study() -> None:
    evaluations = Configuration({"studies": ["farm"]}).studies["farm"].evaluations
    assert evaluations["agreement"].options["most_attractors"] == farm.MOST
    assert {evaluations[name].options["attractors"] for name in ("heads", "interventions")} == {farm.SEEN}


def test_every_run_that_the_figures_name_is_one_of_the_study() -> None:
    runs = Configuration({"studies": ["farm"]}).studies["farm"].runs
    assert {*farm.ENCODINGS} <= runs.keys()
    assert all(any(name.startswith(prefix) for name in runs) for prefix in farm.VARIANTS)
