"""`make reference STUDY=name`: print what moved in a full build of one study, and make it the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from seedbed.building.build import build
from seedbed.commands.checking import line
from seedbed.configuration.configuration import Configuration, overrides
from seedbed.pipeline import reference_files
from seedbed.pipeline.plan import Plan
from seedbed.statistics.comparison import compare_rows

if TYPE_CHECKING:
    import pyarrow as pa


def rebase(config: Sequence[str], study: str, cores: str) -> int:
    """Build a study with the seeds of a reference and write it to results/reference; returns the exit code.

    Raises:
        ConfigError: no such study.
    """
    scoped = [*config, f"studies=[{study}]", "scope=reference"]
    if code := build(scoped, cores):
        return code
    plan = Plan(Configuration(overrides(scoped)))
    table = plan.observations.read()
    made = reference_files.environment(plan.timings.read().to_pylist())
    path = reference_files.path_of(study)
    print(_moved(study, table) if path.is_file() else f"{study} had no reference yet.")
    reference_files.write(path, table, made)
    print(f"The reference of {study}: {path}, {len(table)} observations. Commit it.")
    return 0


def _moved(study: str, table: pa.Table) -> str:
    """What differs from the present reference, row by row."""
    before, _ = reference_files.read_reference(reference_files.path_of(study))
    found = compare_rows(table.to_pylist(), before, decides=True)
    moved = [f"  {line(one)}" for one in found if one.failed]
    other = sum(one.outcome == "other recipe" for one in found)
    new = sum(one.outcome == "new" for one in found)
    head = f"{len(moved)} observations moved, {other} are of another recipe, {new} are new."
    return "\n".join([head, *moved])
