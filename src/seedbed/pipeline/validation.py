"""What to say of a file that its schema refuses: the key, what was expected, and the nearest right name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from seedbed.names import nearest
from seedbed.pipeline.yaml import ConfigError

_Model = TypeVar("_Model", bound=BaseModel)


def validated(model: type[_Model], content: Mapping[str, object], place: str) -> _Model:
    """The content as its model.

    Raises:
        ConfigError: one line for everything that is wrong, each with its place.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        lines = (f"{place}: {_explained(model, content, dict(one))}" for one in error.errors())
        raise ConfigError("\n".join(dict.fromkeys(lines))) from None


def _explained(model: type[BaseModel], content: object, error: dict[str, Any]) -> str:
    location, kind = error["loc"], error["type"]
    where = _path(content, location)
    match kind:
        case "extra_forbidden":
            return f"{where}: unknown key; {nearest(location[-1], _keys(model, location[:-1]))}"
        case "missing":
            return f"{_joined(where, location[-1])}: this key is required"
        case "union_tag_not_found":
            return f"{_joined(where, 'kind')}: this key is required"
        case "union_tag_invalid":
            known = error["ctx"]["expected_tags"].replace("'", "").split(", ")
            return f"{_joined(where, 'kind')}: {error['ctx']['tag']}: {nearest(error['ctx']['tag'], known)}"
        case "value_error":
            return f"{where}: {error['msg'].removeprefix('Value error, ')}"
    return f"{where}: {error['msg'].removeprefix('Input ')}, found {error['input']!r}"


def _path(content: object, location: Sequence[int | str]) -> str:
    """The keys of a location that stand in the file: it also names members of unions, which mean nothing there."""
    found = []
    for part in location:
        known = dict(enumerate(content)) if isinstance(content, list) else content
        if isinstance(known, Mapping) and part in known:
            content = known[part]
            found.append(str(part))
    return ".".join(found)


def _joined(where: str, key: object) -> str:
    return f"{where}.{key}" if where else str(key)


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
