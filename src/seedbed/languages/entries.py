"""Values of a parsed file that know their file and path, so that every error names file, key and value.

A grammar is checked by this code and not by a schema library. Most of its rules relate one key to another (a
weight to a word, a choice to a class), and importing a language should cost nothing. This module knows the types
of YAML values, and nothing about grammars.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from seedbed.messages import KINDS, REQUIRED, nearest, unexpected, unknown_key


class GrammarError(ValueError):
    """A grammar file is wrong."""


@dataclass(frozen=True)
class Entry:
    """One value of a file.

    Attributes:
        file: The file's name, for errors.
        path: The keys that lead to the value, such as ``draws.noun.choices.pick[2]``.
        value: The value as parsed.
    """

    file: str
    path: str
    value: object

    def error(self, expected: str, hint: str = "") -> GrammarError:
        """An error, to be raised, that says what was expected here."""
        return self.problem(unexpected(self.value, expected, hint=hint))

    def problem(self, problem: str) -> GrammarError:
        """An error, to be raised, that says what is wrong here."""
        return GrammarError(": ".join(filter(None, (self.file, self.path, problem))))

    def at(self, suffix: str, value: object) -> Entry:
        """The entry of a value at this path plus a suffix; without a suffix, the entry of a key of this value."""
        return Entry(self.file, (self.path + suffix).removeprefix("."), value)

    def items(self) -> dict[str, Entry]:
        """The entries of a mapping with at least one key; every key is text."""
        found = self._mapping()
        if not found:
            raise self.error("a mapping with at least one key")
        return found

    def fields(self, required: Collection[str], optional: Collection[str] = ()) -> dict[str, Entry]:
        """The entries of a mapping that has all required keys, and perhaps optional ones."""
        found = self._mapping()
        known = [*required, *optional]
        for key in found:
            if key not in known:
                raise self.at(f".{key}", None).problem(unknown_key(key, known))
        for key in required:
            if key not in found:
                raise self.at(f".{key}", None).problem(REQUIRED)
        return found

    def _mapping(self) -> dict[str, Entry]:
        if not isinstance(self.value, Mapping):
            raise self.error(KINDS[dict])
        for key in self.value:
            if not isinstance(key, str) or not key.strip():
                raise self.at("", key).error("a key that is text (quote it)")
        return {key: self.at(f".{key}", value) for key, value in self.value.items()}

    def elements(self) -> list[Entry]:
        """The entries of a list with at least one element."""
        if not isinstance(self.value, list) or not self.value:
            raise self.error("a list with at least one element")
        return [self.at(f"[{place}]", element) for place, element in enumerate(self.value)]

    def text(self) -> str:
        """A text that is not blank."""
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.error(KINDS[str])
        return self.value

    def word(self) -> str:
        """A text without spaces, so that it can be a token."""
        if len(self.text().split()) != 1:
            raise self.error("one word")
        return self.text()

    def number(self) -> float:
        """A finite number above 0."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.error(KINDS[float])
        if not (self.value > 0 and math.isfinite(self.value)):
            raise self.error("a finite number above 0")
        return float(self.value)

    def one_of(self, names: Collection[str]) -> str:
        """One of some names."""
        if self.text() not in names:
            raise self.error("a known name", nearest(self.text(), names))
        return self.text()

    def distinct(self, names: Collection[str]) -> list[str]:
        """A list of some of the names, each at most once."""
        chosen: list[str] = []
        for element in self.elements():
            if element.one_of(names) in chosen:
                raise element.error("every name once")
            chosen.append(element.text())
        return chosen
