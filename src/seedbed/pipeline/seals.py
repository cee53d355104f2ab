"""Seals: a file of results holds the hash of its own bytes, so that no damage passes, not even of equal length.

The seal is text that any format can hold: in a table's or weights' metadata, or in a comment at the end of a page.
"""

from __future__ import annotations

import hashlib
import re

_MARK = "contents-sha256:"
#: What a writer puts into a file, once, for `seal` to fill in.
BLANK = _MARK + 64 * "0"
_SEAL = re.compile(_MARK.encode() + rb"([0-9a-f]{64})")


def seal(content: bytes) -> bytes:
    """The content with the hash of all its bytes in place of its one `BLANK`."""
    if len(found := list(_SEAL.finditer(content))) != 1:
        raise ValueError(f"expected one {_MARK}, found {len(found)}")
    return _with(content, found[0], _hash(content, found[0]))


def is_sealed(content: bytes) -> bool:
    """Whether the content has a seal, right or wrong."""
    return _SEAL.search(content) is not None


def is_intact(content: bytes) -> bool:
    """Whether the content has one seal, and every byte is the one that was sealed."""
    found = list(_SEAL.finditer(content))
    return len(found) == 1 and _hash(content, found[0]) == found[0][1]


def _hash(content: bytes, found: re.Match[bytes]) -> bytes:
    return hashlib.sha256(_with(content, found, 64 * b"0")).hexdigest().encode()


def _with(content: bytes, found: re.Match[bytes], digits: bytes) -> bytes:
    return content[: found.start(1)] + digits + content[found.end(1) :]
