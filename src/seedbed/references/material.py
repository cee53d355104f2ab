"""What a reference run requires of its data."""

from __future__ import annotations

from seedbed.languages.automaton import Language
from seedbed.tasks.task import Task


def require_language(kind: str, source: Language | Task) -> None:
    """Check that data come from a language. The sequences of a task have no ``<bos>``, and no automaton.

    Raises:
        ValueError: the source is a task.
    """
    if not isinstance(source, Language):
        raise ValueError(
            f"kind: {kind} needs the data of a language, not of a task: remove the run, or write kind: guess"
        )
