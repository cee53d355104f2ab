"""Tables of the page: one set of rows that is shown as HTML, sorted by value and downloaded as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from urllib.parse import quote

from seedbed.reporting.numbers import NOT_MEASURED, ends, number
from seedbed.statistics.intervals import Interval


@dataclass(frozen=True)
class Strip:
    """The seeds of one row as dots on a line of their own scale."""

    values: Mapping[int | None, float | None]
    unit: str

    def dots(self) -> list[tuple[float, str]]:
        """Position in per cent and words of every seed that is a number."""
        known = {seed: v for seed, v in self.values.items() if v is not None and math.isfinite(v)}
        low, high = min(known.values(), default=0.0), max(known.values(), default=0.0)
        width = high - low
        return [
            (
                round(100 * (value - low) / width, 2) if width else 50.0,
                f"{seed_words(seed)}: {number(value, self.unit)}",
            )
            for seed, value in sorted(known.items(), key=lambda item: (item[1], str(item[0])))
        ]

    def words(self) -> str:
        """The seeds read out, also those that are no number."""
        return "; ".join(f"{seed_words(seed)}: {number(value, self.unit)}" for seed, value in self.values.items())


Value = str | int | float | Interval | Strip | None


@dataclass(frozen=True)
class Column:
    """A column: its name for machines, its label, and the unit of its numbers (none: text)."""

    key: str
    label: str
    unit: str = ""


@dataclass(frozen=True)
class Shown:
    """A cell as the page shows it: its text, what it sorts by (none: last), and whether it is a number."""

    text: str
    sort: str | float | None
    numeric: bool
    strip: Strip | None = None


@dataclass(frozen=True)
class Table:
    """Rows of values under columns; a row may bring a unit of its own for columns whose unit is ``row``.

    Attributes:
        name: The name of its file when downloaded, without the ending.
        columns: The columns.
        rows: The rows, a value a column.
        units: The unit of each row; needed only with a column of unit ``row``.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    units: tuple[str, ...] = ()

    def shown(self) -> list[list[Shown]]:
        """The rows as they are shown."""
        units = self.units or ("",) * len(self.rows)
        return [
            [
                _shown(value, own if column.unit == "row" else column.unit)
                for column, value in zip(self.columns, row, strict=True)
            ]
            for row, own in zip(self.rows, units, strict=True)
        ]

    def csv(self) -> str:
        """The rows for machines, in full precision: an interval is two columns, nothing measured is empty."""
        kept = [i for i in range(len(self.columns)) if not any(isinstance(row[i], Strip) for row in self.rows)]
        heads = [_names(self.columns[i].key, self.rows[0][i] if self.rows else None) for i in kept]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(chain.from_iterable(heads))
        writer.writerows(chain.from_iterable(_machine(row[i]) for i in kept) for row in self.rows)
        return text.getvalue()

    def link(self) -> str:
        """The CSV as an address that needs no server."""
        return "data:text/csv;charset=utf-8," + quote(self.csv(), safe="")


def seed_words(seed: int | None) -> str:
    """A seed in words."""
    return "no seed" if seed is None else f"seed {seed}"


def _shown(value: Value, unit: str) -> Shown:
    if isinstance(value, Strip):
        return Shown(value.words(), None, False, value)
    if isinstance(value, Interval):
        return Shown(ends(value, unit), value.low if value.defined else None, True)
    if isinstance(value, str):
        return Shown(value, None if unit else value, bool(unit))
    if value is None:
        return Shown(NOT_MEASURED, None, True)
    return Shown(number(value, unit), value if math.isfinite(value) else None, True)


def _names(key: str, example: Value) -> list[str]:
    return ["low", "high"] if isinstance(example, Interval) else [key]


def _machine(value: Value) -> list[str]:
    if isinstance(value, Interval):
        return [repr(value.low), repr(value.high)]
    if value is None:
        return [""]
    return [value if isinstance(value, str) else repr(value)]
