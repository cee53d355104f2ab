"""Reading YAML the way its authors mean it.

One loader for every file of the configuration: YAML 1.2's plain scalars (``1e-3`` is a number, ``no`` is a word,
``010`` is ten) and an error for a key that stands twice in one mapping.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from pathlib import Path

import yaml

from seedbed.pipeline.errors import SeedbedError

try:
    from yaml import CSafeLoader as _Base
except ImportError:  # PyYAML built without libyaml: the same results, slower
    from yaml import SafeLoader as _Base  # type: ignore[assignment]


class ConfigError(SeedbedError):
    """A file of the project says something that it cannot mean; the message names the place and the remedy."""


class _Loader(_Base):
    """YAML 1.2 core scalars, no duplicate keys."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 (PyYAML's own form)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise _wrong(f"expected a word as a key, found {key!r}", key_node)
            if key in seen:
                raise _wrong(f"the key {key!r} stands twice in one mapping", key_node)
            seen.add(key)
        return super().construct_mapping(node, deep)

    def construct_number(self, node: yaml.ScalarNode) -> int:
        text = str(self.construct_scalar(node))
        return int(text, {"0x": 16, "0o": 8}.get(text[:2], 10))


def _wrong(problem: str, node: yaml.Node) -> yaml.constructor.ConstructorError:
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


#: What PyYAML lets through where a text does not fit its explicit tag, as in ``!!bool maybe``, or is too long.
_MISFITS = (ValueError, KeyError, AttributeError, RecursionError)


def read(path: Path) -> dict[str, object]:
    """The mapping in a YAML file.

    Raises:
        ConfigError: no such file, no YAML, a duplicate key, or no mapping with words as keys.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    content = read_text(text, str(path))
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise ConfigError(f"{path}: expected a mapping of words to values, found {type(content).__name__}")
    return content


def read_text(text: str | bytes, place: str) -> object:
    """The value that a YAML text stands for.

    Raises:
        ConfigError: no YAML, or a duplicate key; the message begins with the place.
    """
    try:
        return yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        raise ConfigError(f"{place}: {error}") from error
    except _MISFITS as error:
        raise ConfigError(f"{place}: expected YAML: {type(error).__name__}: {error}") from error
