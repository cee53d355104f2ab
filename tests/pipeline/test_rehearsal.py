"""What only a computation finds out is found out on a few documents, before any job."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from miniature import Project

from seedbed.configuration.configuration import Configuration
from seedbed.configuration.yaml import ConfigError
from seedbed.errors import SeedbedError
from seedbed.evaluations import cloze, perplexity
from seedbed.measuring.context import Context, Predictor
from seedbed.models.embedding import Embedding
from seedbed.observations import Observation
from seedbed.pipeline.jobs.corpus import Corpus
from seedbed.pipeline.jobs.measurement import Measurement
from seedbed.pipeline.jobs.training import Training
from seedbed.pipeline.plan import Plan
from seedbed.pipeline.rehearsal import rehearse

STUDY = """
title: Letters
lead: A language of three letters.
data: {text: {language: letters, training: 1000, validation: 500, test: 500}}
training: {epochs: 50, batch: 16, warm_up: 2}
runs:
  flm:
    label: Transformer
    model: {kind: transformer, d_model: 8, heads: 2, layers: 1, d_ff: 8, positions: learned}
    objective: {kind: flm}
  exact: {label: the language itself, kind: exact}
evaluations:
  perplexity: {}
  prompts: {options: {prompts: [a a], slot: word}}
"""
LANGUAGE = """
tokens: {begin: <bos>, end: <eos>, period: "."}
mean_sentences: 3
lexicon: {word: [a, b, c]}
draws: {word: {}}
sentence:
  - {slot: word, words: "{word}"}
  - {slot: again, words: "{word}"}
"""
CLAIMS = """
claims:
  notes:a:
    says: The network is near to the language.
    section: "1"
    check:
      kind: bound
      of: {study: letters, run: flm, metric: divergence, where: {sentences: all}}
      at_most: 1
  notes:b:
    says: After an a, c cannot come.
    section: "1"
    check:
      kind: exact
      of: {study: letters, run: exact, metric: next_probability, where: {prompt: a a, token: c}}
      to: 0
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    for folder in ("studies", "languages", "claims"):
        (tmp_path / "config" / folder).mkdir(parents=True)
    (tmp_path / "config/config.yaml").write_text("studies: [letters]\nseeds: 5\n")
    (tmp_path / "config/studies/letters.yaml").write_text(STUDY)
    (tmp_path / "config/languages/letters.yaml").write_text(LANGUAGE)
    (tmp_path / "config/claims/notes.yaml").write_text(CLAIMS)
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


def _plan(project: Project) -> Plan:
    return Plan(Configuration(root=project.root))


def test_a_right_project_passes_and_nothing_is_kept(project: Project) -> None:
    rehearse(_plan(project))
    assert [path.name for path in project.root.iterdir()] == ["config"]
    assert Path.cwd() == project.root


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "prompts: [a a]",
            "prompts: [a d]",
            "evaluations.prompts, measuring flm: no token 'd' in this vocabulary; known: ",
        ),
        ("prompts: [a a]", "prompts: [a .]", "evaluations.prompts, measuring flm: no document begins so: '.'"),
        ("slot: word", "slot: wrd", "evaluations.prompts, measuring flm: no slot 'wrd' in this language; did"),
        ("prompts: [a a]", "prompts: [a a, a a]", "evaluations.prompts, measuring flm: measured twice: "),
        (
            "positions: learned",
            "positions: learned, max_positions: 3",
            "runs.flm: ",
        ),
        (
            "{kind: transformer, d_model: 8, heads: 2, layers: 1, d_ff: 8, positions: learned}\n"
            "    objective: {kind: flm}\n",
            "{kind: recurrent, hidden: 8}\n    objective: {kind: plm}\n",
            "runs.flm: objective plm is prefix here, and model recurrent reads causal: take another model",
        ),
        (
            "positions: learned}\n    objective: {kind: flm}\n",
            "positions: none, mixer: gated_linear}\n    objective: {kind: plm}\n",
            "runs.flm: objective plm is prefix here, and model transformer reads causal: take another model",
        ),
        (
            "positions: learned}\n    objective: {kind: flm}\n",
            "positions: none}\n    objective: {kind: flm}\n",
            "evaluations.untouched, measuring flm: untouched measures runs with a learned position table",
        ),
    ],
)
def test_what_would_fail_in_a_job_is_said_with_its_key(project: Project, old: str, new: str, said: str) -> None:
    project.edit("config/studies/letters.yaml", "perplexity: {}", "perplexity: {}\n  untouched: {}")
    project.edit("config/studies/letters.yaml", old, new)
    with pytest.raises(ConfigError) as error:
        rehearse(_plan(project))
    assert str(error.value).startswith(f"config/studies/letters.yaml: {said}")


