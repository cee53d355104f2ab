"""What documents are drawn from: a language, by its grammar, or a task, by its options."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from seedbed.configuration import plugins
from seedbed.pipeline.fingerprint import digest
from seedbed.pipeline.noise import noise

if TYPE_CHECKING:
    from seedbed.languages.automaton import Language
    from seedbed.tasks.task import Task


@dataclass(frozen=True, eq=False)
class LanguageSource:
    """A language as its file describes it."""

    name: str
    grammar: Mapping[str, object]

    @cached_property
    def values(self) -> dict[str, object]:
        """What a fingerprint holds of it.

        The grammar is hashed as text: the rank of a word is its place in the lexicon, so the order of keys counts.
        """
        return {"grammar": digest(json.dumps(self.grammar))}

    @property
    def module(self) -> str:
        """The module that makes it."""
        return "seedbed.languages.compilation"

    @cached_property
    def loaded(self) -> Language:
        """The language.

        Raises:
            ValueError: its grammar is invalid; the message names file and key.
        """
        from seedbed.languages.compilation import read_language

        return read_language(self.grammar, f"config/languages/{self.name}.yaml")


@dataclass(frozen=True, eq=False)
class TaskSource:
    """A task with its options."""

    name: str
    options: Mapping[str, object]

    @property
    def values(self) -> dict[str, object]:
        """What a fingerprint holds of it."""
        return {"task": self.name, "options": self.options}

    @property
    def module(self) -> str:
        """The module that makes it."""
        return f"seedbed.tasks.{self.name}"

    @cached_property
    def loaded(self) -> Task:
        """The task.

        Raises:
            ValueError: it refuses its options.
        """
        module = plugins.load("tasks", self.name)
        with noise(None, "building", [self.module]):
            task: Task = module.Task(module.Options(**self.options))
        return task


Source = LanguageSource | TaskSource
