"""The sentences of error messages: what was expected, what was found, and which name was meant.

Everything that checks a file or an option uses them, so that the same mistake is described in the same words. This
module knows no file and no name itself.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from difflib import get_close_matches

#: Of longer lists of known names only these many are shown: nobody reads a whole vocabulary.
_LISTED = 20
#: Whole mappings are shortened in error messages, words and templates are not.
_SHORT = reprlib.Repr()
_SHORT.maxstring = 100
_SHORT.maxlevel = 1

REQUIRED = "this key is required"
#: What the author of a file calls a value of each type.
KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "a mapping",
}
#: The patterns of names, in words.
FORMS = {
    "^[a-z][a-z0-9-]*$": "lower-case letters, digits and hyphens, a letter first",
    "^[a-z][a-z0-9_]*$": "lower-case letters, digits and underscores, a letter first",
    r"^[a-z][a-z0-9_]*(\([^=;]+=[^=;]+(;[^=;]+=[^=;]+)*\))?$": "METRIC or METRIC(KEY=VALUE;KEY=VALUE)",
    "^[a-z]+:[a-z0-9_.-]+$": "LECTURE:NAME in lower-case letters, digits, underscores, hyphens and dots",
}


def nearest(name: object, names: Iterable[object]) -> str:
    """The end of an error message: the known names near to this one, or else what is known."""
    known = sorted(map(str, names))
    lower = {each.lower(): each for each in known}
    close = [lower[each] for each in get_close_matches(str(name).lower(), lower, n=3)]
    return f"did you mean {' or '.join(close)}?" if close else f"known: {_listed(known)}"


def unknown_key(key: object, known: Iterable[object]) -> str:
    """That a mapping has no such key, and which one was perhaps meant."""
    return f"unknown key; {nearest(key, known)}"


def unexpected(found: object, *expected: str, hint: str = "") -> str:
    """That a value is none of what was expected; numbers that should be text are to be quoted."""
    each = list(dict.fromkeys(expected))
    either = " or ".join(filter(None, (", ".join(each[:-1]), each[-1])))
    if each == [KINDS[str]] and isinstance(found, bool | int | float):
        hint = "quote it"
    return f"expected {either}, found {quote(found)}" + (f"; {hint}" if hint else "")


def require_at_least(least: float, **options: float) -> None:
    """Refuse an option below a number.

    Raises:
        ValueError: the first such option, by its name.
    """
    for name, value in options.items():
        if value < least:
            raise ValueError(f"{name} {value:g}: expected at least {least:g}")


def require_positive(**options: int) -> None:
    """Refuse an option below 1.

    Raises:
        ValueError: the first such option, by its name.
    """
    require_at_least(1, **options)


def quote(value: object) -> str:
    """A value as the author of a file would know it again: ``true``, ``'word'``, ``3``, or ``nothing``."""
    if value is None:
        return "nothing"
    if isinstance(value, tuple):  # what a file writes as a list
        value = list(value)
    return str(value).lower() if isinstance(value, bool) else _SHORT.repr(value)


def _listed(known: list[str]) -> str:
    more = [f"and {len(known) - _LISTED} more"] if len(known) > _LISTED else []
    return ", ".join([*known[:_LISTED], *more]) or "none"
