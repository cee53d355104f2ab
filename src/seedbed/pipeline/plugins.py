"""Plug-ins: a name in a study file is the name of a module in a folder of the package.

Names and types of a plug-in's options are checked by reading its source, so that a study is checked in
milliseconds and without importing torch. Nothing is registered anywhere.
"""

from __future__ import annotations

import ast
import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import seedbed
from seedbed.names import nearest
from seedbed.pipeline.yaml import ConfigError

PACKAGE = Path(seedbed.__file__).resolve().parent

Value = int | float | bool | str
_TYPES: dict[str, type] = {"int": int, "float": float, "bool": bool, "str": str}


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
                raise ConfigError(f"{place}: {value!r}; {nearest(value, self.choices)}")
            return value
        if self.kind is float and type(value) is int:
            value = float(value)
        if type(value) is not self.kind:
            raise ConfigError(f"{place}: expected {self.kind.__name__}, found {value!r}")
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(f"{place}: expected a finite number, found {value!r}")
        return value  # type: ignore[return-value]


def names(folder: str) -> list[str]:
    """The plug-ins of a folder: its modules that define Options."""
    files = sorted((PACKAGE / folder).glob("*.py"))
    return [file.stem for file in files if "class Options" in file.read_text(encoding="utf-8")]


def options(folder: str, name: str, values: Mapping[str, object], place: str) -> dict[str, Value]:
    """All options of a plug-in, in the order of its source: the given values over its defaults.

    Raises:
        ConfigError: unknown plug-in, unknown option, wrong type; the message says the nearest right one.
    """
    if name not in names(folder):
        raise ConfigError(f"{place}: no {folder}/{name}.py; {nearest(name, names(folder))}")
    known = _declared(PACKAGE / folder / f"{name}.py")
    for key in values:
        if key not in known:
            raise ConfigError(f"{place}.{key}: {name} has no such option; {nearest(key, known)}")
    return {
        key: option.check(values[key], f"{place}.{key}") if key in values else option.default
        for key, option in known.items()
    }


def measures(evaluation: str) -> tuple[frozenset[str], frozenset[str]]:
    """What an evaluation can measure and on what: the types of the first two parameters of its ``evaluate``."""
    models, contexts = _parameters(PACKAGE / "evaluations" / f"{evaluation}.py", "evaluate")[:2]
    return models, contexts


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


def build(folder: str, name: str, values: Mapping[str, Value], place: str) -> object:
    """A plug-in's Options as its own module makes them.

    Raises:
        ConfigError: the plug-in refuses them (its ValueError), as where two options contradict each other.
    """
    try:
        return load(folder, name).Options(**values)
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from error


@cache
def _parameters(path: Path, function: str) -> list[frozenset[str]]:
    """The types of a function's parameters, as they are written: several where they are joined by ``|``."""
    for node in _parsed(path).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            written = [ast.unparse(each.annotation) if each.annotation else "" for each in node.args.args]
            return [frozenset(text.split(" | ")) for text in written]
    raise ConfigError(f"{path}: defines no function {function}")


@cache
def _methods(path: Path, kind: str) -> frozenset[str]:
    """The public methods that a class defines; none without the class."""
    found = [node for node in _parsed(path).body if isinstance(node, ast.ClassDef) and node.name == kind]
    methods = {part.name for node in found for part in node.body if isinstance(part, ast.FunctionDef)}
    return frozenset(name for name in methods if not name.startswith("_"))


@cache
def _declared(path: Path) -> dict[str, Option]:
    body = next(
        node.body for node in _parsed(path).body if isinstance(node, ast.ClassDef) and node.name == "Options"
    )
    fields = (node for node in body if isinstance(node, ast.AnnAssign))
    return {ast.unparse(field.target): _option(field, path) for field in fields}


def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(encoding="utf-8"), str(path))
    except SyntaxError as error:
        raise ConfigError(f"{path}:{error.lineno}: {error.msg}") from error


def _option(field: ast.AnnAssign, path: Path) -> Option:
    try:
        # A field without a default has only its name to evaluate, which is no literal and refused below.
        default = ast.literal_eval(field.value or field.target)
        if isinstance(field.annotation, ast.Subscript) and ast.unparse(field.annotation.value) == "Literal":
            choices = ast.literal_eval(field.annotation.slice)
            return Option(str, choices if isinstance(choices, tuple) else (choices,), default)
        return Option(_TYPES[ast.unparse(field.annotation)], (), default)
    except (KeyError, ValueError) as error:
        raise ConfigError(
            f"{path}:{field.lineno}: an option is int, float, bool, str or Literal[...] with a literal default"
        ) from error
