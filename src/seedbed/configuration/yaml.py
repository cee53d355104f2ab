"""Reading YAML the way its authors mean it.

One loader for every file of the configuration: YAML 1.2's plain scalars (``1e-3`` is a number, ``no`` is a word,
``010`` is ten) and an error for a key that stands twice in one mapping.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from pathlib import Path

import yaml

from seedbed.errors import SeedbedError
from seedbed.messages import shown

try:
    from yaml import CSafeLoader as _Base
except ImportError:  # PyYAML built without libyaml: the same results, slower
    from yaml import SafeLoader as _Base  # type: ignore[assignment]

#: No number of the project needs more; numpy's integers have no more.
_DIGITS = 18


class ConfigError(SeedbedError):
    """A file of the project says something that it cannot mean; the message names the place and the remedy."""


class _Loader(_Base):
    """YAML 1.2 core scalars, no duplicate keys."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 (PyYAML's own form)

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.deep_construct = True  # so that an alias inside of what it stands for is an error, not a circle

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise _wrong(f"expected a word as a key, found {shown(key)}", key_node)
            if key in seen:
                raise _wrong(f"the key {shown(key)} stands twice in one mapping", key_node)
            if key == "<<":
                raise _wrong("YAML 1.2 merges no mappings with <<; write the keys out", key_node)
            seen.add(key)
        return super().construct_mapping(node, deep)

    def construct_number(self, node: yaml.ScalarNode) -> int:
        text = str(self.construct_scalar(node))
        if len(text) > _DIGITS:
            raise _wrong(f"expected a whole number of at most {_DIGITS} digits", node)
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


#: What PyYAML lets through where a text does not fit its explicit tag, as in ``!!bool maybe``, or is too deep.
_MISFITS = (ValueError, KeyError, AttributeError, RecursionError)
#: libyaml's words, and those of whoever writes a file.
_WORDS = {
    "flow sequence": "list in brackets",
    "flow mapping": "mapping in braces",
    "flow node": "value",
    "node content": "value",
    "block mapping": "mapping",
    "block collection": "list of lines with -",
    "block sequence": "list of lines with -",
    "plain scalar": "value",
    "quoted scalar": "text in quotes",
    "mapping values are not allowed in this context": "a colon here begins no value; quote a text that holds one",
    "could not determine a constructor for the tag": "unknown tag",
    "a single document in the stream": "one document",
    "unexpected end of stream": "the end of the file",
    "found unconstructable recursive node": "an alias stands inside of what it stands for",
}


def read(path: Path, place: str = "") -> dict[str, object]:
    """The mapping in a YAML file, which messages call ``place``, or else by its path.

    Raises:
        ConfigError: no such file, no UTF-8, no YAML, a duplicate key, or no mapping with words as keys.
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
        found = "a list" if isinstance(content, list) else shown(content)
        raise ConfigError(f"{place}: expected a mapping of words to values, found {found}")
    for key in content:
        if not isinstance(key, str):
            raise ConfigError(f"{place}: expected a word as a key, found {shown(key)}")
    return content


def read_text(text: str, place: str) -> object:
    """The value that a YAML text stands for.

    Raises:
        ConfigError: no YAML, or a duplicate key; the message begins with the place.
    """
    try:
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        raise ConfigError(f"{place}{_position(error)}: {_problem(error, text)}") from error
    except yaml.reader.ReaderError as error:
        line = text.encode().count(b"\n", 0, error.position) + 1
        raise ConfigError(f"{place}, line {line}: a character that YAML does not allow") from error
    except _MISFITS as error:
        raise ConfigError(
            f"{place}: a value does not fit its tag (!!...), or lists are too deep: {error}"
        ) from error


def _position(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""


def _problem(error: yaml.MarkedYAMLError, text: str) -> str:
    """What is wrong in plain words; for what was begun before and not ended, also where."""
    if error.problem and "cannot start any token" in error.problem and error.problem_mark:
        return _no_start(text.splitlines()[error.problem_mark.line][error.problem_mark.column :])
    sentence = error.problem or "no YAML"
    if error.context and error.context_mark:
        sentence = f"{error.context}, begun in line {error.context_mark.line + 1}: {sentence}"
    for theirs, ours in _WORDS.items():
        sentence = sentence.replace(theirs, ours)
    return sentence


def _no_start(rest: str) -> str:
    if rest.startswith("\t"):
        return "a tab; YAML indents with spaces"
    return f"no value begins with {rest[:1]}; quote it, if it is text"
