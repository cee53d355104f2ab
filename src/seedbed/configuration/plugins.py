"""Plug-ins: a name in a study file is the name of a module in a folder of the package.

Names and types of a plug-in's options are read from its source, so a study is checked in milliseconds and without
importing torch. Nothing is registered anywhere.
"""

from __future__ import annotations

import ast
import importlib
import math
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import seedbed
from seedbed.configuration.validation import together
from seedbed.configuration.yaml import ConfigError
from seedbed.errors import SeedbedError, refused
from seedbed.messages import KINDS, REQUIRED, nearest, quote, unexpected, unknown_key

PACKAGE = Path(seedbed.__file__).resolve().parent

#: What a plug-in of each folder defines beside Options: a new folder of plug-ins is one more entry.
DEFINES = {
    "models": "Model",
    "objectives": "Objective",
    "training": "train",
    "evaluations": "evaluate",
    "demonstrations": "demonstrate",
    "references": "Reference",
    "tasks": "Task",
}
#: What evaluations can use of every trained run, whatever its objective: attributes of `TrainedModel`.
TRAINED = ("network", "objective", "log", "corpus", "initial")
#: The constant that says how small options are in a rehearsal; it decides no result.
REHEARSED = "REHEARSED"
#: What the documents of an evaluation may come from.
SOURCES = ("language", "task", "any")

Scalar = int | float | bool | str
#: A value of a list whose values are described by several keys: a TypedDict of the plug-in.
Record = dict[str, Scalar]
Value = Scalar | tuple[Scalar | Record, ...]
_TYPES: dict[str, type] = {"int": int, "float": float, "bool": bool, "str": str}
_KINDS = (
    "an option is int, float, bool, str, Literal[...] or tuple[one of these or a TypedDict of them, ...]; its "
    "default is a literal"
)
#: The folders whose code only passes results on.
_CARRIERS = ("building", "commands", "configuration", "pipeline")


@dataclass(frozen=True)
class Option:
    """One field of a plug-in's Options.

    Attributes:
        kind: Its type, or that of each value of a list.
        choices: The allowed values; empty if all values of the type are.
        many: Whether it is a list.
        default: Its value if a study does not give one; None if a study must.
        fields: The keys of a value, if it is a mapping.
        optional: Whether a mapping may lack it.
    """

    kind: type
    choices: tuple[Scalar, ...] = ()
    many: bool = False
    default: Value | None = None
    fields: Mapping[str, Option] | None = None
    optional: bool = False

    def check(self, value: object, place: str) -> Value:
        """The value in the option's own type; a whole number is also a valid float, and a list becomes a tuple.

        Raises:
            ConfigError: a wrong type, a value that is not among the choices, a number that is not finite, or a key
                that is unknown or missing.
        """
        if not self.many:
            return self._check_scalar(value, place)
        if not isinstance(value, list | tuple):
            raise ConfigError(f"{place}: {unexpected(value, KINDS[list])}")
        check = self._check_record if self.fields else self._check_scalar
        return tuple(together(partial(check, one, f"{place}[{at}]") for at, one in enumerate(value)))

    def _check_record(self, value: object, place: str) -> Record:
        known = self.fields or {}
        if not isinstance(value, dict):
            raise ConfigError(f"{place}: {unexpected(value, KINDS[dict])}")
        if unknown := [key for key in value if key not in known]:
            raise ConfigError("\n".join(f"{place}.{key}: {unknown_key(key, known)}" for key in unknown))
        if missing := [key for key, option in known.items() if key not in value and not option.optional]:
            raise ConfigError("\n".join(f"{place}.{key}: {REQUIRED}" for key in missing))
        given = [key for key in known if key in value]
        checked = together(partial(known[key]._check_scalar, value[key], f"{place}.{key}") for key in given)
        return dict(zip(given, checked, strict=True))

    def _check_scalar(self, value: object, place: str) -> Scalar:
        if self.kind is float and type(value) is int:
            value = float(value)
        if self.choices:
            if value not in self.choices:
                raise ConfigError(f"{place}: {unexpected(value, *map(str, self.choices))}")
            return value
        if type(value) is not self.kind:
            raise ConfigError(f"{place}: {unexpected(value, KINDS[self.kind])}")
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(f"{place}: {unexpected(value, 'a finite number')}")
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