def test_a_file_of_figures_that_lacks_what_it_must_define_is_found_out(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seedbed.reporting.sections.study_module", lambda study: ModuleType("letters"))
    with pytest.raises(ConfigError, match=r"the figures of letters: .*no attribute 'parts'"):
        rehearse(_plan(project))


def test_two_evaluations_that_measure_the_same_are_found_out(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seedbed.evaluations.prompts.evaluate", _perplexity)
    with pytest.raises(
        SeedbedError, match=r"measured twice: letters/flm: .*evaluations\.perplexity.*evaluations\.prompts"
    ):
        rehearse(_plan(project))


def _perplexity(model: Predictor, context: Context, options: object) -> Iterator[Observation]:
    return perplexity.evaluate(model, context, perplexity.Options())


def test_any_other_error_is_said_with_the_line_that_it_comes_from(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(layer: Embedding, generator: object) -> None:
        raise KeyError("size")

    monkeypatch.setattr(Embedding, "draw", draw)
    with pytest.raises(ConfigError, match=r"runs.flm: src/seedbed/models/initialisation.py:\d+: KeyError: 'size'"):
        rehearse(_plan(project))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "metric: divergence",
            "metric: divergense",
            "a.check: metric divergense: nothing measures it; did you mean",
        ),
        (
            "{sentences: all}",
            "{sentence: all}",
            "a.check: divergence: where: expected sentences, found sentence",
        ),
        ("{sentences: all}", "{sentences: al}", "a.check: divergence: where.sentences: al: did you mean all?"),
        ("{prompt: a a, token: c}", "{token: c}", "b.check: next_probability: where: expected prompt, token, f"),
        (
            "{prompt: a a, token: c}",
            "{prompt: a d, token: c}",
            "b.check: next_probability: where.prompt: a d: did you mean a a?",
        ),
    ],
)
def test_a_claim_about_what_nothing_measures_is_said_with_the_nearest_name(
    project: Project, old: str, new: str, said: str
) -> None:
    project.edit("config/claims/notes.yaml", old, new)
    with pytest.raises(ConfigError) as error:
        rehearse(_plan(project))
    assert str(error.value).startswith(f"config/claims/notes.yaml: claims.notes:{said}")


def test_a_claim_about_a_run_that_its_evaluation_leaves_out_is_refused(project: Project) -> None:
    project.edit("config/studies/letters.yaml", "perplexity: {}", "perplexity: {runs: [exact]}")
    with pytest.raises(
        ConfigError, match=r"notes:a\.check: divergence of run flm: perplexity does not measure it"
    ):
        rehearse(_plan(project))


def test_a_word_of_the_language_may_stand_in_a_condition_though_it_was_not_seen(project: Project) -> None:
    project.edit("config/claims/notes.yaml", "prompt: a a, token: c", "prompt: b b, token: again")
    rehearse(_plan(project))


def test_a_watched_number_that_nothing_measures_is_refused(project: Project) -> None:
    (project.root / "config/watched.yaml").write_text("watched: [{study: letters, run: flm, metric: divergense}]")
    with pytest.raises(ConfigError, match=r"^config/watched\.yaml: metric divergense: .*did you mean divergence"):
        rehearse(_plan(project))


def test_a_run_that_begins_with_anothers_weights_is_rehearsed_after_it(project: Project) -> None:
    text = STUDY.partition("  flm:\n")[2].partition("  exact:")[0]
    later = f"  a-later:\n{text}    start: {{study: letters, run: flm}}\n"
    project.edit("config/studies/letters.yaml", "runs:\n", f"runs:\n{later}")
    project.edit("config/studies/letters.yaml", "perplexity: {}", "perplexity: {runs: [a-later]}")
    project.edit("config/claims/notes.yaml", "run: flm", "run: a-later")
    rehearse(_plan(project))


def test_two_evaluations_of_one_kind_measure_under_different_conditions(project: Project) -> None:
    other = "perplexity: {}\n  more-prompts: {kind: prompts, options: {prompts: [b], slot: word}}"
    project.edit("config/studies/letters.yaml", "perplexity: {}", other)
    rehearse(_plan(project))
    project.edit("config/studies/letters.yaml", "[b]", "[a a]")
    with pytest.raises(SeedbedError) as error:
        rehearse(_plan(project))
    assert re.fullmatch(
        r"measured twice: letters/flm: next_probability \(prompt=a a;token=.+\); "
        r"by config/studies/letters\.yaml: evaluations\.more-prompts, measuring flm, "
        r"and by config/studies/letters\.yaml: evaluations\.prompts, measuring flm: let them .*\(runs\), .*",
        str(error.value),
    )


