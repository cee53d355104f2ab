"""Tables of the page: one set of rows that is shown as HTML, sorted by value and downloaded as CSV."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from seedbed.reporting.numbers import NOT_MEASURED, PERCENT, ends, number
from seedbed.statistics.intervals import Interval

#: The value of a reference run in columns about seeds and training.
NONE = "none"

#: The page of all claims, which other pages lead to.
CLAIMS = "claims"

#: A number that sorts as it reads; the page's script reads it so.
_PLAIN = re.compile(rf"−?[\d,]+(\.\d+)?({PERCENT})?")
#: A number with separators, which a spreadsheet would take for a text.
_THOUSANDS = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d+)?")

#: A table with more cells than this is offered as a file only: the page stays small.
MOST_CELLS = 3000


@dataclass(frozen=True)
class Strip:
    """The seeds of one row as dots on a line of their own scale."""

    values: Mapping[int | None, float | None]
    unit: str

    def dots(self) -> list[float]:
        """The position in per cent of every seed that is a number, in their order."""
        known = sorted(value for value in self.values.values() if value is not None and math.isfinite(value))
        width = known[-1] - known[0] if known else 0.0
        return [round(100 * (value - known[0]) / width, 1) if width else 50.0 for value in known]

    def words(self) -> str:
        """The seeds read out, also those that are no number."""
        return "; ".join(f"{seed_words(seed)}: {number(value, self.unit)}" for seed, value in self.values.items())


@dataclass(frozen=True)
class Link:
    """Words that lead to a place of the page; without an address they are plain text."""

    words: str
    address: str = ""


@dataclass(frozen=True)
class Links:
    """Several links in one cell."""

    links: tuple[Link, ...]

    def words(self) -> str:
        """The links read out."""
        return "; ".join(link.words for link in self.links)


@dataclass(frozen=True)
class Status:
    """A word with a sign, so that its meaning does not depend on colour."""

    word: str

    @property
    def sign(self) -> str:
        """The sign before the word."""
        return SIGNS[self.word]


@dataclass(frozen=True)
class Folded:
    """A text with more of it that is folded away under ``label``."""

    text: str
    label: str
    more: str


#: Outcome of a verdict, or of a comparison with the reference → the sign before it.
SIGNS = {
    "reproduced": "✓",
    "contradicted": "✕",
    "differs": "≠",
    "undecided": "?",
    "not run": "○",
    "non-finite": "!",
    "same": "=",
    "moved": "≠",
    "missing": "○",
    "new": "+",
}

Value = str | int | float | Interval | Strip | Links | Status | Folded | None


@dataclass(frozen=True)
class Column:
    """A column: its name for machines, its label, and the unit of its numbers (none: text)."""

    key: str
    label: str
    unit: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Its names in a CSV: the column ``interval`` is its two ends, whatever its rows hold."""
        return ("low", "high") if self.key == "interval" else (self.key,)


@dataclass(frozen=True)
class ShownCell:
    """A cell as the page shows it.

    Attributes:
        text: Its text.
        sort: What it sorts by, if its text is not enough: "0.99" is, "6.6 × 10⁻⁵" is not.
        numeric: Whether it is a number.
        kind: ``strip``, ``links``, ``status`` or ``folded`` where it is more than its text.
        value: What it shows.
    """

    text: str
    sort: str
    numeric: bool
    kind: str = ""
    value: Value = None


@dataclass(frozen=True)
class Table:
    """Rows of values under columns; a row may bring a unit of its own for columns whose unit is ``row``.

    Attributes:
        name: The name of its file when downloaded, without the ending.
        columns: The columns.
        rows: The rows, with a value for each column.
        units: The unit of each row; needed only with a column of unit ``row``.
        anchors: The id of each row, where other parts of the page lead to them.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    units: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()

    @property
    def large(self) -> bool:
        """Whether it is too large for the page."""
        return len(self.rows) * len(self.columns) > MOST_CELLS

    def choices(self, key: str) -> list[str]:
        """The different texts of a column, in the order of their signs and then of the alphabet."""
        at = [column.key for column in self.columns].index(key)
        order = {word: index for index, word in enumerate(SIGNS)}
        return sorted({_text(row[at]) for row in self.rows}, key=lambda word: (order.get(word, -1), word))

    def shown(self) -> list[list[ShownCell]]:
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
        """The rows for machines, to ten digits: an interval is two columns, nothing measured is empty."""
        columns = list(enumerate(self.columns))
        kept = [(i, column) for i, column in columns if not any(isinstance(row[i], Strip) for row in self.rows)]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(name for _, column in kept for name in column.names)
        writer.writerows(
            [field for i, column in kept for field in _machine(row[i], len(column.names))] for row in self.rows
        )
        return text.getvalue()

    def link(self) -> str:
        """The CSV as an address that needs no server; its first sign tells spreadsheets that it is UTF-8."""
        return "data:text/csv;charset=utf-8," + quote(f"\ufeff{self.csv()}", safe=",;:=/()")


def anchor(*names: str) -> str:
    """An id of the page that no other names share: names are quoted, so that the colons between them are ours."""
    return ":".join(quote(name, safe="") for name in names)


def file_name(page: str) -> str:
    """The file of a page, and its address on the other pages, which are in the same folder."""
    return f"{quote(page)}.html"


def address(page: str, *names: str) -> str:
    """The address of an anchor on another page."""
    return f"{file_name(page)}#{anchor(*names)}"


def seed_words(seed: int | None) -> str:
    """A seed in words."""
    return "no seed" if seed is None else f"seed {seed}"


def _shown(value: Value, unit: str) -> ShownCell:
    if isinstance(value, Strip):
        return ShownCell(value.words(), "", False, "strip", value)
    if isinstance(value, Status):
        return ShownCell(value.word, value.word, False, "status", value)
    if isinstance(value, Links | Folded):
        return ShownCell(_text(value), "", False, type(value).__name__.lower(), value)
    if isinstance(value, Interval):
        return ShownCell(ends(value, unit), _key(value.low, unit) if value.defined else "", True)
    if isinstance(value, str):
        return ShownCell(value, "", bool(unit))
    if value is None:
        return ShownCell(NOT_MEASURED, "", True)
    text = number(value, unit)
    plain = _PLAIN.fullmatch(text) or not math.isfinite(value)
    return ShownCell(text, "" if plain else _key(value, unit), True)


def _key(value: float, unit: str) -> str:
    """What a number sorts by, on the scale on which it is written."""
    return f"{100 * value if unit == 'share' else value:.6g}"


def _text(value: Value) -> str:
    match value:
        case Links():
            return value.words()
        case Status():
            return value.word
        case Folded():
            return value.text
    return str(value)


def _machine(value: Value, fields: int) -> list[str]:
    """A value as this number of fields; what is no interval is repeated in each."""
    if isinstance(value, Interval):
        return [_digits(value.low), _digits(value.high)]
    if value is None:
        return [""] * fields
    if isinstance(value, int | float):
        return [_digits(value)] * fields
    text = _text(value)
    return [text.replace(",", "") if _THOUSANDS.fullmatch(text) else text] * fields


def _digits(value: float) -> str:
    """A number for machines; the page holds thousands, and the table of observations has them in full."""
    return f"{value:.10g}"
