"""Pydantic's errors, one line each: file, key, what was expected and found, and the nearest right name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from seedbed.configuration.yaml import ConfigError
from seedbed.messages import FORMS, KINDS, REQUIRED, nearest, unexpected, unknown_key

_Model = TypeVar("_Model", bound=BaseModel)
_Result = TypeVar("_Result")
Path = tuple[int | str, ...]

#: The types that pydantic's errors of type name in its own words, such as ``int_type``.
_TYPES = {"bool": bool, "int": int, "float": float, "string": str, "list": list, "tuple": list}
_TYPES |= dict.fromkeys(("dict", "model", "model_attributes"), dict)


def validate(model: type[_Model], content: Mapping[str, object], place: str) -> _Model:
    """The content as its model; a key without a value is an error at every level.

    Raises:
        ConfigError: one line for each thing that is wrong, with its place.
    """
    problems = dict.fromkeys(_find_empty(content), "expected a value, found nothing")
    try:
        found = model.model_validate(content)
    except ValidationError as error:
        problems |= _describe(model, content, error)
    if problems:
        raise ConfigError("\n".join(_line(place, path, problem) for path, problem in problems.items()))
    return found


def together(steps: Iterable[Callable[[], _Result]]) -> list[_Result]:
    """The results of all steps.

    Raises:
        ConfigError: the errors of all steps together.
    """
    results, lines = [], []
    for step in steps:
        try:
            results.append(step())
        except ConfigError as error:
            lines += str(error).splitlines()
    if lines:
        raise ConfigError("\n".join(dict.fromkeys(lines)))
    return results


def _find_empty(content: object, path: Path = ()) -> Iterator[Path]:
    """The places where a key has no value."""
    if content is None:
        yield path
    elif isinstance(content, dict | list):
        for key, value in content.items() if isinstance(content, dict) else enumerate(content):
            yield from _find_empty(value, (*path, key))


def _describe(model: type[BaseModel], content: object, error: ValidationError) -> dict[Path, str]:
    """What is wrong, by path; what the members of a union expect becomes one sentence."""
    problems: dict[Path, str] = {}
    expected: dict[Path, list[str]] = {}
    found: dict[Path, object] = {}
    for one in error.errors():
        path, texts = _path(content, one["loc"]), _expected(one)
        match one["type"]:
            case "extra_forbidden":
                problems[path] = unknown_key(path[-1], _keys(model, one["loc"][:-1]))
            case "literal_error" if one["loc"][-1] == "[key]":
                problems[path] = unknown_key(one["input"], texts)
            case _ if texts and one["loc"][-1] == "[key]":
                problems[path] = unexpected(one["input"], *texts)
            case "missing":
                problems[*path, one["loc"][-1]] = REQUIRED
            case "union_tag_not_found" if isinstance(one["input"], Mapping):
                problems[*path, "kind"] = REQUIRED
            case "union_tag_invalid":
                problems[*path, "kind"] = f"{one['ctx']['tag']}: {nearest(one['ctx']['tag'], texts)}"
            case _ if texts:
                expected.setdefault(path, []).extend(texts)
                found[path] = one["input"]
            case _:
                problems[path] = one["msg"].removeprefix("Value error, ")
    for path, texts in expected.items():
        # A member of a union that fits except for a value inside it says more than the members that do not fit.
        if not any(other[: len(path)] == path for other in (problems | expected).keys() - {path}):
            if KINDS[int] in texts and {KINDS[float], "a finite number"} & set(texts):
                texts = [text for text in texts if text != KINDS[int]]
            problems.setdefault(path, unexpected(found[path], *texts))
    return problems


def _expected(error: Mapping[str, Any]) -> list[str]:
    """What was expected, for an error of type, range or form; empty for others."""
    match error["type"], error.get("ctx", {}):
        case "literal_error", {"expected": names}:
            return re.findall("'([^']*)'", names)
        case "union_tag_invalid", {"expected_tags": names}:
            return re.findall("'([^']*)'", names)
        case "union_tag_not_found", _:
            return [KINDS[dict]]
        case "string_type", _ if error["loc"][-1] == "[key]":
            return ["a word as a key"]
        case "too_short", {"min_length": least}:
            return [f"a list of at least {least}"]
        case "string_too_short", _:
            return ["text that is not empty"]
        case _, {"ge": least}:
            return [f"at least {least:g}"]
        case _, {"gt": limit}:
            return [f"a number above {limit:g}"]
        case _, {"lt": limit}:
            return [f"a number below {limit:g}"]
        case "string_pattern_mismatch", {"pattern": pattern}:
            return [FORMS[pattern]]
        case kind, _ if kind.removesuffix("_type") in _TYPES:
            return [KINDS[_TYPES[kind.removesuffix("_type")]]]
    wanted = str(error["msg"]).partition("Input should be ")[2]
    return [wanted] if wanted else []


def _path(content: object, location: Sequence[int | str]) -> Path:
    """The keys of a location that the file has; pydantic also names members of unions there."""
    found: list[int | str] = []
    for part in location:
        known = dict(enumerate(content)) if isinstance(content, list) else content
        if isinstance(known, Mapping) and part in known:
            content = known[part]
            found.append(part)
    return tuple(found)


def _line(place: str, path: Path, problem: str) -> str:
    """The path is written ``runs.flm.label``, and ``studies[0]`` in a list."""
    written = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
    return ": ".join(filter(None, (place, written, problem)))


def _keys(model: type[BaseModel], location: Sequence[int | str]) -> set[str]:
    """The keys that may be at a location: fields of models, through members of unions and values of mappings."""
    models = {model}
    for part in location:
        fields = [one.model_fields[str(part)].annotation for one in models if str(part) in one.model_fields]
        inside = {inner for field in fields for inner in _models(field)}
        models = inside or {one for one in models if part in _tags(one)} or models
    return {key for one in models for key in one.model_fields}


def _tags(model: type[BaseModel]) -> tuple[object, ...]:
    return get_args(model.model_fields["kind"].annotation) if "kind" in model.model_fields else ()


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)