def test_a_rehearsal_measures_with_small_sizes(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []

    def evaluate(model: object, context: object, options: cloze.Options) -> Iterator[Observation]:
        measured.append(options.items)
        return iter(())

    monkeypatch.setattr("seedbed.evaluations.cloze.evaluate", evaluate)
    project.edit("config/studies/letters.yaml", "perplexity: {}", "perplexity: {}\n  cloze: {}")
    plan = _plan(project)
    rehearse(plan)
    assert measured == [cloze.REHEARSED["items"]]
    assert plan.configuration.studies["letters"].evaluations["cloze"].options == {"items": 500}


def test_everything_that_fails_is_said_at_once(project: Project) -> None:
    project.edit("config/studies/letters.yaml", "prompts: [a a], slot: word", "prompts: [a d], slot: word")
    project.edit(
        "config/studies/letters.yaml", "perplexity: {}", "pronouns: {options: {slot: wrd, antecedent: word}}"
    )
    with pytest.raises(ConfigError) as error:
        rehearse(_plan(project))
    assert [line.split(": ")[1] for line in str(error.value).splitlines()] == [
        "evaluations.pronouns, measuring flm",
        "evaluations.prompts, measuring flm",
    ]


def test_what_is_built_is_not_rehearsed_and_its_observations_are_read(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.edit(
        "config/studies/letters.yaml",
        "training: 1000, validation: 500, test: 500",
        "training: 20, validation: 5, test: 5",
    )
    project.edit("config/studies/letters.yaml", "epochs: 50", "epochs: 1")
    project.edit("config/config.yaml", "seeds: 5", "seeds: 1")
    plan = _plan(project)
    for job in (*plan.corpora, *plan.trainings, *plan.measurements):
        job.compute()
    for kind in (Corpus, Training, Measurement):
        monkeypatch.setattr(kind, "compute", lambda _: pytest.fail("a rehearsal of what is built"))
    rehearse(_plan(project))
    project.edit("config/claims/notes.yaml", "metric: divergence", "metric: divergense")
    with pytest.raises(ConfigError, match="divergense: nothing measures it"):
        rehearse(_plan(project))


def test_a_data_set_that_cannot_be_drawn_is_said_with_its_key(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("on purpose")

    monkeypatch.setattr(Corpus, "compute", fail)
    with pytest.raises(ConfigError) as error:
        rehearse(_plan(project))
    assert str(error.value) == "config/studies/letters.yaml: data.text: KeyError: 'on purpose'"


@pytest.mark.parametrize("kind", [Corpus, Training, Measurement])
def test_a_full_disk_is_no_fault_of_the_study_and_is_named(
    project: Project, monkeypatch: pytest.MonkeyPatch, kind: type
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "results/file")

    monkeypatch.setattr(kind, "compute", fail)
    with pytest.raises(OSError, match="No space left") as error:
        rehearse(_plan(project))
    assert Path(error.value.filename).is_absolute()
    assert error.value.filename.endswith("/results/file")


def test_any_other_error_of_the_system_is_the_plugins(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "No such file", "a file of its own")

    monkeypatch.setattr(Training, "compute", fail)
    with pytest.raises(ConfigError, match=r"runs\.flm: FileNotFoundError: "):
        rehearse(_plan(project))


PINNED = "objective: {kind: flm}\n    streams: {data: 0, initialisation: 0, order: 0}"


def test_seeds_that_are_one_training_are_refused(project: Project) -> None:
    project.edit("config/studies/letters.yaml", "objective: {kind: flm}", PINNED)
    said = r"runs\.flm\.streams: data, initialisation, order are the same .* 5 seeds are one training"
    with pytest.raises(ConfigError, match=said):
        rehearse(_plan(project))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("objective: {kind: flm}", PINNED.replace(", order: 0", "")),
        ("objective: {kind: flm}", PINNED + "\n    seeds: 1"),
    ],
    ids=["order", "one seed"],
)
def test_seeds_that_differ_in_one_stream_are_several_trainings(project: Project, old: str, new: str) -> None:
    project.edit("config/studies/letters.yaml", old, new)
    (project.root / "config/claims/notes.yaml").write_text("claims: {}\n")
    rehearse(_plan(project))
