"""The figures on what models write: errors by slot, both decodings, and nothing where nothing was measured."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from seedbed.observations import Observation, rows
from seedbed.reporting.drawing.stacks import Stacks
from seedbed.reporting.figures import Figure
from seedbed.reporting.results import Results, ShownRun
from seedbed.reporting.studies.garden.writing import writing_by_objective, writing_part

#: Run → the share of its sentences that are illegal.
ILLEGAL = {"flm": 0.04, "window": 0.2, "gru": 0.03, "flm-nope": 0.05, "plm": 0.06, "mlm": 0.97, "span": 0.5}
#: Slot → the share of illegal sentences whose first error it is, but for what the period adds.
SLOTS = {
    "subject": 0.1,
    "verb": 0.05,
    "determiner": 0.1,
    "adjective": 0.05,
    "noun": 0.15,
    "tail": 0.05,
    "tail possessive": 0.3,
    "own": 0.1,
    "place": 0.1,
}


def measured(name: str, seed: int | None) -> list[Observation]:
    found = []
    for decoding, factor in (("sampling", 1.0), ("top-p 0.95", 0.5)):
        at = {"decoding": decoding}
        illegal = factor * ILLEGAL.get(name, 0.0) * (1 + 0.05 * (seed or 0))
        found += [
            Observation("legal", 1 - illegal, at, "share", 2000),
            Observation("cut_off", 0.125, at, "share", 2000),
            *(
                Observation("illegal", illegal * size, {**at, "error": slot}, "share", 2000)
                for slot, size in SLOTS.items()
            ),
            *(
                Observation("illegal", 0.15 * illegal, {**at, "error": "tail possessive", "window": side}, "share")
                for side in ("inside", "outside")
            ),
            Observation("distinct", 0.9, at, "share"),
            Observation("stopped_first", illegal * SLOTS["subject"], at, "share", 2000),
            Observation("written", 8.5 - 5 * illegal, at, "token", 2000),
        ]
        if illegal:
            found += [
                Observation("outside_errors", 0.15, at, "share"),
                Observation("commonest_error", 0.3, at, "share"),
            ]
    return found


def results(drawn: ModuleType, *names: str) -> Results:
    runs = [ShownRun(name, f"model {name}", "trained", (0, 1, 2)) for name in names]
    runs.append(ShownRun("exact", "the language itself", "reference"))
    table = [
        row
        for run in runs
        for seed in run.seeds or (None,)
        for row in rows(measured(run.name, seed), study="garden", run=run.name, seed=seed)
    ]
    return Results(drawn.table(table), drawn.study(*runs))


def figures(found: Results) -> dict[str, Figure]:
    (part,) = writing_part(found, found.study.runs)
    return {one.name: one for one in part.figures}


@pytest.fixture(scope="module")
def whole(drawn: ModuleType) -> dict[str, Figure]:
    return figures(results(drawn, "flm", "window", "gru", "flm-nope"))


def test_legality_tells_the_lowest_and_the_highest_run_by_both_decodings(whole: dict[str, Figure]) -> None:
    illegal = np.mean([ILLEGAL["window"] * (1 + 0.05 * seed) for seed in range(3)])
    answer = whole["legality"].answer
    assert f"sampled: {100 * (1 - illegal):.1f}\xa0% (model window) to " in answer
    assert f"with top-p 0.95: {100 * (1 - illegal / 2):.1f}\xa0% (model window) to " in answer


def test_the_bars_of_a_seed_end_at_its_share_of_illegal_sentences(whole: dict[str, Figure]) -> None:
    (drawing,) = [one.drawing for one in whole["first-errors"].panels if isinstance(one.drawing, Stacks)]
    (row,) = [row for row in drawing.rows if row.label == "model window"]
    for stack in row.stacks:
        assert stack.seed is not None
        assert sum(size or 0 for size in stack.sizes) == pytest.approx(0.2 * (1 + 0.05 * stack.seed))
    assert "tail possessive" in drawing.kinds


def test_the_share_of_far_possessives_is_told_of_the_window_and_the_transformer(whole: dict[str, Figure]) -> None:
    answer = whole["first-errors"].answer
    assert "model window, 15.0\xa0% and 15.0\xa0%; model flm, 15.0\xa0% and 15.0\xa0%" in answer


def test_errors_of_every_run_are_in_the_table_though_some_are_not_drawn(whole: dict[str, Figure]) -> None:
    errors = whole["first-errors"]
    assert {row[0] for row in errors.table.rows} == {"flm", "window", "gru", "flm-nope", "exact"}
    for decoding in ("sampling", "top-p 0.95"):
        assert errors.shows("illegal", f"decoding={decoding};error=noun")
        assert errors.shows("illegal", f"decoding={decoding};error=tail possessive;window=outside")


def test_an_objective_that_stops_at_once_is_told(drawn: ModuleType) -> None:
    found = results(drawn, "flm", "plm", "mlm", "span")
    (one,) = writing_by_objective(found, found.trained, found.trained)
    expected = np.mean([ILLEGAL["mlm"] * (1 + 0.05 * seed) * SLOTS["subject"] for seed in range(3)])
    assert f"model mlm, {100 * expected:.1f}\xa0%" in one.answer.partition("<eos>")[2]
    metrics = ("legal", "cut_off", "stopped_first", "written")
    assert all(one.shows(metric, "decoding=sampling") for metric in metrics)


def test_a_build_that_writes_nothing_has_none_of_this(drawn: ModuleType) -> None:
    flm = drawn.trained()
    plain = Results(drawn.draw_observations(flm), drawn.study(flm))
    assert not list(writing_part(plain, plain.trained))
    assert not list(writing_by_objective(plain, plain.trained, plain.trained))
