"""The figures of the recall study: what their sentences say is counted from the observations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from types import ModuleType

import pandas as pd
import pytest

from seedbed.configuration.configuration import Configuration
from seedbed.observations import Observation, Scalar, rows
from seedbed.reporting.figures import Figure
from seedbed.reporting.results import Results, ShownRun, ShownStudy
from seedbed.reporting.studies import recall
from seedbed.tasks import recall as task

RUNS = (
    ShownRun("rnn-short", "RNN, d 1 to 20", "trained", (0, 1)),
    ShownRun("rnn-wide", "RNN, d 1 to 100", "trained", (0, 1, 2)),
    ShownRun("lstm-wide", "LSTM, d 1 to 100", "trained", (0, 1)),
    ShownRun("lstm-long", "LSTM, d 50 to 100", "trained", (0, 1)),
    ShownRun("lstm-curriculum", "LSTM, d 1 to 20, then 50 to 100", "trained", (0, 1)),
    ShownRun("transformer-long", "Transformer, d 50 to 100", "trained", (0, 1)),
    ShownRun("transformer-nope", "Transformer without positions", "trained", (0, 1)),
    ShownRun("guess", "guessing", "reference"),
)
DISTANCES = (1, 10, 50, 100, 200)
#: The recall of a seed at a distance of 50, of each run; it is 1 elsewhere up to 100, and 0.125 beyond.
RIGHT = {
    "rnn-short": (1.0, 0.99),
    "rnn-wide": (0.125, 1.0, 0.9875),
    "lstm-wide": (1.0, 1.0),
    "lstm-long": (0.125, 0.25),
    "lstm-curriculum": (1.0, 0.125),
    "transformer-long": (1.0, 1.0),
    "transformer-nope": (1.0, 1.0),
}


def measured(run: str, seed: int) -> Iterator[Observation]:
    yield from recalled(RIGHT[run][seed])
    if run.startswith("transformer"):
        yield from looked()
    if run.startswith("lstm"):
        yield from gated(keeping=9 if run == "lstm-wide" else 0)


def recalled(right: float) -> Iterator[Observation]:
    for distance in DISTANCES:
        at = {"distance": distance}
        value = right if distance == 50 else 1.0 if distance < 200 else 0.125
        yield Observation("recall_accuracy", value, at, "share", 1000)
        yield Observation("recall_loss", 2.079 * (1 - value), at, "nat", 1000)
        yield Observation("recall_information", 3 * value, at, "bit")
    for before in (0, 50, 100):
        yield Observation("moved_accuracy", right, {"distractors": 100, "before": before}, "share", 400)


def looked() -> Iterator[Observation]:
    yield Observation("finder_layer", 2, unit="layer")
    for distance in DISTANCES:
        yield Observation("finder_attention", 0.75, {"distance": distance}, "share")
        for group in ("key", "distractors"):
            at: dict[str, Scalar] = {"distance": distance, "group": group}
            yield Observation("uniform_attention", 1 / (distance + 2), at, "share")
            for layer in (1, 2):
                yield Observation("query_attention", 0.5, {**at, "layer": layer, "head": 1}, "share", 200)


def gated(keeping: int) -> Iterator[Observation]:
    yield Observation("keeping_cells", keeping, unit="count")
    for cells, value in (("all", 0.5), ("keeping", 0.75 if keeping else math.nan)):
        for gate in ("input", "forget", "output"):
            for token in ("key", "distractor", "query"):
                yield Observation("gate", value, {"gate": gate, "token": token, "cells": cells}, "share")
        for by in ("key", "distractor"):
            yield Observation("written_explained", value, {"by": by, "cells": cells}, "share")


def before_training() -> Iterator[Observation]:
    for network, distance in product(("lstm", "rnn"), DISTANCES):
        at: dict[str, Scalar] = {"network": network, "distance": distance}
        yield Observation("initial_gradient", 10 ** (-distance / 10), at)
        yield Observation("initial_gradient_ratio", 10 ** (1 - distance / 10), at, "ratio")


def results_of(*names: str) -> Results:
    """The study with the runs of these names, drawn."""
    runs = tuple(run for run in RUNS if run.name in names)
    found = [
        row
        for run in runs
        for seed in run.seeds
        for row in rows(measured(run.name, seed), study="recall", run=run.name, seed=seed)
    ]
    found += rows(before_training(), study="demonstrations", run="gradients-at-initialisation", seed=None)
    study = ShownStudy("recall", "Recall", "Lead.", "recall", rebuilt=False, runs=runs)
    return Results(pd.DataFrame(found).assign(text=None), study)


@pytest.fixture(scope="module")
def results() -> Results:
    return results_of(*(run.name for run in RUNS))


def figures(results: Results) -> dict[str, Figure]:
    return {one.name: one for part in recall.parts(results) for one in part.figures}


def titles(one: Figure) -> list[str]:
    return [panel.title for panel in one.panels if not panel.drawing.empty]


def test_a_seed_has_learnt_where_no_distance_up_to_100_is_below_99_percent(results: Results) -> None:
    sentence = recall.headline(results).sentence
    assert "RNN, d 1 to 20: 2 of 2; RNN, d 1 to 100: 1 of 3; LSTM, d 1 to 100: 2 of 2" in sentence
    assert sentence.endswith("LSTM, d 50 to 100: 0 of 2; Transformer, d 50 to 100: 2 of 2.")


def test_the_facts_are_the_mean_recall_at_the_longest_distance_of_training(results: Results) -> None:
    assert {fact.number for fact in recall.headline(results).facts} == {"100.0\N{NO-BREAK SPACE}%"}


def test_each_panel_of_recall_shades_the_distances_that_its_run_was_trained_on(results: Results) -> None:
    panels = {one.title: one.drawing.band for one in recall.recall(results).panels}  # type: ignore[attr-defined]
    ends = {title: (band.low, band.high) for title, band in panels.items()}
    assert ends == {
        "RNN, d 1 to 20": (1, 20),
        "RNN, d 1 to 100": (1, 100),
        "LSTM, d 1 to 100": (1, 100),
        "LSTM, d 50 to 100": (50, 100),
        "Transformer, d 50 to 100": (50, 100),
    }


def test_every_seed_of_recall_is_a_line_of_its_own(results: Results) -> None:
    (panel,) = [one for one in recall.recall(results).panels if one.title == "RNN, d 1 to 100"]
    curves = panel.drawing.curves  # type: ignore[attr-defined]
    assert [one.label[-6:] for one in curves if one.role == "seed"] == ["seed 0", "seed 1", "seed 2"]


def test_the_curriculum_counts_the_seeds_that_had_short_examples_first(results: Results) -> None:
    answer = figures(results)["curriculum"].answer
    assert "up to 100: LSTM, d 1 to 20, then 50 to 100: 1 of 2." in answer


def test_the_gradient_is_drawn_over_a_logarithmic_axis(results: Results) -> None:
    panels = figures(results)["gradients"].panels
    assert {one.drawing.y.scale for one in panels} == {"log"}  # type: ignore[attr-defined]


def test_the_gradient_before_training_is_that_of_the_demonstration_network_by_network(results: Results) -> None:
    one = figures(results)["gradients"]
    assert titles(one) == ["Elman RNN", "LSTM"]
    assert [row[0] for row in one.table.rows] == ["rnn", "lstm"]
    assert "Elman RNN, 1.0 × 10⁻⁹; LSTM, 1.0 × 10⁻⁹" in one.answer


def test_what_uniform_attention_leaves_to_the_key_is_told(results: Results) -> None:
    assert "if all tokens had the same, it would be 1.0\N{NO-BREAK SPACE}%" in figures(results)["attention"].answer


def test_runs_without_keeping_cells_have_no_row_of_what_these_do(results: Results) -> None:
    panels = figures(results)["keeping"].panels
    labels = [[row.label for row in one.drawing.rows] for one in panels]  # type: ignore[attr-defined]
    assert labels[1:] == [["LSTM, d 1 to 100"]] * 3


def test_every_figure_has_something_to_draw(results: Results) -> None:
    assert len(figures(results)) == 9
    for one in (recall.recall(results), *figures(results).values()):
        assert titles(one), one.name


def test_what_a_build_lacks_is_left_out() -> None:
    little = results_of("lstm-wide")
    assert recall.headline(little).facts
    assert set(figures(little)) == {"bits", "gradients", "moved", "gates", "keeping"}


def test_the_first_figure_is_there_also_if_no_run_that_the_lecture_compares_was_built() -> None:
    quick = ShownRun("lstm-short", "LSTM, d 1 to 20", "trained", (0,))
    found = rows(recalled(1.0), study="recall", run=quick.name, seed=0)
    study = ShownStudy("recall", "Recall", "Lead.", "recall", rebuilt=False, runs=(quick,), full=False)
    shown = recall.headline(Results(pd.DataFrame(list(found)).assign(text=None), study)).figure
    assert shown
    assert titles(shown) == ["LSTM, d 1 to 20"]


def test_nothing_measured_is_said_in_words(drawn: ModuleType) -> None:
    nothing = Results(drawn.table([]), ShownStudy("recall", "Recall", "Lead.", "recall", rebuilt=False, runs=RUNS))
    assert recall.headline(nothing).sentence == "The recall study has no finite result in this build."
    assert not figures(nothing)


def test_every_run_that_the_figures_name_is_one_of_the_study() -> None:
    runs = Configuration({"studies": ["recall"]}).studies["recall"].runs
    assert {*recall.LISTED, *recall.ELSEWHERE, *recall.COMPARED} == set(runs) - {"guess"}


def test_the_shaded_distances_are_those_that_training_shows() -> None:
    data = Configuration({"studies": ["recall"]}).studies["recall"].data
    shown = {name: f"{band.low}-{band.high}" for name, band in recall.SEEN.items()}
    for name, distances in shown.items():
        assert data[name].options["distances"] == (distances,)
    assert data["curriculum"].options["distances"] == (shown["short"], shown["long"])


def test_the_gates_that_the_sentences_speak_of_are_those_of_the_study() -> None:
    gates = Configuration({"studies": ["recall"]}).studies["recall"].evaluations["gates"].options
    assert (gates["distance"], gates["keeping"]) == (recall.MIDDLE, recall.OPEN)


def test_the_bits_of_a_key_are_counted_from_the_keys_of_the_task(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert recall.KEYS == task.KEYS
    monkeypatch.setattr(recall, "KEYS", 16)
    assert "One of 16 keys is 4 bits." in figures(results)["bits"].answer
