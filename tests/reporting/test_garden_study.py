"""The garden study: what its sentences take for granted is what the study's file says."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from seedbed.configuration.configuration import Configuration
from seedbed.reporting.studies import garden
from seedbed.reporting.studies.garden import objectives, writing


def test_the_window_of_the_sentences_is_that_of_runs_and_evaluations() -> None:
    study = Configuration({"studies": ["garden"]}).studies["garden"]
    assert {garden.WINDOW} == {name for name, run in study.runs.items() if run.options.get("window")}
    assert garden.WINDOW in objectives.REFERENCES
    assert garden.WINDOW in writing.NETWORKS
    assert study.runs[garden.WINDOW].options["window"] == garden.WORDS
    assert study.runs["window"].model["words"] == garden.WORDS
    windows = {one.options["window"] for one in study.evaluations.values() if "window" in one.options}
    assert windows == {garden.WORDS}


def test_every_run_that_the_figures_name_is_one_of_the_study() -> None:
    runs = Configuration({"studies": ["garden"]}).studies["garden"].runs
    lists = (objectives.FOUR, objectives.VARIANTS, objectives.GRID, objectives.REFERENCES, *objectives.ADAPTED)
    named = {name for names in (*lists, writing.NETWORKS, writing.COMPARED) for name in names}
    assert named <= runs.keys()


def test_all_sentences_have_the_window_from_one_place(
    build_page: Callable[..., str], drawn: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(garden, "WORDS", 7)
    page = build_page(runs=(drawn.trained(), drawn.EXACT, drawn.WINDOW))
    assert "of 7 words, gets" in page
    assert page.count("among the last 7 words") == 2
    assert "best outside with 7 words" in page
    assert "5 words" not in page.replace(drawn.WINDOW.label, "")