def options(folder: str, name: str, values: Mapping[str, object], place: str) -> dict[str, Any]:
    """All options of a plug-in, in the order of its source: the given values over its defaults.

    Raises:
        ConfigError: an unknown option, one of the wrong type, or a missing one that has no default.
    """
    known = _read_options(PACKAGE / folder / f"{name}.py")

    def resolve(key: str) -> Value:
        if key not in known:
            raise ConfigError(f"{place}.{key}: {unknown_key(key, known)}")
        if key in values:
            return known[key].check(values[key], f"{place}.{key}")
        default = known[key].default
        if default is None:
            raise ConfigError(f"{place}.{key}: {REQUIRED}")
        return default

    keys = list(dict.fromkeys([*values, *known]))
    found = dict(zip(keys, together(partial(resolve, key) for key in keys), strict=True))
    whole = {key: found[key] for key in known}
    parts(folder, name, whole, place)
    return whole


def parts(folder: str, name: str, values: Mapping[str, object], place: str = "") -> list[str]:
    """The modules of the package that the options of a plug-in name, as its constant ``PARTS`` says.

    Raises:
        ConfigError: a folder has no such file; the message says the nearest right one.
    """
    path, found = PACKAGE / folder / f"{name}.py", []
    for option, inside in _read_parts(path).items():
        known = sorted(file.stem for file in (PACKAGE / inside).glob("[!_]*.py"))
        if values[option] not in known:
            near = nearest(values[option], known)
            raise ConfigError(f"{place}.{option}: no {inside}/{values[option]}.py; {near}")
        found.append(f"seedbed.{inside.replace('/', '.')}.{values[option]}")
    return found


def resolve(folder: str, values: Mapping[str, object], place: str) -> dict[str, Value]:
    """``{kind: NAME, option: value}`` with all options of the plug-in.

    Raises:
        ConfigError: no ``kind``, unknown plug-in or option, wrong type.
    """
    kind = values.get("kind")
    if not isinstance(kind, str):
        known = nearest(kind, names(folder))
        raise ConfigError(f"{place}.kind: {unexpected(kind, 'the name of a plug-in', hint=known)}")
    check_name(folder, kind, f"{place}.kind")
    given = {key: value for key, value in values.items() if key != "kind"}
    return {"kind": kind} | options(folder, kind, given, place)


def needs(evaluation: str) -> tuple[str, ...]:
    """What an evaluation uses of a run, its constant NEEDS.

    Raises:
        ConfigError: there is no such constant, or no run has what it names.
    """
    return _read_needs(PACKAGE / "evaluations" / f"{evaluation}.py")


def source(evaluation: str) -> str:
    """What the documents of an evaluation come from, its constant SOURCE: ``language``, ``task`` or ``any``.

    Raises:
        ConfigError: there is no such constant, or it has another value.
    """
    return _read_source(PACKAGE / "evaluations" / f"{evaluation}.py")


def rehearsed(folder: str, name: str, values: Mapping[str, Value]) -> dict[str, Any]:
    """The options of a plug-in in a rehearsal: sizes are at most those of its constant REHEARSED, if it has one.

    Raises:
        ConfigError: the constant is no mapping of options of the plug-in that are whole numbers to such.
    """
    path, found = PACKAGE / folder / f"{name}.py", dict(values)
    for option, most in _read_rehearsed(path).items():
        found[option] = min(found[option], most)
    return found


def offers(folder: str, name: str) -> tuple[str, ...]:
    """What an objective or a reference run can be asked by evaluations, its constant OFFERS.

    Raises:
        ConfigError: there is no such constant.
    """
    return _read_names(PACKAGE / folder / f"{name}.py", "OFFERS")


