"""Rows as the table of observations: sorted, so that equal rows give equal bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from seedbed.errors import SeedbedError
from seedbed.observations import COLUMNS, Row
from seedbed.pipeline import storage

if TYPE_CHECKING:
    import pyarrow as pa


def write_rows(path: Path, rows: Iterable[Row], fingerprint: str) -> None:
    """Write rows as a table of observations; raises as `observation_table` does."""
    storage.write_table(path, observation_table(rows), fingerprint)


def gather(parts: Mapping[str, list[Row]]) -> pa.Table:
    """The rows of several evaluations and demonstrations, by their places in the configuration, as one table.

    Raises:
        SeedbedError: two of them have a row of the same study, run, seed, metric and condition.
    """
    places: dict[tuple[str, str, int, str, str], str] = {}
    for place, rows in parts.items():
        for row in rows:
            other = places.setdefault(_key(row), place)
            if other != place:
                raise SeedbedError(measured_twice(row, other, place))
    return observation_table(chain.from_iterable(parts.values()))


def measured_twice(row: Row, place: str, other: str) -> str:
    """What to say of an observation that two places of the configuration ask for."""
    return (
        f"measured twice: {_named(row)}; by {place}, and by {other}: let them measure different runs (runs), or "
        "give their kind an option that its conditions hold, so that they differ"
    )


def seed_path(path: Path, seed: int | None) -> Path:
    """Where the rows of one seed are kept, beside the table of all seeds; what draws nothing has one such file."""
    return path.with_suffix("") / ("exact.parquet" if seed is None else f"seed-{seed}.parquet")


def kept_rows(path: Path, fingerprint: str, make: Callable[[], Iterable[Row]]) -> list[Row]:
    """The rows of one seed: those in the file if it carries the fingerprint, else made and written there.

    Snakemake deletes the outputs of a job before it runs. Such a file is no output, so what is measured already is
    not measured again where a seed is added or taken away, or where a job was killed.
    """
    if not storage.carries(path, fingerprint):
        write_rows(path, make(), fingerprint)
    found: list[Row] = storage.read_table(path, fingerprint).to_pylist()
    return found


def observation_table(rows: Iterable[Row]) -> pa.Table:
    """The rows as a table, sorted by study, run, seed, metric and condition.

    Raises:
        SeedbedError: two rows have the same study, run, seed, metric and condition.
    """
    import pyarrow as pa

    kinds = {"value": pa.float64(), "item_error": pa.float64(), "seed": pa.int64(), "n": pa.int64()}
    kinds["item_groups"] = pa.list_(pa.float32())
    schema = pa.schema([(column, kinds.get(column, pa.string())) for column in COLUMNS])
    ordered = sorted(rows, key=_key)
    for one, next_one in pairwise(ordered):
        if _key(one) == _key(next_one):
            raise SeedbedError(
                f"measured twice: {_named(one)}; an evaluation yields a metric under a condition once: "
                "let the condition hold what differs"
            )
    return pa.Table.from_pylist(ordered, schema)


def _named(row: Row) -> str:
    """What a row is about, in words."""
    condition = f" ({row['condition']})" if row["condition"] else ""
    return f"{row['study']}/{row['run']}: {row['metric']}{condition}"


def _key(row: Row) -> tuple[str, str, int, str, str]:
    seed = row["seed"]
    number = -1 if seed is None else int(str(seed))
    return str(row["study"]), str(row["run"]), number, str(row["metric"]), str(row["condition"])
