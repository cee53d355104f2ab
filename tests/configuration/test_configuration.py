"""Every wrong value stops at once, names its place and the nearest right name."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from seedbed.configuration.configuration import Configuration, overrides
from seedbed.configuration.yaml import ConfigError

STUDY: dict[str, Any] = {
    "title": "Title",
    "lead": "Lead",
    "rebuilt": True,
    "data": {"text": {"language": "garden", "training": 10, "validation": 5, "test": 5}},
    "training": {"epochs": 2},
    "runs": {
        "flm": {"label": "L", "model": {"kind": "transformer"}, "objective": {"kind": "flm"}},
        "exact": {"label": "E", "kind": "exact"},
    },
    "evaluations": {"training": {"runs": "trained"}, "perplexity": {}},
}


def write(root: Path, study: dict[str, Any], settings: dict[str, Any] | None = None) -> Path:
    for folder in ("studies", "languages"):
        (root / "config" / folder).mkdir(parents=True, exist_ok=True)
    (root / "config/config.yaml").write_text(yaml.safe_dump(settings or {"studies": ["tiny"], "seeds": 3}))
    (root / "config/studies/tiny.yaml").write_text(yaml.safe_dump(study))
    (root / "config/languages/garden.yaml").write_text("words: {a: 1}\n")
    return root


def changed(path: str, value: object) -> dict[str, Any]:
    """The study with the value at a dotted path replaced."""
    study = yaml.safe_load(yaml.safe_dump(STUDY))
    *parents, last = path.split(".")
    target = study
    for parent in parents:
        target = target[parent]
    target[last] = value
    return study


def grid(*choices: dict[str, object]) -> dict[str, object]:
    return {"run": "flm", "seeds": 1, "grid": list(choices)}


def test_a_right_configuration_has_every_default_filled_in(tmp_path: Path) -> None:
    run = Configuration(root=write(tmp_path, STUDY)).studies["tiny"].runs["flm"]
    given = {"epochs": 2, "batch": 32, "learning_rate": 0.003, "warm_up": 200}
    assert run.training == given | {"schedule": "cosine", "clip": 0.0, "order": "shuffled"}
    assert run.model["kind"] == "transformer"
    assert run.model["d_model"] == 64


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("titel", "x", r"config/studies/tiny\.yaml: titel: unknown key; did you mean title"),
        ("data.text.langauge", "x", r"data\.text\.langauge: unknown key; did you mean language"),
        ("data.text.training", "10", r"data\.text\.training: expected a whole number, found '10'$"),
        ("data.text.training", 0, r"data\.text\.training: expected at least 1, found 0"),
        ("data.text.test", True, r"data\.text\.test: expected a whole number, found true"),
        (
            "data.text.language",
            "gardn",
            r"language: gardn: no config/languages/gardn\.yaml; did you mean garden",
        ),
        ("runs.flm.modle", {}, r"runs\.flm\.modle: unknown key; did you mean model"),
        ("runs.flm.data", "txt", r"runs\.flm\.data: txt: did you mean text"),
        (
            "runs.flm.model.kind",
            "transfomer",
            r"runs\.flm\.model\.kind: no models/transfomer\.py; did you mean transformer",
        ),
        ("runs.flm.model.d_modle", 1, r"runs\.flm\.model\.d_modle: unknown key; did you mean d_model"),
        (
            "runs.flm.model",
            {},
            r"runs\.flm\.model\.kind: expected the name .*, found nothing; known: .*transformer",
        ),
        ("runs.flm.objective.kind", 3, r"runs\.flm\.objective\.kind: expected the name of a plug-in"),
        (
            "runs.flm.training",
            {"epochs": 1.5},
            r"flm\.training\.epochs: expected a whole number, found 1\.5",
        ),
        ("runs.flm.streams", {"dta": 0}, r"runs\.flm\.streams\.dta: unknown key; did you mean data"),
        ("runs.flm.seeds", [0, 1], r"runs\.flm\.seeds: expected a whole number, found"),
        ("runs.flm.seeds", 1000, r"runs\.flm\.seeds: expected a number below 1000, found 1000"),
        ("runs.flm.options", {"x": 1}, r"runs\.flm\.options: a trained run"),
        ("runs.exact.model", {"kind": "transformer"}, r"runs\.exact\.model: a reference run"),
        ("runs.exact.kind", "exakt", r"runs\.exact\.kind: no references/exakt\.py; did you mean exact"),
        (
            "runs.Flm",
            {"label": "x"},
            r"runs\.Flm: expected lower-case letters, digits and .*, found 'Flm'",
        ),
        (
            "evaluations.perplexty",
            {},
            r"evaluations\.perplexty: no evaluations/perplexty\.py; did you mean perplexity",
        ),
        ("evaluations.training.runs", ["flmm"], r"evaluations\.training\.runs: flmm: did you mean flm"),
        ("evaluations.training.runs", ["flm", "flm"], r"evaluations\.training\.runs: flm occurs twice"),
        (
            "evaluations.training.runs",
            ["flm", "exact"],
            r"training\.runs: exact: training measures runs that train",
        ),
        (
            "evaluations.own",
            {"kind": "perplexty"},
            r"evaluations\.own\.kind: no evaluations/perplexty\.py; did you mean perplexity",
        ),
        (
            "evaluations.cloze_bayes",
            {},
            r"evaluations\.cloze_bayes: expected lower-case letters, digits and .*, found 'cloze_bayes'",
        ),
        (
            "evaluations.pronouns",
            {"options": {"slot": "tail possessive"}},
            r"evaluations\.pronouns\.options\.antecedent: this key is required$",
        ),
        (
            "evaluations.prompts",
            {"options": {"slot": "verb", "prompts": ["she", 3]}},
            r"evaluations\.prompts\.options\.prompts\[1\]: expected text, found 3; quote it$",
        ),
        (
            "evaluations.prompts",
            {"options": {"slot": "verb", "prompts": "she picks"}},
            r"evaluations\.prompts\.options\.prompts: expected a list, found 'she picks'$",
        ),
        (
            "evaluations.cloze-lengths",
            {"runs": ["flm"]},
            r"cloze-lengths\.runs: flm: cloze_lengths needs infill, which objectives/flm\.py does not offer",
        ),
        (
            "evaluations.recall-by-distance",
            {},
            r"evaluations\.recall-by-distance\.runs: all: it can measure none of .* no run on a language",
        ),
        (
            "evaluations.training.runs",
            "some",
            r"training\.runs: expected all, trained or a list, found 'some'$",
        ),
        ("rebuilt", "yes", r"rebuilt: expected true or false, found 'yes'"),
        ("tune", grid({}, {"d_model": 8}) | {"run": "exact"}, r"tune\.run: exact: known: flm"),
        ("tune", {"run": "flm", "seeds": 1, "grid": [{}]}, r"tune\.grid: expected a list of at least 2"),
        ("tune", grid({}, {}), r"tune\.grid: \{\} occurs twice"),
        ("tune", grid({}, {"d_modle": 8}), r"tiny\.yaml: tune\.grid\[1\]\.d_modle: .*did you mean d_model"),
        (
            "tune",
            grid({"d_model": "8"}, {}),
            r"tune\.grid\[0\]\.d_model: expected a whole number, found '8'",
        ),
    ],
)
def test_a_wrong_value_names_its_place_and_the_remedy(
    tmp_path: Path, path: str, value: object, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        _ = Configuration(root=write(tmp_path, changed(path, value))).languages


def test_batches_that_are_stored_are_those_of_the_task(tmp_path: Path) -> None:
    study = changed("data.drawn", {"task": "recall", "training": 9, "validation": 1, "test": 1})
    study["runs"]["drawn"] = {
        "label": "D",
        "data": "drawn",
        "model": {"kind": "recurrent"},
        "objective": {"kind": "answer"},
        "training": {"order": "stored", "batch": 64},
    }
    Configuration(root=write(tmp_path, study))
    study["runs"]["drawn"]["training"]["batch"] = 32
    with pytest.raises(
        ConfigError, match=r"runs\.drawn\.training\.batch: 32, but its data set drawn .* of 64 and"
    ):
        Configuration(root=write(tmp_path, study))
    study["runs"]["drawn"]["training"]["order"] = "shuffled"
    Configuration(root=write(tmp_path, study))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"studies": ["tiny"], "seed": 3}, r"config/config\.yaml: seeds: this key is required"),
        ({"studies": ["tiny"], "seeds": 3, "sedes": 3}, r"sedes: unknown key; did you mean seeds"),
        ({"studies": [], "seeds": 3}, r"studies: expected a list of at least 1"),
        ({"studies": ["tiny", "tiny"], "seeds": 3}, r"config/config\.yaml: studies: tiny occurs twice"),
        (
            {"studies": ["tny"], "seeds": 3},
            r"studies: tny: no config/studies/tny\.yaml; did you mean tiny",
        ),
        ({"studies": "tiny", "seeds": 3}, r"studies: expected a list, found 'tiny'"),
        ({"studies": ["tiny"], "seeds": 0}, r"seeds: expected at least 1"),
        ({"studies": ["tiny"], "seeds": 1e3}, r"seeds: expected a whole number, found"),
    ],
)
def test_wrong_settings_are_refused(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Configuration(root=write(tmp_path, STUDY, settings))


def test_overrides_are_checked_like_the_file(tmp_path: Path) -> None:
    root = write(tmp_path, STUDY)
    assert Configuration(overrides(["seeds=2"]), root).settings.seeds == 2
    with pytest.raises(ConfigError, match=r"--config: sedes: unknown key; did you mean seeds"):
        Configuration(overrides(["sedes=2"]), root)
    with pytest.raises(ConfigError, match=r"--config: seeds: expected a whole number, found 'two'"):
        Configuration(overrides(["seeds=two"]), root)
    with pytest.raises(ConfigError, match=r"--config: studies: tiny occurs twice"):
        Configuration(overrides(["studies=[tiny, tiny]"]), root)
    with pytest.raises(ConfigError, match="expected KEY=VALUE"):
        overrides(["seeds"])
    with pytest.raises(ConfigError, match=r"^--config seeds=\[, line 2, column 1: "):
        overrides(["seeds=["])


def test_an_error_of_the_file_is_not_blamed_on_an_override(tmp_path: Path) -> None:
    root = write(tmp_path, STUDY, {"studies": ["tiny"], "seeds": 3, "sedes": 3})
    with pytest.raises(ConfigError, match=r"^config/config\.yaml: sedes: unknown key; did you mean seeds"):
        Configuration({"seeds": 2}, root)


def test_an_evaluation_of_trained_models_measures_trained_runs_where_none_are_named(tmp_path: Path) -> None:
    configuration = Configuration(root=write(tmp_path, changed("evaluations.training", {})))
    assert configuration.evaluated("tiny", "training") == ["flm"]
    assert configuration.evaluated("tiny", "perplexity") == ["exact", "flm"]


@pytest.mark.parametrize(
    ("entries", "measured"),
    [
        ({}, {"training": ["flm", "second"]}),
        ({"training": {"runs": ["second"]}}, {"training": ["flm", "second"]}),
        ({"log": {"kind": "training", "runs": ["second"]}}, {"log": ["second"], "training": ["flm"]}),
        ({"log": {"kind": "training"}}, {"log": ["flm", "second"]}),
    ],
)
def test_whether_it_diverged_is_measured_of_every_training_once(
    tmp_path: Path, entries: dict[str, Any], measured: dict[str, list[str]]
) -> None:
    study = changed("runs.second", STUDY["runs"]["flm"])
    study["evaluations"] = {"perplexity": {}} | entries
    configuration = Configuration(root=write(tmp_path, study))
    kinds = {name: one.kind for name, one in configuration.studies["tiny"].evaluations.items()}
    found = {name: configuration.evaluated("tiny", name) for name, kind in kinds.items() if kind == "training"}
    assert {name: sorted(runs) for name, runs in found.items()} == measured


def test_the_name_of_the_evaluation_of_every_training_is_not_for_others(tmp_path: Path) -> None:
    study = changed("evaluations", {"training": {"kind": "perplexity"}})
    with pytest.raises(ConfigError, match=r"tiny.yaml: evaluations.training: .*; give this one another name"):
        Configuration(root=write(tmp_path, study))


def test_a_study_of_references_alone_measures_no_training(tmp_path: Path) -> None:
    study = changed("evaluations", {"perplexity": {}})
    del study["runs"]["flm"]
    assert set(Configuration(root=write(tmp_path, study)).studies["tiny"].evaluations) == {"perplexity"}


def test_an_evaluation_is_named_apart_from_its_kind(tmp_path: Path) -> None:
    study = changed("evaluations.first", {"kind": "cloze_bayes", "runs": ["flm"]})
    study["evaluations"]["whole-document"] = {"kind": "cloze_bayes", "options": {"until": "document"}}
    study["evaluations"]["cloze-bayes"] = {}
    found = Configuration(root=write(tmp_path, study)).studies["tiny"].evaluations
    assert {found[name].kind for name in ("first", "whole-document", "cloze-bayes")} == {"cloze_bayes"}
    assert found["whole-document"].options == {"items": 500, "until": "document"}
    assert found["cloze-bayes"].options == {"items": 500, "until": "sentence"}


def test_the_name_of_an_evaluation_is_no_part_of_its_recipe(tmp_path: Path) -> None:
    from seedbed.pipeline.plan import Plan

    one = Plan(Configuration(root=write(tmp_path, STUDY)))
    two = Plan(Configuration(root=write(tmp_path, changed("evaluations.other", {"kind": "perplexity"}))))
    named = one.measurement("tiny", "flm", "perplexity"), two.measurement("tiny", "flm", "other")
    assert named[0].rows == named[1].rows


def test_a_run_that_begins_with_the_weights_of_another_has_no_first_weights(tmp_path: Path) -> None:
    study = changed("runs.second", STUDY["runs"]["flm"] | {"start": {"study": "tiny", "run": "flm"}})
    study["evaluations"]["untouched"] = {}
    configuration = Configuration(root=write(tmp_path, study))
    assert configuration.evaluated("tiny", "untouched") == ["flm"]
    study["evaluations"]["untouched"] = {"runs": ["second"]}
    with pytest.raises(ConfigError, match=r"untouched\.runs: second: untouched needs the first weights, and this"):
        Configuration(root=write(tmp_path, study))


def test_a_run_may_name_its_seeds_and_an_override_counts_for_every_run(tmp_path: Path) -> None:
    root = write(tmp_path, changed("runs.flm.seeds", 4))
    assert Configuration(root=root).seeds("tiny", "flm") == (0, 1, 2, 3)
    assert Configuration({"seeds": 2}, root).seeds("tiny", "flm") == (0, 1)
    assert Configuration(root=root).seeds("tiny", "exact") == (None,)


def test_a_seed_override_does_not_reach_into_fingerprints(tmp_path: Path) -> None:
    from seedbed.pipeline.plan import Plan

    root = write(tmp_path, STUDY)
    one, two = Plan(Configuration(root=root)), Plan(Configuration({"seeds": 2}, root))
    assert one.training("tiny", "flm", 1).fingerprint == two.training("tiny", "flm", 1).fingerprint
    measured = [plan.measurement("tiny", "flm", "perplexity").fingerprint for plan in (one, two)]
    assert measured[0] != measured[1]


@pytest.mark.parametrize("path", ["training.epochs", "data.text.training", "data.text.validation"])
def test_a_changed_value_changes_recipe_and_training(tmp_path: Path, path: str) -> None:
    from seedbed.pipeline.plan import Plan

    before = Plan(Configuration(root=write(tmp_path, STUDY))).training("tiny", "flm", 0)
    after = Plan(Configuration(root=write(tmp_path, changed(path, 7)))).training("tiny", "flm", 0)
    assert before.fingerprint != after.fingerprint
    assert before.recipe != after.recipe


@pytest.mark.parametrize(("path", "value"), [("title", "x"), ("runs.flm.label", "x"), ("data.text.test", 7)])
def test_what_a_training_does_not_read_does_not_change_it(tmp_path: Path, path: str, value: object) -> None:
    from seedbed.pipeline.plan import Plan

    before = Plan(Configuration(root=write(tmp_path, STUDY)))
    after = Plan(Configuration(root=write(tmp_path, changed(path, value))))
    assert before.training("tiny", "flm", 0).fingerprint == after.training("tiny", "flm", 0).fingerprint


def test_a_pinned_stream_reads_the_corpus_of_its_own_seed(tmp_path: Path) -> None:
    from seedbed.pipeline.plan import Plan

    plan = Plan(Configuration(root=write(tmp_path, changed("runs.flm.streams", {"data": 0}))))
    training = plan.training("tiny", "flm", 2)
    assert training.streams == {"data": 0, "initialisation": 2, "order": 2, "corruption": 2, "noise": 2}
    assert training.corpus.seed == 0
    assert plan.training("tiny", "flm", 1).fingerprint != training.fingerprint


def test_a_quick_build_without_a_quick_run_is_refused(tmp_path: Path) -> None:
    root = write(tmp_path, changed("runs.flm.quick", False))
    with pytest.raises(ConfigError, match="no run is marked `quick: true`"):
        Configuration({"scope": "quick"}, root)
