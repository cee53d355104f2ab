"""One demonstration: a measurement that needs no training and no run, on all its streams."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from seedbed.configuration.demonstrations import DEMONSTRATIONS
from seedbed.configuration.demonstrations import Demonstration as Entry
from seedbed.observations import Observation, rows
from seedbed.pipeline import storage
from seedbed.pipeline.fingerprint import digest, fingerprint
from seedbed.pipeline.jobs.source import Source
from seedbed.pipeline.table import Row, write_rows


@dataclass(frozen=True, eq=False)
class Demonstration:
    """Job: one demonstration.

    Attributes:
        name: Its name in config/demonstrations.yaml.
        entry: What that file says of it.
        source: The language or task that it is about, if it names one.
        seeds: Its streams; the one None where it draws nothing.
    """

    OUTPUTS = ("results/observations/demonstrations/{topic}.parquet",)

    name: str
    entry: Entry
    source: Source | None
    seeds: tuple[int | None, ...]

    @property
    def outputs(self) -> tuple[Path, ...]:
        """One table of observations."""
        return (Path(self.OUTPUTS[0].format(topic=self.name)),)

    @property
    def inputs(self) -> tuple[()]:
        """It reads no result."""
        return ()

    @property
    def place(self) -> str:
        """Where the configuration asks for it."""
        return f"config/demonstrations.yaml: demonstrations.{self.name}"

    @property
    def modules(self) -> list[str]:
        """The modules that it computes with."""
        parts = [("models", one) for one in self.entry.models.values()]
        parts += [("objectives", one) for one in self.entry.objectives.values()]
        plugins_used = [f"seedbed.{folder}.{values['kind']}" for folder, values in parts]
        filled = ["seedbed.models.initialisation"] if self.entry.models else []
        source = [self.source.module] if self.source else []
        return [f"seedbed.demonstrations.{self.entry.kind}", *plugins_used, *filled, *source]

    @cached_property
    def _values(self) -> dict[str, object]:
        """What its observations depend on: everything but its words and how many streams it has."""
        own = self.entry.model_dump(mode="json", exclude={"title", "lead", "seeds"})
        return {"demonstration": own, "source": self.source and self.source.values}

    @cached_property
    def rows(self) -> dict[int | None, dict[str, str]]:
        """``recipe`` and ``fingerprint`` of the observations, by seed."""
        job = {"job": "demonstrate", "format": storage.FORMAT}
        own = fingerprint(job | self._values, self.modules)
        return {
            seed: {"recipe": digest(self._values | {"seed": seed}), "fingerprint": digest([own, seed])}
            for seed in self.seeds
        }

    @cached_property
    def fingerprint(self) -> str:
        """The hash of its rows' fingerprints."""
        return digest(sorted(one["fingerprint"] for one in self.rows.values()))

    def compute(self) -> None:
        """Demonstrate with every stream; write all observations."""
        found: list[Row] = []
        for seed in self.seeds:
            place: Row = {"study": DEMONSTRATIONS, "run": self.name, "seed": seed}
            found += rows(self._observations(seed), **place, **self.rows[seed])
        write_rows(self.outputs[0], found, self.fingerprint)

    def _observations(self, seed: int | None) -> Iterable[Observation]:
        raise NotImplementedError
