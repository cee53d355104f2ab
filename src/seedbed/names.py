"""What to say after an unknown name. It knows no file and no name itself."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

#: So many known names are listed; a vocabulary has more than anyone reads.
_LISTED = 20


def nearest(name: object, names: Iterable[object]) -> str:
    """The end of an error message: the known names near to this one, or else what is known."""
    known = sorted(map(str, names))
    close = get_close_matches(str(name), known, n=3)
    return f"did you mean {' or '.join(close)}?" if close else f"known: {_listed(known)}"


def _listed(known: list[str]) -> str:
    more = [f"and {len(known) - _LISTED} more"] if len(known) > _LISTED else []
    return ", ".join([*known[:_LISTED], *more]) or "none"
