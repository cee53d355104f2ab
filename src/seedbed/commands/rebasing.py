"""`make reference STUDY=name`: print what moved in a full build of one study, and make it the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from seedbed.building.build import DURATIONS, build
from seedbed.building.progress import read_durations, write_durations
from seedbed.commands.checking import line
from seedbed.configuration.configuration import Configuration, overrides
from seedbed.observations import DEMONSTRATIONS, Row
from seedbed.pipeline import reference_files
from seedbed.pipeline.plan import Plan
from seedbed.pipeline.table import observation_table
from seedbed.statistics.comparison import compare_rows


def rebase(config: Sequence[str], study: str, cores: str, root: Path) -> int:
    """Build a study with the seeds of a reference and write it to results/reference; returns the exit code.

    Every build has all demonstrations, so that their reference is written too.

    Raises:
        ConfigError: no such study.
    """
    scoped = [*config, f"studies=[{study}]", "scope=reference"]
    if code := build(scoped, cores, root):
        return code
    plan = Plan(Configuration(overrides(scoped), root))
    made = reference_files.environment(plan.timings.read().to_pylist())
    parts: dict[str, list[Row]] = {study: [], DEMONSTRATIONS: []}
    for row in plan.observations.read().to_pylist():
        parts[str(row["study"])].append(row)
    for name, rows in parts.items():
        if rows:
            _write(name, rows, made)
    took = {kind: [seconds] for kind, seconds in read_durations(DURATIONS).items()}
    write_durations(reference_files.DURATIONS, took)
    return 0


def _write(name: str, rows: list[Row], made: Mapping[str, str]) -> None:
    """Say what moved, and write the rows of a study or of the demonstrations as their reference."""
    path = reference_files.path_of(name)
    print(_moved(path, rows) if path.is_file() else f"{name} had no reference yet.")
    reference_files.write(path, observation_table(rows), made)
    print(f"The reference of {name}: {path}, {len(rows)} observations. Commit it.")


def _moved(path: Path, rows: list[Row]) -> str:
    """What is not as it was in the reference so far, row by row."""
    before, _ = reference_files.read_reference(path)
    found = compare_rows(rows, before, decides=True)
    moved = [f"  {line(one)}" for one in found if one.failed]
    other = sum(one.outcome == "other recipe" for one in found)
    new = sum(one.outcome == "new" for one in found)
    head = f"{len(moved)} observations moved, {other} are of another recipe, {new} are new."
    return "\n".join([head, *moved])
