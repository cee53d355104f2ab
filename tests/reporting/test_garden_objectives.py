"""The part on objectives: its figures hold what was measured, and nothing where nothing was."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from types import ModuleType

import numpy as np
import pytest

from seedbed.observations import Observation, rows
from seedbed.reporting.drawing.marks import Mark
from seedbed.reporting.figures import Part
from seedbed.reporting.results import Measure, Results, ShownRun
from seedbed.reporting.studies.garden.objectives import objectives_part

PERPLEXITY = Measure("perplexity", "perplexity", "loss", "perplexity", {"sentences": "all"}, exponentiated=True)
BY_BAYES = ("flm", "plm", "plm-encoder-decoder", "window")
ASKED = ("mlm", "span", "span-causal", "span-prefix", "span-at-end", "mlm-nope")
ADAPTED = ("adapt-mlm-to-flm", "flm-one-epoch", "adapt-flm-to-mlm", "mlm-one-epoch")
#: Number of missing words → the divergence of span models.
DIVERGENCES = {1: 0.02, 2: 0.01, 3: 0.04, 6: 0.5}


def measured(name: str, seed: int | None, epochs: Iterable[int] = (1, 2, 6)) -> list[Observation]:
    shift = 0.0 if seed is None else 0.01 * seed + len(name) / 100
    found = [
        Observation("parameters", 1000 + len(name), unit="count"),
        Observation("continuation_loss", 1.33 + shift, unit="nat", n=5000),
        Observation("continuation_language_loss", 1.33, unit="nat", n=5000),
        *(Observation("continuation_excess", shift / word, {"word": word}, "nat") for word in range(1, 9)),
        *(Observation("validation_loss", 1.4 - epoch / 50 + shift, {"epoch": epoch}, "nat") for epoch in epochs),
        Observation("loss", 1.3 + shift, {"sentences": "all"}, "nat"),
    ]
    if name.startswith("span"):
        for words, divergence in DIVERGENCES.items():
            found.append(Observation("infill_excess", divergence, {"words": words}, "nat", 500))
            found.append(Observation("infill_language_loss", 0.9, {"words": words}, "nat", 500))
    methods = [{"method": "direct"}] if name in ASKED else [{"method": "bayes", "until": "sentence"}]
    for method in [{"method": "direct"}, methods[0]] if seed is None else methods:
        found += [
            Observation("cloze_loss", 0.8 + shift, method, "nat", 500),
            Observation("cloze_language_loss", 0.8, method, "nat", 500),
            Observation("cloze_divergence", shift, method, "nat", 500),
            Observation("cloze_agreement", 1 - shift, method, "share", 500),
            *(
                Observation("cloze_divergence", shift, {**method, "evidence": side}, "nat")
                for side in ("before", "behind")
            ),
        ]
    return found


def example() -> Iterator[Observation]:
    """What the masked objective makes of a sentence, as the demonstration yields it."""
    at = {"objective": "mlm", "first": "picks"}
    yield Observation("example_read", math.nan, at, text="she <mask> it")
    yield Observation("example_asked", math.nan, at, text="picks")
    yield Observation("example_tokens", 1, at, "count")


def results(drawn: ModuleType, *names: str, epochs: Iterable[int] = (1, 2, 6), examples: bool = True) -> Results:
    runs = [ShownRun(name, name, "trained", (0, 1, 2)) for name in names]
    runs.append(ShownRun("exact", "the language itself", "reference"))
    table = [
        row
        for run in runs
        for seed in run.seeds or (None,)
        for row in rows(measured(run.name, seed, epochs), study="garden", run=run.name, seed=seed)
    ]
    if examples:
        table += rows(example(), study="demonstrations", run="corruption-examples", seed=None)
    return Results(drawn.table(table), drawn.study(*runs))


def part(found: Results) -> Part:
    (only,) = objectives_part(found, PERPLEXITY, Mark(3.655, "floor", "floor"))
    return only


@pytest.fixture(scope="module")
def whole(drawn: ModuleType) -> Part:
    return part(results(drawn, *BY_BAYES, *ASKED, *ADAPTED))


def test_every_figure_is_titled_by_a_question_and_draws_something(whole: Part) -> None:
    for one in whole.figures:
        assert one.question.endswith("?")
        assert one.name == "example" or any(not panel.drawing.empty for panel in one.panels)


def test_the_four_objectives_have_both_tasks_side_by_side(whole: Part) -> None:
    table = next(one for one in whole.figures if one.name == "tasks").table
    names = [column.key for column in table.columns]
    cells = {
        run: [value for row in table.rows if row[0] == run for value in [row[names.index("continued")]]]
        for run in ("flm", "plm", "mlm", "span")
    }
    for run, values in cells.items():
        assert values == pytest.approx(list(1.33 + np.array([0, 0.01, 0.02]) + len(run) / 100))


def test_holes_are_told_with_the_numbers_of_words_that_are_filled_best_and_worst(whole: Part) -> None:
    (one,) = [one for one in whole.figures if one.name == "lengths"]
    assert "span, 0.0100 (2) to 0.5000 (6)" in one.answer
    assert [panel.title for panel in one.panels] == ["span", "span-causal", "span-prefix", "span-at-end"]
    assert one.shows("infill_language_loss", "words=3")


def test_a_build_that_fills_no_holes_of_several_words_has_no_figure_of_them(drawn: ModuleType) -> None:
    names = [one.name for one in part(results(drawn, "flm", "mlm")).figures]
    assert "tasks" in names
    assert not {"lengths", "writing"} & set(names)


def test_a_build_that_asks_none_of_this_has_no_such_part(drawn: ModuleType) -> None:
    flm = drawn.trained()
    plain = Results(drawn.draw_observations(flm), drawn.study(flm))
    assert not list(objectives_part(plain, PERPLEXITY, None))


def test_a_build_with_few_runs_has_the_part_all_the_same(drawn: ModuleType) -> None:
    few = part(results(drawn, "flm", "mlm"))
    (tasks,) = [one for one in few.figures if one.name == "tasks"]
    assert "In continuation, means of the four objectives: " in tasks.answer


@pytest.mark.parametrize(("last", "words"), [(1, "1 epoch"), (6, "6 epochs")])
def test_a_whole_training_is_told_with_the_epochs_that_it_had(drawn: ModuleType, last: int, words: str) -> None:
    found = results(drawn, "flm", "mlm", *ADAPTED, epochs=[epoch for epoch in (1, 2, 6) if epoch <= last])
    (one,) = [one for one in part(found).figures if one.name == "adaptation"]
    reached = np.exp(np.mean([1.3 + 0.01 * seed + len("flm") / 100 for seed in range(3)]))
    assert f"after a whole forward training, of {words}: {reached:.3f}." in one.answer
    mark = one.panels[1].drawing.mark  # type: ignore[attr-defined]
    assert mark.words == words
    assert mark.value == pytest.approx(1.4 - last / 50 + 0.01 + len("mlm") / 100)


def test_the_grid_tells_the_parameters_that_were_counted(whole: Part) -> None:
    (one,) = [one for one in whole.figures if one.name == "grid"]
    assert "A decoder has 1,003 parameters; an encoder-decoder, in which" in one.answer
    assert one.answer.endswith("half of the layers, 1,004.")


def test_the_example_is_told_once_and_not_for_every_seed(whole: Part) -> None:
    table = next(one.table for one in whole.figures if one.name == "example")
    assert table.rows == (("mlm", 1.0, "she <mask> it", "picks"),)


def test_without_an_example_there_is_no_table_of_it(drawn: ModuleType) -> None:
    assert "example" not in [one.name for one in part(results(drawn, "flm", "span", examples=False)).figures]