def load(folder: str, name: str) -> ModuleType:
    """Import a plug-in's module."""
    return importlib.import_module(f"seedbed.{folder}.{name}")


@contextmanager
def errors_at(place: str) -> Iterator[None]:
    """Turn what a plug-in raises into an error of the configuration.

    Raises:
        ConfigError: for a ValueError, by which a plug-in refuses values, its message; for any other error also its
            line.
        OSError: the system refuses a valid file, for example because the disk is full.
    """
    try:
        yield
    except (SeedbedError, ValueError) as error:
        raise ConfigError(f"{place}: {error}") from error
    except Exception as error:
        if isinstance(error, OSError) and refused(error):
            raise
        raise ConfigError(f"{place}: {_describe(error)}") from error


def _describe(error: Exception) -> str:
    """An error with the last line of the package that it went through."""
    lines = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    own = [
        f"{_in_project(path)}:{line}: "
        for path, line in lines
        if path.is_relative_to(PACKAGE) and not any(path.is_relative_to(PACKAGE / one) for one in _CARRIERS)
    ]
    return f"{own[-1] if own else ''}{type(error).__name__}: {error}"


def _in_project(path: Path) -> str:
    """The path of a file of the package, relative to the project's folder."""
    root = PACKAGE.parents[1]
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def build(folder: str, name: str, values: Mapping[str, Value], place: str) -> object:
    """A plug-in's Options as its own module makes them.

    Raises:
        ConfigError: its file fails or lacks what it must define, or it refuses the options, for example because
            two of them contradict each other.
    """
    try:
        module = load(folder, name)
    except Exception as error:
        raise ConfigError(f"{place}: {folder}/{name}.py cannot be imported: {_describe(error)}") from error
    if not hasattr(module, DEFINES[folder]):
        raise ConfigError(f"{place}: {folder}/{name}.py defines no {DEFINES[folder]}")
    for method in getattr(module, "OFFERS", ()):
        if not hasattr(getattr(module, DEFINES[folder]), method):
            raise ConfigError(f"{place}: {folder}/{name}.py: OFFERS: {DEFINES[folder]} has no method {method}")
    with errors_at(place):
        return module.Options(**values)


def parse(path: Path) -> ast.Module:
    """The syntax tree of a file of the package.

    Raises:
        ConfigError: it is not valid Python.
    """
    try:
        return ast.parse(path.read_bytes(), str(path))
    except SyntaxError as error:
        raise ConfigError(f"{_in_project(path)}:{error.lineno}: no Python: {error.msg}") from error
    except ValueError as error:
        raise ConfigError(f"{_in_project(path)}: no Python: {error}") from error


@cache
def _read_names(path: Path, name: str) -> tuple[str, ...]:
    """A constant that is a tuple of names, which the file must have."""
    found = read_names(parse(path), _in_project(path), name)
    if found is None:
        raise ConfigError(f"{_in_project(path)}: defines no constant {name}")
    return found


def read_names(tree: ast.Module, place: str, name: str) -> tuple[str, ...] | None:
    """A constant of a module that is a tuple of texts; None where it has no such constant.

    Raises:
        ConfigError: the constant is something else.
    """
    found = read_constant(tree, place, name)
    if found is None:
        return None
    if not isinstance(found, tuple) or not all(isinstance(one, str) for one in found):
        raise ConfigError(f'{place}: {name}: expected a tuple of texts, such as ("a", "b")')
    return found


def read_constant(tree: ast.Module, place: str, name: str) -> object:
    """The literal value of a constant of a module; None where it has no such constant.

    Raises:
        ConfigError: the value is not a literal.
    """
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=found)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value):
                pass
            case _:
                continue
        if found == name:
            try:
                return ast.literal_eval(value)
            except ValueError as error:
                raise ConfigError(f"{place}:{node.lineno}: {name}: expected a literal") from error
    return None


