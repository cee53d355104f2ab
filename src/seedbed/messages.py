"""How error messages speak of names and values. It knows no file and no name itself."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from difflib import get_close_matches

#: So many known names are listed; a vocabulary has more than anyone reads.
_LISTED = 20
#: Whole mappings are cut in error messages, words and templates are not.
_SHORT = reprlib.Repr()
_SHORT.maxstring = 100
_SHORT.maxlevel = 1


def nearest(name: object, names: Iterable[object]) -> str:
    """The end of an error message: the known names near to this one, or else what is known."""
    known = sorted(map(str, names))
    lower = {each.lower(): each for each in known}
    close = [lower[each] for each in get_close_matches(str(name).lower(), lower, n=3)]
    return f"did you mean {' or '.join(close)}?" if close else f"known: {_listed(known)}"


def shown(value: object) -> str:
    """A value as the author of a file would know it again: ``true``, ``'word'``, ``3``, or ``nothing``."""
    if value is None:
        return "nothing"
    return str(value).lower() if isinstance(value, bool) else _SHORT.repr(value)


def _listed(known: list[str]) -> str:
    more = [f"and {len(known) - _LISTED} more"] if len(known) > _LISTED else []
    return ", ".join([*known[:_LISTED], *more]) or "none"
