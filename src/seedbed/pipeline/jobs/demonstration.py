"""One demonstration: a measurement that needs no training and no run, on all its streams."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from seedbed.configuration import plugins
from seedbed.configuration.demonstrations import PLACE, needs, parts
from seedbed.configuration.demonstrations import Demonstration as Entry
from seedbed.configuration.schema import Values
from seedbed.observations import DEMONSTRATIONS, Observation, Row, rows
from seedbed.pipeline import storage
from seedbed.pipeline.fingerprint import digest, fingerprint
from seedbed.pipeline.jobs.source import Source
from seedbed.pipeline.jobs.training import network, objective
from seedbed.pipeline.noise import noise
from seedbed.pipeline.table import kept_rows, seed_path, write_rows
from seedbed.randomness import stream

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True, eq=False)
class Demonstration:
    """Job: one demonstration.

    Attributes:
        name: Its name in config/demonstrations.yaml.
        entry: What that file says of it.
        source: The language or task that it is about, if it names one.
        seeds: The seeds of its streams; only None if it draws nothing.
    """

    OUTPUTS = (f"results/observations/{DEMONSTRATIONS}/{{topic}}.parquet",)

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
        return f"{PLACE}: {self.name}"

    @property
    def modules(self) -> list[str]:
        """The modules that it computes with."""
        found = []
        for _, folder, kind, options in parts(self.name, self.entry):
            found += [f"seedbed.{folder}.{kind}", *plugins.parts(folder, kind, options)]
        found += [self.source.module] if self.source else []
        found += ["seedbed.models.initialisation"] if self.entry.models else []
        return list(dict.fromkeys(["seedbed.randomness", *found]))

    @cached_property
    def _values(self) -> dict[str, object]:
        """What its observations depend on: all of its entry except texts and the number of seeds."""
        own = self.entry.model_dump(mode="json", exclude={"title", "lead", "seeds", "rebuilt"})
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
        """Demonstrate with every stream that is not there yet; write all observations."""
        found: list[Row] = []
        for seed in self.seeds:
            path, own = seed_path(self.outputs[0], seed), self.rows[seed]["fingerprint"]
            found += kept_rows(path, own, partial(self._demonstrate, seed))
        write_rows(self.outputs[0], found, self.fingerprint)

    def _demonstrate(self, seed: int | None) -> list[Row]:
        place: Row = {"study": DEMONSTRATIONS, "run": self.name, "seed": seed}
        with noise(seed, f"noise of {self.entry.kind}", self.modules):
            observed = self.observe(seed)
            if seed is not None:  # every stream draws its own items
                observed = (replace(one, item_groups=()) for one in observed)
            return rows(observed, **place, **self.rows[seed])

    def observe(self, seed: int | None) -> Iterable[Observation]:
        """Its observations with one stream, independent of what was demonstrated before."""
        module = plugins.load(DEMONSTRATIONS, self.entry.kind)
        arguments = {need: self._argument(need, seed) for need in needs(self.entry.kind)}
        found: Iterable[Observation] = module.demonstrate(module.Options(**self.entry.options), **arguments)
        return found

    def _argument(self, need: str, seed: int | None) -> object:
        """The argument for one of its needs, made anew for each stream."""
        if need == "timer":
            from seedbed.timer import Timer  # other jobs load nothing that their fingerprint does not cover

            return Timer()
        if need == "rng":
            return stream(self._drawn_by(seed), f"demonstration {self.name}")
        assert self.source, f"{self.place}: the configuration sees to it that {need} has a source"
        if need == "networks":
            return {
                name: self._network(values, self._drawn_by(seed)) for name, values in self.entry.models.items()
            }
        if need == "objectives":
            vocabulary = self.source.loaded.vocabulary
            return {name: objective(values, vocabulary) for name, values in self.entry.objectives.items()}
        return self.source.loaded

    def _network(self, values: Values, seed: int) -> nn.Module:
        """An untrained network with the initial weights of a training of that seed."""
        from seedbed.models.initialisation import fill
        from seedbed.randomness import torch_stream

        assert self.source, self.place
        made = network(values, self.source)
        fill(made, torch_stream(seed, "initialisation"))
        return made

    def _drawn_by(self, seed: int | None) -> int:
        assert seed is not None, f"{self.place}: the configuration repeats what draws over seeds"
        return seed


@dataclass(frozen=True, eq=False)
class TimedDemonstration(Demonstration):
    """Job: a demonstration that takes times. Nothing runs beside it, and its rows go to the table of timings."""

    OUTPUTS = ("results/timings/{topic}.parquet",)
