"""Projects whose demonstrations a test writes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from seedbed.configuration.configuration import Configuration
from seedbed.observations import Observation, condition_text
from seedbed.pipeline.plan import Plan

#: What every file begins with; `file` writes the rest.
HEAD = '''"""A demonstration."""

from __future__ import annotations

from dataclasses import dataclass

from seedbed.observations import Observation

NEEDS = {needs!r}


@dataclass(frozen=True)
class Options:
    """The options."""

    names: tuple[str, ...] = ()
    size: int = 1


def demonstrate({arguments}):
    """The observations."""
'''
STUDY: dict[str, Any] = {
    "title": "Title",
    "lead": "Lead",
    "data": {"text": {"language": "garden", "training": 10, "validation": 5, "test": 5}},
    "runs": {"exact": {"label": "E", "kind": "exact"}},
    "evaluations": {"perplexity": {}},
}
ENTRY = {"title": "Why?", "lead": "So."}


def source(*needs: str, body: str = "return []") -> str:
    """The file of a demonstration with these needs."""
    arguments = ", ".join(["options", *(["*"] if needs else []), *needs])
    return HEAD.format(needs=needs, arguments=arguments) + "".join(f"    {line}\n" for line in body.splitlines())


@dataclass(frozen=True)
class Project:
    """A folder with a package of its own."""

    root: Path

    def write(
        self, files: dict[str, str], entries: dict[str, Any], settings: dict[str, Any] | None = None
    ) -> None:
        """Files of demonstrations by name, and config/demonstrations.yaml."""
        for name, text in files.items():
            (self.root / f"src/seedbed/demonstrations/{name}.py").write_text(text)
        for folder in ("studies", "languages", "claims"):
            (self.root / "config" / folder).mkdir(parents=True, exist_ok=True)
        given = {"studies": ["tiny"], "seeds": 3} | (settings or {})
        (self.root / "config/config.yaml").write_text(yaml.safe_dump(given))
        (self.root / "config/studies/tiny.yaml").write_text(yaml.safe_dump(STUDY))
        (self.root / "config/languages/garden.yaml").write_text("words: {a: 1}\n")
        (self.root / "config/demonstrations.yaml").write_text(yaml.safe_dump(entries, sort_keys=False))

    def read(self, **overrides: object) -> Configuration:
        """The configuration."""
        return Configuration(overrides, self.root)

    def observe(
        self, name: str, seeds: tuple[int | None, ...] = (None,)
    ) -> dict[tuple[int | None, str], Observation]:
        """The observations of a demonstration by seed, metric and condition."""
        job = Plan(self.read()).demonstration(name)
        found = [(seed, one) for seed in seeds for one in job.observe(seed)]
        return {(seed, f"{one.metric} {condition_text(one.condition)}".strip()): one for seed, one in found}
