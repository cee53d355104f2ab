"""The root of all errors that the user of the command line can mend: shown as a message, without a traceback."""

from __future__ import annotations


class SeedbedError(Exception):
    """Something outside the code is wrong; the message names the place and the remedy."""
