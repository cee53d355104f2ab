"""The root of all errors that the user of the command line can mend: shown as a message, without a traceback."""

from __future__ import annotations

import errno

#: What its user can do where the system refuses a file, by the number of the error.
_REMEDIES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "make room for it"),
    **dict.fromkeys(
        (errno.EACCES, errno.EPERM, errno.EROFS), "let this user read and write there, or work in a copy elsewhere"
    ),
    **dict.fromkeys((errno.EEXIST, errno.ENOTDIR, errno.EISDIR), "move away what stands there"),
}


class SeedbedError(Exception):
    """Something outside the code is wrong; the message names the place and the remedy."""


def refused(error: OSError) -> str | None:
    """The message where the system refuses a file that is right, with the remedy; None for any other error."""
    remedy = _REMEDIES.get(error.errno or 0)
    if remedy is None:
        return None
    cause = f"{error.strerror}; {remedy} and run the same command: it goes on where it stopped"
    return f"{error.filename}: {cause}" if error.filename else cause
