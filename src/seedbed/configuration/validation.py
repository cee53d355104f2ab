"""What to say of a file that its schema refuses: the key, what was expected, and the nearest right name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from seedbed.configuration.yaml import ConfigError
from seedbed.messages import nearest, shown

_Model = TypeVar("_Model", bound=BaseModel)
_Result = TypeVar("_Result")
Path = tuple[int | str, ...]

#: What pydantic's errors of type and range mean, with the values of their context.
_EXPECTED = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "greater_than": "a number above {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than": "a number below {lt:g}",
    "too_short": "more entries, at least {min_length}",
    "string_too_short": "text that is not empty",
}
#: The patterns of names, in words.
FORMS = {
    "^[a-z][a-z0-9-]*$": "lower-case letters, digits and hyphens, a letter first",
    "^[a-z][a-z0-9_]*$": "lower-case letters, digits and underscores, a letter first",
    r"^[a-z][a-z0-9_]*(\([^=;]+=[^=;]+(;[^=;]+=[^=;]+)*\))?$": "METRIC or METRIC(KEY=VALUE;KEY=VALUE)",
    "^[a-z]+:[a-z0-9_.-]+$": "LECTURE:NAME in lower-case letters, digits, underscores, hyphens and dots",
}


def validated(model: type[_Model], content: Mapping[str, object], place: str) -> _Model:
    """The content as its model; a key without a value is an error at every level.

    Raises:
        ConfigError: one line for everything that is wrong, each with its place.
    """
    problems = dict.fromkeys(_empty(content), "expected a value, found nothing")
    try:
        found = model.model_validate(content)
    except ValidationError as error:
        problems |= _problems(model, content, error)
    if problems:
        raise ConfigError("\n".join(_line(place, path, said) for path, said in problems.items()))
    return found


def together(steps: Iterable[Callable[[], _Result]]) -> list[_Result]:
    """The results of all steps.

    Raises:
        ConfigError: what any of them raises, all at once.
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


def _empty(content: object, path: Path = ()) -> Iterator[Path]:
    """Where a value is missing behind its key."""
    match content:
        case None:
            yield path
        case dict():
            for key, value in content.items():
                yield from _empty(value, (*path, key))
        case list():
            for index, value in enumerate(content):
                yield from _empty(value, (*path, index))


def _problems(model: type[BaseModel], content: object, error: ValidationError) -> dict[Path, str]:
    """What is wrong, by path; what the members of a union expect becomes one sentence."""
    said: dict[Path, str] = {}
    expected: dict[Path, list[str]] = {}
    found: dict[Path, object] = {}
    for one in error.errors():
        location = one["loc"]
        path, texts = _path(content, location), _expectations(one)
        if location[-1:] == ("[key]",):
            said[path] = _of_a_key(one, texts)
        elif texts:
            expected.setdefault(path, []).extend(texts)
            found[path] = one["input"]
        else:
            path, said_here = _explained(model, path, one)
            said[path] = said_here
    for path, texts in expected.items():
        # A member of a union that fits but for something further in says more than the members that do not.
        if not any(other[: len(path)] == path for other in (said | expected).keys() - {path}) and path not in said:
            said[path] = _unexpected(texts, found[path])
    return said


def _expectations(error: Mapping[str, Any]) -> list[str]:
    """What was expected, of an error of type, range or form; nothing of others."""
    kind, context = error["type"], error.get("ctx", {})
    match kind:
        case "literal_error":
            return _quoted(context["expected"])
        case "string_pattern_mismatch":
            return [FORMS.get(context["pattern"], f"text of the form {context['pattern']}")]
    return [_EXPECTED[kind].format(**context)] if kind in _EXPECTED else []


def _of_a_key(error: Mapping[str, Any], expected: list[str]) -> str:
    """What is wrong with a key of a mapping whose keys are names."""
    match error["type"]:
        case "literal_error":
            return f"unknown key; {nearest(error['input'], expected)}"
        case "string_type":
            expected = ["a word as a key"]
    return _unexpected(expected, error["input"])


def _unexpected(expected: Iterable[str], found: object) -> str:
    each = list(dict.fromkeys(expected))
    if "a whole number" in each and {"a number", "a finite number"} & set(each):
        each.remove("a whole number")
    either = " or ".join([", ".join(each[:-1]), each[-1]] if len(each) > 1 else each)
    remedy = "; quote it" if each == ["text"] and isinstance(found, bool | int | float) else ""
    return f"expected {either}, found {shown(found)}{remedy}"


def _explained(model: type[BaseModel], path: Path, error: Mapping[str, Any]) -> tuple[Path, str]:
    """The path and what is wrong there, of an error of a key or a relation between values."""
    location, kind = error["loc"], error["type"]
    match kind:
        case "extra_forbidden":
            return path, f"unknown key; {nearest(location[-1], _keys(model, location[:-1]))}"
        case "missing":
            return (*path, location[-1]), "this key is required"
        case "union_tag_not_found" if isinstance(error["input"], Mapping):
            return (*path, "kind"), "this key is required"
        case "union_tag_not_found":
            return path, f"expected a mapping, found {shown(error['input'])}"
        case "union_tag_invalid":
            tag = error["ctx"]["tag"]
            return (*path, "kind"), f"{tag}: {nearest(tag, _quoted(error['ctx']['expected_tags']))}"
    return path, error["msg"].removeprefix("Value error, ")


def _quoted(text: str) -> list[str]:
    return re.findall("'([^']*)'", text)


def _path(content: object, location: Sequence[int | str]) -> Path:
    """The keys of a location that stand in the file: it also names members of unions, which mean nothing there."""
    found: list[int | str] = []
    for part in location:
        known = dict(enumerate(content)) if isinstance(content, list) else content
        if isinstance(known, Mapping) and part in known:
            content = known[part]
            found.append(part)
    return tuple(found)


def _line(place: str, path: Path, said: str) -> str:
    """The path is written ``runs.flm.label``, and ``studies[0]`` in a list."""
    written = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
    return ": ".join(filter(None, (place, written, said)))


def _keys(model: type[BaseModel], location: Sequence[int | str]) -> set[str]:
    """The keys that may stand at a location, following fields, members of unions and values of mappings."""
    models = {model}
    for part in location:
        inner = {one for each in models for one in _models(_annotation(each, part))}
        tagged = {one for one in models if part in _tags(one)}
        models = inner or tagged or models
    return {key for one in models for key in one.model_fields}


def _annotation(model: type[BaseModel], key: int | str) -> object:
    field = model.model_fields.get(str(key))
    return field.annotation if field else None


def _tags(model: type[BaseModel]) -> tuple[object, ...]:
    return get_args(_annotation(model, "kind"))


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)
