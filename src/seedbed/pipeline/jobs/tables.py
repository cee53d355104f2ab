"""The tables that a build ends with: observations, verdicts, timings and the comparison with the reference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seedbed.configuration.claim_files import place_of
from seedbed.configuration.yaml import ConfigError
from seedbed.observations import Row
from seedbed.pipeline import reference_files, storage
from seedbed.pipeline.fingerprint import REPORTING, digest, fingerprint
from seedbed.pipeline.jobs.demonstration import Demonstration, TimedDemonstration
from seedbed.pipeline.jobs.job import Job
from seedbed.pipeline.jobs.measurement import Measurement
from seedbed.pipeline.jobs.training import Training
from seedbed.pipeline.machine import DECIDING
from seedbed.pipeline.table import gather, write_rows
from seedbed.statistics.claims import Claim
from seedbed.statistics.observed import ObservationKey

if TYPE_CHECKING:
    import pyarrow as pa

    from seedbed.statistics.comparison import ComparedItem


@dataclass(frozen=True, eq=False)
class Observations:
    """Job: gather every measurement and demonstration into the one table.

    Attributes:
        parts: Whose observations are gathered.
    """

    OUTPUTS = ("results/observations.parquet",)

    parts: tuple[Measurement | Demonstration, ...]
    outputs: tuple[Path, ...] = field(default=(Path(OUTPUTS[0]),), init=False)
    place: str = field(default="the table of observations", init=False)
    modules: tuple[str, ...] = field(default=(), init=False)

    @property
    def inputs(self) -> tuple[Job, ...]:
        """Every measurement and demonstration."""
        return self.parts

    @cached_property
    def fingerprint(self) -> str:
        """The hash of the parts' fingerprints."""
        job = {"job": "observations", "format": storage.FORMAT}
        return fingerprint(job, ["seedbed.observations"], [], _named(self.parts))

    def compute(self) -> None:
        """Gather the rows; refuses a file that is not of this build."""
        table = gather({one.place: rows_of([one]) for one in self.parts})
        storage.write_table(self.outputs[0], table, self.fingerprint)

    def read(self) -> pa.Table:
        """The stored table."""
        return storage.read_table(self.outputs[0], self.fingerprint)


def _named(parts: Iterable[Job]) -> list[str]:
    """The fingerprints of jobs, each with its first output: the rows hold the name of the run too."""
    return sorted(f"{one.outputs[0].as_posix()} {one.fingerprint}" for one in parts)


def rows_of(parts: Iterable[Measurement | Demonstration]) -> list[Row]:
    """The stored observations of some measurements and demonstrations."""
    tables = (storage.read_table(one.outputs[0], one.fingerprint) for one in parts)
    return [row for one in tables for row in one.to_pylist()]


