"""What a reference needs of the data that it is asked about."""

from __future__ import annotations

from seedbed.languages.automaton import Language
from seedbed.tasks.task import Task


def require_language(kind: str, source: Language | Task) -> None:
    """Refuse a task: its sequences begin with no ``<bos>``, and its distribution is no automaton.

    Raises:
        ValueError: it is one.
    """
    if not isinstance(source, Language):
        raise ValueError(
            f"kind: {kind} needs the data of a language, not of a task: remove the run, or write kind: guess"
        )
