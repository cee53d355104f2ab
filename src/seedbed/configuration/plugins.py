"""Plug-ins: a name in a study file is the name of a module in a folder of the package.

Names and types of a plug-in's options are checked by reading its source, so that a study is checked in
milliseconds and without importing torch. Nothing is registered anywhere.
"""

from __future__ import annotations

import ast
import importlib
import math
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import ModuleType

import seedbed
from seedbed.configuration.validation import together
from seedbed.configuration.yaml import ConfigError
from seedbed.errors import SeedbedError, refused
from seedbed.messages import nearest, shown

PACKAGE = Path(seedbed.__file__).resolve().parent

Value = int | float | bool | str
_TYPES: dict[str, type] = {"int": int, "float": float, "bool": bool, "str": str}
_EXPECTED: dict[type, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
#: The rooms that carry results and compute none.
_CARRIERS = ("building", "commands", "configuration", "pipeline")
#: What a plug-in of each folder defines beside Options.
_DEFINES = {
    "models": "Model",
    "objectives": "Objective",
    "training": "train",
    "evaluations": "evaluate",
    "references": "Reference",
    "tasks": "Task",
}


@dataclass(frozen=True)
class Option:
    """One field of a plug-in's Options: its allowed type or values, and its default."""

    kind: type
    choices: tuple[Value, ...]
    default: Value

    def check(self, value: object, place: str) -> Value:
        """The value in the option's own type; a whole number is also a valid float.

        Raises:
            ConfigError: wrong type, none of the choices, or a number that is not finite.
        """
        if self.choices:
            if value not in self.choices:
                raise ConfigError(f"{place}: {shown(value)}: {nearest(value, self.choices)}")
            return value
        if self.kind is float and type(value) is int:
            value = float(value)
        if type(value) is not self.kind:
            raise ConfigError(f"{place}: expected {_EXPECTED[self.kind]}, found {shown(value)}")
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(f"{place}: expected a finite number, found {shown(value)}")
        return value  # type: ignore[return-value]


def names(folder: str) -> list[str]:
    """The plug-ins of a folder: its modules that define Options."""
    files = sorted((PACKAGE / folder).glob("*.py"))
    return [file.stem for file in files if b"\nclass Options" in file.read_bytes()]


def check_name(folder: str, name: str, place: str) -> None:
    """Refuse a name that is no plug-in.

    Raises:
        ConfigError: the message says the nearest right one.
    """
    if name not in names(folder):
        there = (PACKAGE / folder / f"{name}.py").is_file()
        said = f"{folder}/{name}.py defines no class Options" if there else f"no {folder}/{name}.py"
        raise ConfigError(f"{place}: {said}; {nearest(name, names(folder))}")


def options(folder: str, name: str, values: Mapping[str, object], place: str) -> dict[str, Value]:
    """All options of a plug-in, in the order of its source: the given values over its defaults.

    Raises:
        ConfigError: unknown option, wrong type; the message says the nearest right one.
    """
    known = _declared(PACKAGE / folder / f"{name}.py")

    def check(key: str, value: object) -> Value:
        if key not in known:
            raise ConfigError(f"{place}.{key}: {name} has no such option; {nearest(key, known)}")
        return known[key].check(value, f"{place}.{key}")

    given = dict(zip(values, together([partial(check, *item) for item in values.items()]), strict=True))
    whole = {key: given.get(key, option.default) for key, option in known.items()}
    parts(folder, name, whole, place)
    return whole


def parts(folder: str, name: str, values: Mapping[str, object], place: str = "") -> list[str]:
    """The modules of the package that the options of a plug-in name, as its constant ``PARTS`` says.

    Raises:
        ConfigError: a folder has no such file; the message says the nearest right one.
    """
    found = []
    for option, inside in _parts(PACKAGE / folder / f"{name}.py").items():
        known = sorted(file.stem for file in (PACKAGE / inside).glob("[!_]*.py"))
        if values[option] not in known:
            said = f"no {inside}/{values[option]}.py; {nearest(values[option], known)}"
            raise ConfigError(f"{place}.{option}: {said}")
        found.append(f"seedbed.{inside.replace('/', '.')}.{values[option]}")
    return found


def measures(evaluation: str) -> tuple[frozenset[str], frozenset[str]]:
    """What an evaluation can measure and on what: the types of the first two parameters of its ``evaluate``."""
    path = PACKAGE / "evaluations" / f"{evaluation}.py"
    types = _parameters(path, "evaluate")
    if len(types) < 3:
        raise ConfigError(f"{_shown(path)}: expected a function evaluate(model, context, options)")
    contexts = {"Context", "TaskContext"}
    models = _classes(PACKAGE / "evaluations" / "context.py") - contexts | {"TrainedModel"}
    for name, found, known in (("model", types[0], models), ("context", types[1], contexts)):
        if not found <= known:
            expected = (
                f"expected the type of {name} to be of {', '.join(sorted(known))}, which says what it measures"
            )
            raise ConfigError(f"{_shown(path)}: evaluate: {expected}; found {' | '.join(sorted(found)) or 'none'}")
    return types[0], types[1]


def asks(protocol: str) -> frozenset[str]:
    """The methods that a protocol of evaluations/context.py asks for."""
    return _methods(PACKAGE / "evaluations" / "context.py", protocol)


def offers(folder: str, name: str) -> frozenset[str]:
    """The methods of an objective or a reference, which say what it can be asked."""
    return _methods(
        PACKAGE / folder / f"{name}.py", {"objectives": "Objective", "references": "Reference"}[folder]
    )


def load(folder: str, name: str) -> ModuleType:
    """Import a plug-in's module."""
    return importlib.import_module(f"seedbed.{folder}.{name}")


@contextmanager
def explained(place: str) -> Iterator[None]:
    """Whatever a plug-in raises as an error of the configuration.

    Raises:
        ConfigError: a ValueError, by which a plug-in refuses values, as it stands; any other with its line.
        OSError: the system refuses a file that is right, as where the disk is full.
    """
    try:
        yield
    except (SeedbedError, ValueError) as error:
        raise ConfigError(f"{place}: {error}") from error
    except Exception as error:
        if isinstance(error, OSError) and refused(error):
            raise
        raise ConfigError(f"{place}: {_told(error)}") from error


def _told(error: Exception) -> str:
    """An error with the last line of a plug-in, or of what it uses, that it went through."""
    lines = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    own = [
        f"{_shown(path)}:{line}: "
        for path, line in lines
        if path.is_relative_to(PACKAGE) and not any(path.is_relative_to(PACKAGE / one) for one in _CARRIERS)
    ]
    return f"{own[-1] if own else ''}{type(error).__name__}: {error}"


def _shown(path: Path) -> str:
    """A file of the package as the project's folder has it."""
    root = PACKAGE.parents[1]
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def build(folder: str, name: str, values: Mapping[str, Value], place: str) -> object:
    """A plug-in's Options as its own module makes them.

    Raises:
        ConfigError: its file fails or lacks what it must define, or it refuses them, as where two options
            contradict each other.
    """
    try:
        module = load(folder, name)
    except Exception as error:
        raise ConfigError(f"{place}: {folder}/{name}.py cannot be imported: {_told(error)}") from error
    if not hasattr(module, _DEFINES[folder]):
        raise ConfigError(f"{place}: {folder}/{name}.py defines no {_DEFINES[folder]}")
    with explained(place):
        return module.Options(**values)


@cache
def _parameters(path: Path, function: str) -> list[frozenset[str]]:
    """The types of a function's parameters, as written, several where joined by ``|``; empty without it."""
    for node in parsed(path).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            written = [ast.unparse(each.annotation) if each.annotation else "" for each in node.args.args]
            return [frozenset(text.split(" | ")) for text in written]
    return []


@cache
def _classes(path: Path) -> frozenset[str]:
    """The names of the classes that a file defines."""
    return frozenset(node.name for node in parsed(path).body if isinstance(node, ast.ClassDef))


@cache
def _methods(path: Path, kind: str) -> frozenset[str]:
    """The public methods that a class defines; none without the class."""
    found = [node for node in parsed(path).body if isinstance(node, ast.ClassDef) and node.name == kind]
    methods = {part.name for node in found for part in node.body if isinstance(part, ast.FunctionDef)}
    return frozenset(name for name in methods if not name.startswith("_"))


@cache
def _declared(path: Path) -> dict[str, Option]:
    body = next(
        node.body for node in parsed(path).body if isinstance(node, ast.ClassDef) and node.name == "Options"
    )
    fields = (node for node in body if isinstance(node, ast.AnnAssign))
    return {ast.unparse(field.target): _option(field, path) for field in fields}


@cache
def _parts(path: Path) -> dict[str, str]:
    """The constant ``PARTS`` of a plug-in: options that name a file, and the folder of the package it is in."""
    for node in parsed(path).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PARTS":
            return dict(ast.literal_eval(node.value))
    return {}


def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file of the package.

    Raises:
        ConfigError: it is no Python.
    """
    try:
        return ast.parse(path.read_bytes(), str(path))
    except SyntaxError as error:
        raise ConfigError(f"{_shown(path)}:{error.lineno}: no Python: {error.msg}") from error
    except ValueError as error:
        raise ConfigError(f"{_shown(path)}: no Python: {error}") from error


def _option(field: ast.AnnAssign, path: Path) -> Option:
    try:
        kind, choices = _kind(field.annotation)
        # A field without a default has only its name to evaluate, which is no literal and refused below.
        default = ast.literal_eval(field.value or field.target)
    except (KeyError, ValueError) as error:
        raise ConfigError(
            f"{_shown(path)}:{field.lineno}: {ast.unparse(field)}: "
            "an option is int, float, bool, str or Literal[...] with a literal default"
        ) from error
    Option(kind, choices, default).check(default, f"{_shown(path)}:{field.lineno}: {ast.unparse(field)}")
    return Option(kind, choices, default)


def _kind(annotation: ast.expr) -> tuple[type, tuple[Value, ...]]:
    """The type of an option, and its choices, if it has any."""
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Literal":
        choices = ast.literal_eval(annotation.slice)
        return str, choices if isinstance(choices, tuple) else (choices,)
    return _TYPES[ast.unparse(annotation)], ()
