"""Figures are checked before a build: a wrong metric, key, unit or run is an error that names the nearest one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from types import ModuleType, SimpleNamespace

import pandas as pd
import pytest

from seedbed.observations import Observation, rows
from seedbed.reporting.figure_checks import check_figures
from seedbed.reporting.figures import Part, figure
from seedbed.reporting.panels.lines import lines
from seedbed.reporting.panels.strips import strip
from seedbed.reporting.results import Measure, Results, ShownRun, ShownStudy
from seedbed.reporting.sentences import means

RECALL = Measure("recall", "recall", "recall", "share")
GATE = Measure("gate", "gate", "gate", "share", {"gate": "forget"})
RUNS = (ShownRun("rnn", "RNN", "trained", (0,)), ShownRun("lstm", "LSTM", "trained", (0,)))

Check = Callable[..., None]


def results() -> Results:
    found = [
        *(Observation("recall", 0.5, {"distance": at}, "share") for at in (1, 2, 5)),
        Observation("gate", 0.5, {"gate": "forget"}, "share"),
        Observation("gradient", 0.5, {"distance": 1}, "norm"),
    ]
    table = [row for run in RUNS for row in rows(found, study="small", run=run.name, seed=0)]
    shown = [Observation("size", 1.0, {"network": "rnn", "distance": at}) for at in (1, 2, 5)]
    table += rows(shown, study="demonstrations", run="sizes", seed=None)
    study = ShownStudy("small", "Small", "Lead.", "recall", rebuilt=False, runs=RUNS)
    return Results(pd.DataFrame(table).assign(text=None), study)


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> Check:
    """Checks a study with one figure that is made so, and with other members of its module."""

    def checked(made: Callable[[Results], object], measures: Iterable[Measure] = (), **members: object) -> None:
        def parts(results: Results) -> Iterable[Part]:
            made(results)
            yield Part(figures=(figure(results, "one", "What is it?", "It is."),))

        module = SimpleNamespace(MEASURES=tuple(measures), parts=parts, __name__="small", **members)
        monkeypatch.setattr("seedbed.reporting.sections.study_module", lambda name: module)
        check_figures(results())

    return checked


def test_a_figure_of_what_is_measured_passes(check: Check) -> None:
    check(lambda found: lines(found, RECALL, "distance"), [RECALL.at({"distance": 1}), GATE])


def test_a_number_of_a_condition_is_not_compared(check: Check) -> None:
    check(lambda found: strip(found, RECALL.at({"distance": 100})))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (
            lambda found: lines(found, Measure("r", "r", "recal", "share"), "distance"),
            "small: figure one: nothing measures the metric recal; did you mean recall?",
        ),
        (
            lambda found: lines(found, RECALL, "distnace"),
            "figure one: recall: no observation has the condition keys distnace; it is measured by distance",
        ),
        (
            lambda found: means(found, RECALL.at({"layer": 1})),
            "recall: no observation has the condition keys layer; it is measured by distance",
        ),
        (
            lambda found: means(found, Measure("g", "g", "gate", "share", {"gate": "forgets"})),
            "gate: no observation has gate=forgets; did you mean forget?",
        ),
        (
            lambda found: means(found, Measure("g", "g", "gate", "shares", {"gate": "forget"})),
            "gate: no number has the unit shares; did you mean share?",
        ),
        (lambda found: found.named(["lsmt"]), "figure one: the study has no run lsmt; did you mean lstm?"),
        (
            lambda found: lines(found.of_demonstration("sizes", "network", {}), RECALL, "distance"),
            "what figures show of the demonstration sizes: nothing measures the metric recall",
        ),
    ],
)
def test_what_a_figure_looks_up_in_vain_stops_the_build(
    check: Check, made: Callable[[Results], object], words: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        check(made)


def test_a_unit_that_only_the_observations_have_passes(check: Check) -> None:
    check(lambda found: means(found, Measure("g", "g", "gradient", "norm", {"distance": 1})))


def test_a_measure_of_the_variance_table_is_checked_too(check: Check) -> None:
    with pytest.raises(ValueError, match="variance across seeds: nothing measures the metric gaet"):
        check(lambda found: None, [Measure("g", "g", "gaet", "share")])


def test_a_trained_run_that_no_list_has_stops_the_build(check: Check) -> None:
    check(lambda found: None, LISTED=("rnn",), ELSEWHERE=("lstm",))
    with pytest.raises(ValueError, match="the run lstm is in no figure: add it to LISTED"):
        check(lambda found: None, LISTED=("rnn",))


def test_every_mistake_is_named_at_once(check: Check) -> None:
    with pytest.raises(ValueError, match="no run lsmt") as error:
        check(lambda found: (found.run("lsmt"), means(found, Measure("g", "g", "gaet", "share"))))
    assert "the metric gaet" in str(error.value)


def test_a_study_without_a_file_of_figures_passes(drawn: ModuleType) -> None:
    check_figures(Results(drawn.table([]), drawn.study(name="plain")))