@dataclass(frozen=True, eq=False)
class StudyVerdicts:
    """Job: judge the claims that rest on one study alone, as soon as that study is measured.

    Attributes:
        study: The study, or ``demonstrations``, or ``timings``.
        parts: Its measurements, or the demonstrations that take no times, or those that do.
        claims: The claims by id, with all that they repeat.
        settings: What the configuration says at each path of a ``setting`` claim, by id.
        rebuilt: The studies whose language is a reconstruction.
        references: The studies that have a reference, each with the hash of its file.
        whole: Whether runs are measured as their study says; those of a quick build lack epochs.
    """

    OUTPUTS = ("results/verdicts/{study}.parquet",)

    study: str
    parts: tuple[Measurement | Demonstration, ...]
    claims: Mapping[str, Claim]
    settings: Mapping[str, Mapping[str, object]]
    rebuilt: tuple[str, ...]
    references: Mapping[str, str]
    whole: bool
    modules: tuple[str, ...] = field(default=(), init=False)

    @property
    def outputs(self) -> tuple[Path, ...]:
        """One table of verdicts."""
        return (Path(self.OUTPUTS[0].format(study=self.study)),)

    @property
    def inputs(self) -> tuple[Job, ...]:
        """Its parts."""
        return self.parts

    @property
    def place(self) -> str:
        """Where the configuration asks for it."""
        return f"config/claims, those about {self.study}"

    @cached_property
    def fingerprint(self) -> str:
        """The hash of claims, code and observations."""
        return _verdicts_fingerprint(self, _named(self.parts))

    def compute(self) -> None:
        """Judge the claims by the study's observations."""
        _write_verdicts(self.outputs[0], _judged(self, self.claims, rows_of(self.parts)), self.fingerprint)

    def read(self) -> list[dict[str, Any]]:
        """The rows of the stored verdicts."""
        return _read_verdicts(self.outputs[0], self.fingerprint)


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Job: gather the verdicts, and judge the claims that rest on several studies or on a study that is not built.

    Attributes:
        parts: The verdicts on single studies.
        observations: The one table.
        claims: All claims by id.
        settings: What the configuration says at each path of a ``setting`` claim, by id.
        rebuilt: The studies whose language is a reconstruction.
        references: The studies that have a reference, each with the hash of its file.
        whole: Whether runs are measured as their study says; those of a quick build lack epochs.
    """

    OUTPUTS = ("results/verdicts.parquet",)

    parts: tuple[StudyVerdicts, ...]
    observations: Observations
    claims: Mapping[str, Claim]
    settings: Mapping[str, Mapping[str, object]]
    rebuilt: tuple[str, ...]
    references: Mapping[str, str]
    whole: bool
    outputs: tuple[Path, ...] = field(default=(Path(OUTPUTS[0]),), init=False)
    place: str = field(default="config/claims", init=False)
    modules: tuple[str, ...] = field(default=(), init=False)

    @property
    def inputs(self) -> tuple[Job, ...]:
        """The verdicts on single studies, and the one table."""
        return (*self.parts, self.observations)

    @cached_property
    def fingerprint(self) -> str:
        """The hash of claims, code and observations."""
        return _verdicts_fingerprint(self, [one.fingerprint for one in self.inputs])

    def compute(self) -> None:
        """Gather and judge; a verdict for each claim, in their order."""
        found = {str(row["id"]): row for one in self.parts for row in one.read()}
        rest = with_repeated(self.claims, [name for name in self.claims if name not in found])
        judged = _judged(self, rest, self.observations.read().to_pylist())
        found = {str(row["id"]): row for row in judged} | found
        _write_verdicts(self.outputs[0], [found[name] for name in self.claims], self.fingerprint)

    def read(self) -> list[dict[str, Any]]:
        """The rows of the stored verdicts."""
        return _read_verdicts(self.outputs[0], self.fingerprint)


def with_repeated(claims: Mapping[str, Claim], names: Iterable[str]) -> dict[str, Claim]:
    """The named claims, with those that they repeat, in the order of all claims."""
    chosen = set(names)
    chosen |= {other for name in list(chosen) for other in claims[name].same_as or ()}
    return {name: claim for name, claim in claims.items() if name in chosen}


def _verdicts_fingerprint(job: StudyVerdicts | Verdicts, inputs: list[str]) -> str:
    values = {
        # As text, and in order: the order of a condition's keys says which number is which.
        "claims": [(name, claim.model_dump_json(exclude_defaults=True)) for name, claim in job.claims.items()],
        "settings": {name: job.settings[name] for name in job.claims if name in job.settings},
        "rebuilt": job.rebuilt,
        "references": {study: job.references[study] for study in _studies(job) & job.references.keys()},
        "whole": job.whole,
    }
    named = {"job": "verdicts", "format": storage.FORMAT}
    return fingerprint(named | values, ["seedbed.statistics.verdicts"], REPORTING, inputs)


def _studies(job: StudyVerdicts | Verdicts) -> set[str]:
    """The studies whose observations the claims of a job need."""
    return {operand.study for claim in job.claims.values() for operand in claim.operands}


def _judged(job: StudyVerdicts | Verdicts, claims: Mapping[str, Claim], rows: list[Row]) -> list[dict[str, Any]]:
    """A row for each claim: its verdict on these rows, and the outcome on the reference with all its seeds."""
    from seedbed.statistics.observed import ObservationTable
    from seedbed.statistics.verdicts import unmeasured, verdicts

    if job.whole and (lacking := unmeasured(claims, ObservationTable(rows))):
        lines = [f"{place_of(name)}: nothing measures what it is about: {why}" for name, why in lacking.items()]
        raise ConfigError("\n".join(lines))
    before = reference_rows(_studies(job) & job.references.keys())
    now, there = (verdicts(claims, ObservationTable(one), job.settings, job.rebuilt) for one in (rows, before))
    return [
        one.row() | {"reference": other.outcome if before else "not run", "reference_n": other.n}
        for one, other in zip(now, there, strict=True)
    ]


def reference_rows(studies: Iterable[str]) -> list[Row]:
    """The rows of the references of some studies."""
    paths = [reference_files.path_of(study) for study in sorted(studies)]
    return [row for path in paths for row in reference_files.read_reference(path)[0]]


def _write_verdicts(path: Path, rows: list[dict[str, Any]], own: str) -> None:
    import pyarrow as pa

    cell = pa.struct([(name, pa.string()) for name in ("study", "run", "metric", "condition")])
    words = ["id", "outcome", "explanation", "expected", "reference"]
    kinds = dict.fromkeys(words, pa.string()) | dict.fromkeys(["estimate", "low", "high", "level"], pa.float64())
    kinds |= dict.fromkeys(["n", "seeds_needed", "reference_n"], pa.int64())
    kinds |= dict.fromkeys(["by_construction", "chance"], pa.bool_())
    kinds["compatible"] = pa.bool_()
    kinds |= {"possible": pa.list_(pa.string()), "same_as": pa.list_(pa.string()), "evidence": pa.list_(cell)}
    storage.write_table(path, pa.Table.from_pylist(rows, pa.schema(list(kinds.items()))), own)


def _read_verdicts(path: Path, own: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = storage.read_table(path, own).to_pylist()
    return found


@dataclass(frozen=True, eq=False)
class Timings:
    """Job: gather everything that is measured in seconds or bytes.

    Attributes:
        trainings: All trainings, each with its cost.
        timed: The demonstrations that take times.
    """

    OUTPUTS = ("results/timings.parquet",)

    trainings: tuple[Training, ...]
    timed: tuple[TimedDemonstration, ...] = ()
    outputs: tuple[Path, ...] = field(default=(Path(OUTPUTS[0]),), init=False)
    place: str = field(default="the table of timings", init=False)
    modules: tuple[str, ...] = field(default=(), init=False)

    @property
    def inputs(self) -> tuple[Job, ...]:
        """All trainings and timed demonstrations."""
        return (*self.trainings, *self.timed)

    @cached_property
    def fingerprint(self) -> str:
        """The hash of the inputs' fingerprints."""
        return digest(_named(self.inputs))

    def compute(self) -> None:
        """Gather the rows."""
        tables = (storage.read_table(one.cost, one.fingerprint).to_pylist() for one in self.trainings)
        write_rows(self.outputs[0], [*chain.from_iterable(tables), *rows_of(self.timed)], self.fingerprint)

    def read(self) -> pa.Table:
        """The stored table."""
        return storage.read_table(self.outputs[0], self.fingerprint)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Job: compare this build with the reference of each study that has one.

    Attributes:
        observations: The one table.
        verdicts: All verdicts.
        timings: It holds the processors that the trainings ran on.
        watched: The numbers that decide.
        references: The studies that have a reference, each with the hash of its file.
    """

    OUTPUTS = ("results/comparison.parquet",)

    observations: Observations
    verdicts: Verdicts
    timings: Timings
    watched: tuple[ObservationKey, ...]
    references: Mapping[str, str]
    outputs: tuple[Path, ...] = field(default=(Path(OUTPUTS[0]),), init=False)
    place: str = field(default="config/watched.yaml", init=False)
    modules: tuple[str, ...] = field(default=(), init=False)

    @property
    def inputs(self) -> tuple[Job, ...]:
        """The tables that are compared."""
        return (self.observations, self.verdicts, self.timings)

    @cached_property
    def fingerprint(self) -> str:
        """The hash of watched numbers, references, code and tables."""
        values = {"watched": self.watched, "reference": self.references}
        return fingerprint(
            {"job": "comparison", "format": storage.FORMAT} | values,
            ["seedbed.statistics.comparison"],
            [*REPORTING, "torch"],
            [one.fingerprint for one in self.inputs],
        )

    def compute(self) -> None:
        """Compare rows, watched numbers and verdicts."""
        import pyarrow as pa

        words = ["tier", "study", "run", "metric", "condition", "outcome", "text"]
        kinds = dict.fromkeys(words, pa.string()) | {"seed": pa.int64(), "decides": pa.bool_()}
        kinds |= dict.fromkeys(["reference", "now", "low", "high"], pa.float64())
        found = [asdict(one) for one in self._compared()]
        table = pa.Table.from_pylist(found, pa.schema(list(kinds.items())))
        storage.write_table(self.outputs[0], table, self.fingerprint)

    def read(self) -> list[ComparedItem]:
        """The stored comparison."""
        from seedbed.statistics.comparison import ComparedItem

        return [ComparedItem(**row) for row in storage.read_table(self.outputs[0], self.fingerprint).to_pylist()]

    def _compared(self) -> Iterator[ComparedItem]:
        from seedbed.statistics.comparison import (
            compare_rows,
            compare_verdicts,
            compare_watched,
            resolutions,
            runs_of_another_recipe,
        )
        from seedbed.statistics.observed import ObservationTable
        from seedbed.statistics.verdicts import verdicts

        now = self.observations.read().to_pylist()
        # Each training notes its machine; a demonstration ran where they did.
        machines = [row for row in self.timings.read().to_pylist() if row["metric"] in DECIDING]
        before, compared, strict = list[Row](), list["ComparedItem"](), set[str]()
        for study in self.references:
            rows, made = reference_files.read_reference(reference_files.path_of(study))
            if reference_files.environment(_of(study, machines) or machines) == made:
                strict.add(study)
            compared += compare_rows(_of(study, now), rows, study in strict)
            before += rows
        yield from compared
        if not before:  # otherwise every verdict would be compared with one from an empty table
            return
        studies = {str(row["study"]) for row in before}
        watched = [cell for cell in self.watched if cell.study in studies]
        here, there = ObservationTable(now), ObservationTable(before)
        for cell in watched:
            if here.has_run(cell) and not here.series(cell) and not there.series(cell):
                raise ConfigError(f"{self.place}: {here.explain_missing(cell)}")
        yield from compare_watched(watched, here, there, resolutions(before))
        judged = self.verdicts
        shared = set(map(_seed, now)) & set(map(_seed, before))
        sides = (ObservationTable(row for row in rows if _seed(row) in shared) for rows in (now, before))
        found, known = (verdicts(judged.claims, side, judged.settings, judged.rebuilt) for side in sides)
        yield from compare_verdicts(found, known, strict, runs_of_another_recipe(compared))


def _seed(row: Row) -> tuple[object, object, object]:
    return row["study"], row["run"], row["seed"]


def _of(study: str, rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["study"] == study]