@cache
def _read_needs(path: Path) -> tuple[str, ...]:
    needed = _read_names(path, "NEEDS")
    offered = (offers(folder, name) for folder in ("objectives", "references") for name in names(folder))
    known = set(TRAINED).union(*offered)
    for name in needed:
        if name not in known:
            raise ConfigError(f"{_in_project(path)}: NEEDS: {quote(name)}: {nearest(name, known)}")
    return needed


@cache
def _read_source(path: Path) -> str:
    found = read_constant(parse(path), _in_project(path), "SOURCE")
    if found is None:
        raise ConfigError(f"{_in_project(path)}: defines no constant SOURCE")
    if found not in SOURCES:
        raise ConfigError(f"{_in_project(path)}: SOURCE: {unexpected(found, *SOURCES)}")
    return str(found)


@cache
def _read_parts(path: Path) -> dict[str, str]:
    found = read_constant(parse(path), _in_project(path), "PARTS")
    if not isinstance(found, dict | None):
        raise ConfigError(f'{_in_project(path)}: PARTS: expected a mapping, such as {{"mixer": "models/mixers"}}')
    return found or {}


@cache
def _read_rehearsed(path: Path) -> dict[str, int]:
    place, known = f"{_in_project(path)}: {REHEARSED}", _read_options(path)
    found = read_constant(parse(path), _in_project(path), REHEARSED)
    if found is None:
        return {}
    if not isinstance(found, dict) or any(type(most) is not int for most in found.values()):
        raise ConfigError(f'{place}: expected a mapping of options to whole numbers, such as {{"items": 16}}')
    for option in found:
        if option not in known:
            raise ConfigError(f"{place}: {unknown_key(option, known)}")
        if known[option].kind is not int or known[option].many:
            raise ConfigError(f"{place}: {option}: expected an option that is a whole number")
    return found


@cache
def _read_options(path: Path) -> dict[str, Option]:
    classes = {node.name: node for node in parse(path).body if isinstance(node, ast.ClassDef)}
    records = {name: node for name, node in classes.items() if [*map(ast.unparse, node.bases)] == ["TypedDict"]}
    fields = [_read_field(field, path, records) for field in _fields(classes["Options"])]
    return dict(fields)


def _fields(node: ast.ClassDef) -> list[ast.AnnAssign]:
    return [field for field in node.body if isinstance(field, ast.AnnAssign)]


def _read_field(field: ast.AnnAssign, path: Path, records: Mapping[str, ast.ClassDef]) -> tuple[str, Option]:
    place = f"{_in_project(path)}:{field.lineno}: {ast.unparse(field)}"
    try:
        option = _read_type(field.annotation, path, records)
        default = ast.literal_eval(field.value) if field.value else None
    except (KeyError, ValueError) as error:
        raise ConfigError(f"{place}: {_KINDS}") from error
    if field.value:
        option = replace(option, default=default)
        option.check(default, place)
    return ast.unparse(field.target), option


def _read_type(annotation: ast.expr, path: Path, records: Mapping[str, ast.ClassDef]) -> Option:
    """An option of a type, without its default.

    Args:
        annotation: The type.
        path: The file of the plug-in.
        records: Its classes whose values are mappings; only the values of a list are such.
    """
    if not isinstance(annotation, ast.Subscript):
        return Option(_TYPES[ast.unparse(annotation)])
    match ast.unparse(annotation.value), annotation.slice:
        case "Literal", inside:
            choices = ast.literal_eval(inside)
            return Option(str, choices if isinstance(choices, tuple) else (choices,))
        case "NotRequired", inside:
            return replace(_read_type(inside, path, {}), optional=True)
        case "tuple", ast.Tuple(elts=[ast.Name(id=name), ast.Constant(value=value)]) if (
            value is ... and name in records
        ):
            return Option(
                dict, many=True, fields=dict(_read_field(one, path, {}) for one in _fields(records[name]))
            )
        case "tuple", ast.Tuple(elts=[each, ast.Constant(value=value)]) if value is ...:
            option = _read_type(each, path, {})
            if not option.many:
                return replace(option, many=True)
    raise ValueError(ast.unparse(annotation))
