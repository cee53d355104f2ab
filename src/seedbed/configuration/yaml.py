"""Reading YAML the way its authors mean it.

One loader for every file of the configuration: YAML 1.2's plain scalars (``1e-3`` is a number, ``no`` is a word,
``010`` is ten) and an error for a key that occurs twice in one mapping.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from pathlib import Path

import yaml

from seedbed.errors import SeedbedError
from seedbed.messages import quote, unexpected

try:
    from yaml import CSafeLoader as _Base
except ImportError:  # PyYAML built without libyaml: the same results, slower
    from yaml import SafeLoader as _Base  # type: ignore[assignment]


class ConfigError(SeedbedError):
    """A file of the project is wrong; the message names the place and what to do."""


class _Loader(_Base):
    """YAML 1.2 core scalars, no duplicate keys."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 (PyYAML's own form)

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.deep_construct = True  # an alias inside its own anchor is then an error, not a circle

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise _problem_at(key_node, unexpected(key, "a word as a key"))
            if key in seen:
                raise _problem_at(key_node, f"the key {quote(key)} occurs twice in one mapping")
            if key == "<<":
                raise _problem_at(key_node, "YAML 1.2 merges no mappings with <<; write the keys out")
            seen.add(key)
        return super().construct_mapping(node, deep)

    def construct_number(self, node: yaml.ScalarNode) -> int:
        text = str(self.construct_scalar(node))
        return int(text, {"0x": 16, "0o": 8}.get(text[:2], 10))


def _problem_at(node: yaml.Node, problem: str) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


_SCALARS = (
    ("bool", "true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", "[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("float", r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", "-+."),
    ("null", "~|null|Null|NULL|", ["~", "n", "N", ""]),
)
for _tag, _pattern, _first in _SCALARS:
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), list(_first))
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_number)


#: What PyYAML raises if a text does not fit its explicit tag, as in ``!!bool maybe``, or is nested too deeply.
_UNREADABLE = (ValueError, KeyError, AttributeError, RecursionError)


def read(path: Path, place: str = "") -> dict[str, object]:
    """The mapping in a YAML file; messages call the file ``place`` or, without it, by its path.

    Raises:
        ConfigError: no such file, invalid UTF-8 or YAML, a duplicate key, or no mapping with words as keys.
    """
    place = place or str(path)
    try:
        content = read_text(path.read_bytes().decode("utf-8-sig"), place)
    except OSError as error:
        raise ConfigError(f"{place}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{place}, line {line}: expected text in UTF-8; save the file with that encoding"
        ) from error
    if not isinstance(content, dict):
        raise ConfigError(f"{place}: {unexpected(content, 'a mapping of words to values')}")
    for key in content:
        if not isinstance(key, str):
            raise ConfigError(f"{place}: {unexpected(key, 'a word as a key')}")
    return content


def read_text(text: str, place: str) -> object:
    """The value of a YAML text.

    Raises:
        ConfigError: invalid YAML, or a duplicate key; the message begins with the place.
    """
    try:
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        begun = f" in line {error.context_mark.line + 1}" if error.context_mark else ""
        problem = f"{error.context}{begun}, {error.problem}" if error.context else error.problem
        raise ConfigError(f"{place}{position}: {problem}") from error
    except yaml.reader.ReaderError as error:
        line = text.encode().count(b"\n", 0, error.position) + 1
        raise ConfigError(f"{place}, line {line}: a character that YAML does not allow") from error
    except _UNREADABLE as error:
        raise ConfigError(f"{place}: a value that cannot be read: {error}") from error
