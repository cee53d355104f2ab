"""config/demonstrations.yaml, read and checked.

An entry names a file of src/seedbed/demonstrations/, whose constant ``NEEDS`` says what it must be given. The file
is parsed for this check, not imported. This module computes no result.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr

from seedbed.configuration import plugins
from seedbed.configuration.validation import together, validate
from seedbed.configuration.yaml import ConfigError, read
from seedbed.messages import FORMS, KINDS, nearest, quote, unexpected
from seedbed.observations import DEMONSTRATIONS
from seedbed.statistics.claims import Name, Sentence, Word

PLACE = "config/demonstrations.yaml"
#: What a demonstration may need besides its options.
NEEDS = ("language", "task", "networks", "objectives", "rng", "timer")
#: What differs from seed to seed, or from time to time: a demonstration that needs one of these is repeated.
REPEATED = ("networks", "rng", "timer")
_NAME = "^[a-z][a-z0-9-]*$"

Options = dict[StrictStr, Any]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TaskSource(_Strict):
    """A task with its options."""

    task: Word
    options: Options = {}


class Demonstration(_Strict):
    """One entry: a file of src/seedbed/demonstrations/ with what it is given.

    Attributes:
        kind: The file.
        title: The question that it answers, as the page asks it.
        lead: A sentence that says what is shown.
        of: The name of a language, or a task.
        models: The untrained networks by name, each ``{kind: NAME, option: value}``.
        objectives: The objectives by name, likewise.
        seeds: How often a demonstration that draws is repeated; None if the entry gives no number.
        options: The options of its kind.
        rebuilt: Whether the language is our reconstruction, so that its figures may be off by a little.
    """

    kind: Word
    title: Sentence
    lead: Sentence
    of: Name | TaskSource | None = None
    models: dict[Name, Options] = {}
    objectives: dict[Name, Options] = {}
    seeds: Annotated[StrictInt, Field(ge=1)] | None = None
    options: Options = {}
    rebuilt: StrictBool = False

    @property
    def language(self) -> str | None:
        """The name of its language, if it has one."""
        return self.of if isinstance(self.of, str) else None

    @property
    def task(self) -> TaskSource | None:
        """Its task, if it has one."""
        return self.of if isinstance(self.of, TaskSource) else None

    @property
    def repeated(self) -> bool:
        """Whether it draws or takes times, so that it is repeated over seeds."""
        return any(need in REPEATED for need in needs(self.kind))

    @property
    def timed(self) -> bool:
        """Whether it takes times, which no other build has again."""
        return "timer" in needs(self.kind)


def read_demonstrations(root: Path) -> dict[str, Demonstration]:
    """The entries by name, with every option filled in; none without the file.

    Raises:
        ConfigError: an unknown key, plug-in or option, an entry without a file or a file without an entry, or an
            entry that does not give what its kind needs; it lists everything that is wrong.
    """
    if not (root / PLACE).exists():
        return {}
    content = read(root / PLACE, PLACE)
    entries = together(partial(_read_entry, name, values) for name, values in content.items())
    _check_every_file_has_an_entry({entry.kind for entry in entries})
    return dict(zip(content, entries, strict=True))


def parts(name: str, entry: Demonstration) -> list[tuple[str, str, str, dict[str, Any]]]:
    """Every plug-in that an entry asks for: its place in the file, folder, name and options."""
    place = f"{PLACE}: {name}"
    found = [(f"{place}: options", DEMONSTRATIONS, entry.kind, entry.options)]
    if entry.task:
        found.append((f"{place}: of.options", "tasks", entry.task.task, entry.task.options))
    for key, values in (("models", entry.models), ("objectives", entry.objectives)):
        for each, one in values.items():
            options = {option: value for option, value in one.items() if option != "kind"}
            found.append((f"{place}: {key}.{each}", key, str(one["kind"]), options))
    return found


def _read_entry(name: str, values: object) -> Demonstration:
    place = f"{PLACE}: {name}"
    if not re.fullmatch(_NAME, name):
        raise ConfigError(f"{place}: {unexpected(name, FORMS[_NAME])}")
    if not isinstance(values, dict):
        raise ConfigError(f"{place}: {unexpected(values, KINDS[dict])}")
    entry = validate(Demonstration, {"kind": name.replace("-", "_")} | values, place)
    plugins.check_name(DEMONSTRATIONS, entry.kind, f"{place}: kind" if "kind" in values else place)
    together([partial(_check_needs, entry, place), partial(_check_source, entry, place)])
    return entry.model_copy(update=_with_defaults(entry, place))


def _with_defaults(entry: Demonstration, place: str) -> dict[str, object]:
    """The parts of an entry that have options, with every option filled in."""
    task = entry.task
    steps: dict[str, Callable[[], object]] = {
        "options": partial(plugins.options, DEMONSTRATIONS, entry.kind, entry.options, f"{place}: options"),
        "models": partial(_kinds, "models", entry.models, f"{place}: models"),
        "objectives": partial(_kinds, "objectives", entry.objectives, f"{place}: objectives"),
    }
    if task:
        steps["of"] = partial(_task, task, f"{place}: of")
    return dict(zip(steps, together(steps.values()), strict=True))


def _kinds(folder: str, given: Mapping[str, Options], place: str) -> dict[str, Options]:
    steps = [partial(plugins.resolve, folder, one, f"{place}.{name}") for name, one in given.items()]
    return dict(zip(given, together(steps), strict=True))


def _task(source: TaskSource, place: str) -> TaskSource:
    plugins.check_name("tasks", source.task, f"{place}.task")
    options = plugins.options("tasks", source.task, source.options, f"{place}.options")
    return source.model_copy(update={"options": options})


def _check_needs(entry: Demonstration, place: str) -> None:
    """Check that an entry gives the networks and objectives that its kind needs, and seeds only if it draws."""
    needed, wrong = needs(entry.kind), []
    for key, need in (("models", "networks"), ("objectives", "objectives")):
        if need in needed and not getattr(entry, key):
            wrong.append(f"{place}: {key}: {entry.kind} needs {need}; name at least one")
        if need not in needed and getattr(entry, key):
            wrong.append(f"{place}: {key}: {entry.kind} needs no {need}; delete the key")
    if entry.seeds and not entry.repeated:
        wrong.append(f"{place}: seeds: {entry.kind} draws nothing and takes no times; delete the key")
    if wrong:
        raise ConfigError("\n".join(wrong))


def _check_source(entry: Demonstration, place: str) -> None:
    """Check that ``of`` is what the kind needs: a language, a task, either for its vocabulary, or nothing."""
    needed, kind = set(needs(entry.kind)), entry.kind
    language, task = "the name of a language", "{task: NAME, options: {...}}"
    if "language" in needed:
        right, expected = entry.language is not None, f"needs a language: expected {language}"
    elif "task" in needed:
        right, expected = entry.task is not None, f"needs a task: expected {task}"
    elif needed & {"networks", "objectives"}:
        right, expected = entry.of is not None, f"needs a vocabulary: expected {language} or {task}"
    else:
        right, expected = entry.of is None, "uses neither language nor task; delete the key"
    if not right:
        raise ConfigError(f"{place}: of: {kind} {expected}")


def _check_every_file_has_an_entry(kinds: Collection[str]) -> None:
    unused = [name for name in plugins.names(DEMONSTRATIONS) if name not in kinds]
    if unused:
        raise ConfigError(
            "\n".join(
                f"{PLACE}: no entry is of demonstrations/{name}.py; add one or delete the file" for name in unused
            )
        )


def needs(kind: str) -> tuple[str, ...]:
    """The constant NEEDS of a demonstration: the keywords that its ``demonstrate`` is called with.

    Raises:
        ConfigError: there is no such constant, it has an unknown word, or ``demonstrate`` has other keywords.
    """
    return _read_needs(plugins.PACKAGE / DEMONSTRATIONS / f"{kind}.py")


@cache
def _read_needs(path: Path) -> tuple[str, ...]:
    place, tree = f"{DEMONSTRATIONS}/{path.name}", plugins.parse(path)
    found = plugins.read_names(tree, place, "NEEDS")
    if found is None:
        raise ConfigError(
            f'{place}: expected a constant such as NEEDS = ("language",), or () where it needs nothing'
        )
    for need in found:
        if need not in NEEDS:
            raise ConfigError(f"{place}: NEEDS: {quote(need)}: {nearest(need, NEEDS)}")
    if {"language", "task"} <= set(found):
        raise ConfigError(f"{place}: NEEDS: expected language or task, not both")
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "demonstrate"]
    if [[one.arg for one in node.args.kwonlyargs] for node in functions] != [list(found)]:
        written = ", ".join(["options", *(["*"] if found else []), *found])
        raise ConfigError(f"{place}: expected one function demonstrate({written}), as NEEDS says")
    return found
