"""What config/demonstrations.yaml may say; whatever is wrong in it is said with its place and the remedy."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import pytest
from demonstration_projects import ENTRY, Project, source

from seedbed.configuration.configuration import Configuration
from seedbed.configuration.demonstrations import needs, parts
from seedbed.configuration.yaml import ConfigError

PLACE = r"config/demonstrations\.yaml: "
RECALL = {"task": "recall"}
NETWORK = {"kind": "recurrent", "cell": "gru"}
FILES = {
    "plain": source(),
    "of_language": source("language"),
    "of_task": source("task"),
    "of_networks": source("networks", "rng"),
    "of_objectives": source("objectives", "language"),
}
ENTRIES: dict[str, Any] = {
    "plain": ENTRY,
    "words": ENTRY | {"kind": "of_language", "of": "garden", "options": {"names": ["a", "b"]}},
    "of-task": ENTRY | {"of": RECALL},
    "of-networks": ENTRY | {"of": RECALL, "models": {"gru": NETWORK}, "seeds": 4},
    "of-objectives": ENTRY | {"of": "garden", "objectives": {"flm": {"kind": "flm"}}},
}


def test_an_entry_is_of_the_file_of_its_name_and_has_every_option(project: Project) -> None:
    project.write(FILES, ENTRIES)
    found = project.read().demonstrations
    assert list(found) == list(ENTRIES)
    assert [entry.kind for entry in found.values()] == list(FILES)
    assert found["words"].options == {"names": ("a", "b"), "size": 1}
    assert found["of-networks"].models["gru"]["hidden"] > 0
    assert found["of-task"].task is not None
    assert found["of-task"].task.options == {"distances": ("1-100",), "batch": 64}
    assert found["words"].language == "garden"


def test_the_plugins_of_an_entry_are_named_with_their_places(project: Project) -> None:
    project.write(FILES, ENTRIES)
    found = parts("of-networks", project.read().demonstrations["of-networks"])
    place = "config/demonstrations.yaml: of-networks"
    assert [one[:3] for one in found] == [
        (f"{place}: options", "demonstrations", "of_networks"),
        (f"{place}: of.options", "tasks", "recall"),
        (f"{place}: models.gru", "models", "recurrent"),
    ]
    assert "kind" not in found[2][3]


def test_one_file_may_have_several_entries(project: Project) -> None:
    project.write({"plain": source()}, {"plain": ENTRY, "again": ENTRY | {"kind": "plain"}})
    assert len(project.read().demonstrations) == 2


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("plain", {"titel": "x"}, r"plain: titel: unknown key; did you mean title"),
        ("plain", {"title": None}, r"plain: title: this key is required"),
        ("plain", {"lead": ""}, r"plain: lead: expected text that is not empty"),
        ("plain", {"options": {"sise": 2}}, r"plain: options\.sise: .* did you mean size"),
        ("plain", {"options": {"size": "2"}}, r"plain: options\.size: expected a whole number"),
        ("plain", {"options": {"names": "a b"}}, r"plain: options\.names: expected a list, found 'a b'"),
        ("plain", {"options": {"names": ["a", 1]}}, r"plain: options\.names\[1\]: expected text"),
        ("plain", {"kind": "plan"}, r"plain: kind: no demonstrations/plan\.py; did you mean plain"),
        ("plain", {"of": "garden"}, r"plain: of: plain uses neither language nor task; delete the key"),
        ("plain", {"models": {"gru": NETWORK}}, r"plain: models: plain needs no networks; delete the key"),
        ("plain", {"objectives": {"a": {"kind": "flm"}}}, r"plain: objectives: plain needs no objectives"),
        ("plain", {"seeds": 3}, r"plain: seeds: plain draws nothing and takes no times; delete the key"),
        ("of-networks", {"seeds": 0}, r"of-networks: seeds: expected at least 1"),
        ("words", {"of": None}, r"words: of: of_language needs a language: expected the name of a language"),
        ("words", {"of": RECALL}, r"words: of: of_language needs a language"),
        ("words", {"of": "gardn"}, r"words: of: gardn: no config/languages/gardn\.yaml; did you mean garden"),
        ("of-task", {"of": "garden"}, r"of-task: of: of_task needs a task: expected \{task: NAME"),
        ("of-task", {"of": {"task": "recal"}}, r"of-task: of\.task: no tasks/recal\.py; did you mean recall"),
        (
            "of-task",
            {"of": {"task": "recall", "options": {"bach": 1}}},
            r"of-task: of\.options\.bach: .* did you mean batch",
        ),
        ("of-networks", {"models": None}, r"of-networks: models: of_networks needs networks; name at least one"),
        ("of-networks", {"of": None}, r"of-networks: of: of_networks needs a vocabulary"),
        (
            "of-networks",
            {"models": {"a": {"kind": "recurent"}}},
            r"of-networks: models\.a\.kind: .* did you mean recurrent",
        ),
        (
            "of-networks",
            {"models": {"a": NETWORK | {"hiden": 2}}},
            r"of-networks: models\.a\.hiden: .* did you mean hidden",
        ),
        (
            "of-networks",
            {"models": {"a": {"cell": "gru"}}},
            r"of-networks: models\.a\.kind: expected the name of a plug-in",
        ),
        ("of-networks", {"models": {"A": NETWORK}}, r"of-networks: models\.A: expected lower-case letters"),
        ("of-objectives", {"objectives": None}, r"of-objectives: objectives: of_objectives needs objectives"),
    ],
)
def test_a_wrong_entry_names_its_place_and_the_remedy(
    project: Project, name: str, change: dict[str, Any], message: str
) -> None:
    entry = {key: value for key, value in (ENTRIES[name] | change).items() if value is not None}
    project.write(FILES, ENTRIES | {name: entry})
    with pytest.raises(ConfigError, match=PLACE + message):
        project.read().languages  # noqa: B018 - an unknown language is found where it is read


def test_everything_that_is_wrong_is_said_at_once(project: Project) -> None:
    project.write(FILES, ENTRIES | {"plain": {"lead": "So."}, "words": ENTRIES["words"] | {"of": RECALL}})
    with pytest.raises(ConfigError) as error:
        project.read()
    assert [line.split(": ")[1:3] for line in str(error.value).splitlines()] == [
        ["plain", "title"],
        ["words", "of"],
    ]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({}, "no entry is of demonstrations/plain.py; add one or delete the file"),
        ({"plain": ENTRY, "plane": ENTRY}, "plane: no demonstrations/plane.py; did you mean plain"),
        ({"plain": "x"}, "plain: expected a mapping, found 'x'"),
        (
            {"Plain": ENTRY},
            "Plain: expected lower-case letters, digits and hyphens, a letter first, found 'Plain'",
        ),
    ],
)
def test_files_and_entries_belong_together(project: Project, entries: dict[str, Any], message: str) -> None:
    project.write({"plain": source()}, entries)
    with pytest.raises(ConfigError, match=PLACE + message):
        project.read()


def test_a_project_without_the_file_has_no_demonstrations(project: Project) -> None:
    project.write({"plain": source()}, {"plain": ENTRY})
    (project.root / "config/demonstrations.yaml").unlink()
    assert project.read().demonstrations == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (source().replace("NEEDS = ()", ""), 'expected a constant such as NEEDS = ("language",), or ()'),
        (source().replace("NEEDS = ()", "NEEDS = ['rng']"), "NEEDS: expected a tuple of texts"),
        (source().replace("NEEDS = ()", "NEEDS = tuple()"), "NEEDS: expected a literal"),
        (source("langage"), "NEEDS: 'langage': did you mean language"),
        (source("language", "task"), "NEEDS: expected language or task, not both"),
        (
            source("rng").replace("*, rng", "rng"),
            "expected one function demonstrate(options, *, rng), as NEEDS says",
        ),
        (source("rng").replace("*, rng", "*, language"), "expected one function demonstrate(options, *, rng)"),
        (source().replace("def demonstrate", "def show"), "expected one function demonstrate(options), as"),
    ],
)
def test_a_file_says_what_it_needs(project: Project, text: str, message: str) -> None:
    project.write({"plain": text}, {"plain": ENTRY})
    with pytest.raises(ConfigError) as error:
        project.read()
    assert str(error.value).startswith("demonstrations/plain.py:")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("overrides", "seeds"),
    [
        ({}, (0, 1, 2, 3)),
        ({"seeds": 2}, (0, 1)),
        ({"scope": "reference"}, (0, 1, 2, 3)),
    ],
)
def test_what_draws_is_repeated_over_seeds(
    project: Project, overrides: dict[str, object], seeds: tuple[int, ...]
) -> None:
    project.write(FILES, ENTRIES)
    configuration = project.read(**overrides)
    assert configuration.demonstration_seeds("of-networks") == seeds
    assert configuration.demonstration_seeds("words") == (None,)


@pytest.mark.parametrize(("scope", "number"), [("report", 3), ("reference", 10)])
def test_an_entry_without_seeds_has_those_of_runs_without_seeds(project: Project, scope: str, number: int) -> None:
    entry = {key: value for key, value in ENTRIES["of-networks"].items() if key != "seeds"}
    project.write(FILES, ENTRIES | {"of-networks": entry})
    assert len(project.read(scope=scope).demonstration_seeds("of-networks")) == number


def test_no_study_has_the_name_under_which_demonstrations_are_observed(project: Project) -> None:
    project.write(FILES, ENTRIES, {"studies": ["demonstrations"]})
    with pytest.raises(
        ConfigError, match=r"config/config\.yaml: studies: demonstrations: .*give the study another"
    ):
        project.read()


def test_every_demonstration_of_the_project_says_what_it_needs(configuration: Configuration) -> None:
    for entry in configuration.demonstrations.values():
        module = importlib.import_module(f"seedbed.demonstrations.{entry.kind}")
        assert needs(entry.kind) == module.NEEDS
        assert list(inspect.signature(module.demonstrate).parameters) == ["options", *module.NEEDS]
