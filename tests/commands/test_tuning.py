"""The choice by validation loss, with trainings whose losses are scripted."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import yaml

from seedbed.commands.tuning import tune
from seedbed.configuration.configuration import Configuration, Run
from seedbed.configuration.yaml import ConfigError
from seedbed.documents import Documents
from seedbed.log import Log
from seedbed.pipeline.jobs.corpus import Corpus
from seedbed.pipeline.jobs.training import PURPOSES, Training
from seedbed.pipeline.plan import Plan
from seedbed.training.loop import Trained

STUDY = {
    "title": "Title",
    "lead": "Lead",
    "rebuilt": True,
    "data": {"text": {"language": "letters", "training": 6, "validation": 4, "test": 4}},
    "runs": {"flm": {"label": "L", "model": {"kind": "transformer"}, "objective": {"kind": "flm"}}},
    "evaluations": {"perplexity": {}},
    "tune": {"run": "flm", "seeds": 3, "grid": [{"layers": 1}, {"layers": 2}, {"layers": 3}]},
}
LANGUAGE = """
tokens: {begin: <bos>, end: <eos>, period: "."}
mean_sentences: 3
lexicon: {word: [a, b, c]}
draws: {word: {}}
sentence:
  - {slot: word, words: "{word}"}
"""
SEEDS = (1000, 1001, 1002)
LOSSES = {1: [1.5, 1.6, 1.7], 2: [1.2, 1.3, 1.4], 3: [1.1, 1.2, math.inf]}


def plan_of(root: Path, study: dict[str, object]) -> Plan:
    for folder in ("studies", "languages"):
        (root / "config" / folder).mkdir(parents=True)
    (root / "config/config.yaml").write_text("studies: [garden]\nseeds: 2\n")
    (root / "config/studies/garden.yaml").write_text(yaml.safe_dump(study))
    (root / "config/languages/letters.yaml").write_text(LANGUAGE)
    return Plan(Configuration(root=root))


class Trainings:
    """Stands for `Training.fit`: notes what each training was given, and ends with its scripted loss."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.texts: list[tuple[list[int], list[int]]] = []
        self.seeds: list[dict[str, int]] = []

    def __call__(self, job: Training, training: Documents, validation: Documents) -> Trained:
        run, seeds = job.entry, job.streams
        self.runs.append(run)
        self.texts.append((training.tokens.tolist(), validation.tokens.tolist()))
        self.seeds.append(dict(seeds))
        loss = LOSSES[int(run.model["layers"])][seeds["order"] - 1000]
        log = Log()
        for epoch, value in enumerate([loss + 1, loss, loss + 2], start=1):
            log.add(epoch, 0.1, 1.0, 1)
            log.validation_loss[-1] = value
        log.selected[1] = math.isfinite(loss)
        return Trained({}, log)


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> Trainings:
    found = Trainings()
    monkeypatch.setattr(Training, "fit", lambda *given: found(*given))
    return found


def test_the_choice_with_the_least_mean_loss_comes_first_and_a_diverged_one_last(
    tmp_path: Path, trainings: Trainings, capsys: pytest.CaptureFixture[str]
) -> None:
    tune(plan_of(tmp_path, STUDY), "garden")
    assert capsys.readouterr().out.splitlines() == [
        "{'layers': 1}: 1.5000, 1.6000, 1.7000",
        "{'layers': 2}: 1.2000, 1.3000, 1.4000",
        "{'layers': 3}: 1.1000, 1.2000, inf",
        "mean validation loss 1.3000 nats a token, sd 0.1000 over 3 seeds: {'layers': 2}",
        "mean validation loss 1.6000 nats a token, sd 0.1000 over 3 seeds: {'layers': 1}",
        "mean validation loss inf nats a token, sd nan over 3 seeds: {'layers': 3}",
    ]


def test_every_stream_has_a_seed_that_is_never_reported(tmp_path: Path, trainings: Trainings) -> None:
    plan = plan_of(tmp_path, STUDY)
    tune(plan, "garden")
    assert trainings.seeds == [dict.fromkeys(PURPOSES, seed) for seed in SEEDS] * 3
    validation = plan.corpus("garden", "text", "validation", None).draw().tokens.tolist()
    corpora = [
        plan.corpus("garden", "text", "training", seed).draw().tokens.tolist() for seed in (1000, 1001, 1002)
    ]
    assert trainings.texts == [(corpus, validation) for corpus in corpora] * 3


def test_a_choice_changes_the_model_and_nothing_else(tmp_path: Path, trainings: Trainings) -> None:
    plan = plan_of(tmp_path, STUDY)
    tune(plan, "garden")
    run = plan.configuration.studies["garden"].runs["flm"]
    assert trainings.runs[3] == run.model_copy(update={"model": run.model | {"layers": 2}})


def test_a_study_without_a_grid_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"config/studies/garden\.yaml: tune: this key is required"):
        tune(plan_of(tmp_path, {key: value for key, value in STUDY.items() if key != "tune"}), "garden")


def test_a_wrong_grammar_is_said_before_anything_is_drawn(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, STUDY)
    path = tmp_path / "config/languages/letters.yaml"
    path.write_text(LANGUAGE.replace('words: "{word}"', 'words: "{wrd}"'))
    with pytest.raises(ConfigError, match=r"^config/languages/letters\.yaml: .*wrd"):
        tune(plan, "garden")


@pytest.mark.parametrize(
    ("kind", "method", "place"), [(Corpus, "draw", "data.text"), (Training, "fit", r"tune.grid[0]")]
)
def test_what_fails_is_said_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type, method: str, place: str
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("on purpose")

    monkeypatch.setattr(kind, method, fail)
    with pytest.raises(ConfigError) as error:
        tune(plan_of(tmp_path, STUDY), "garden")
    assert str(error.value) == f"config/studies/garden.yaml: {place}: KeyError: 'on purpose'"
