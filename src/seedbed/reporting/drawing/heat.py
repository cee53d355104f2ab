"""Heat maps: a number in every cell of a grid, the darker the larger; its seeds are its tooltip."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from seedbed.reporting.drawing.canvas import BOTTOM, COLORS, LETTER, WIDTH, add_box, canvas, row_text, shortened
from seedbed.reporting.drawing.marks import Key
from seedbed.reporting.numbers import number, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Side = Literal["left", "center", "right"]

ROW = 42
CELL = 22  # the height of a row's cells, below its label
LINE = 13  # the height of a line of labels below the columns
STRONGEST = 0.5  # opacity of the largest number: words are still read on it


@dataclass(frozen=True)
class Tile:
    """A cell: its number, and words that give it and its seeds."""

    value: float | None
    words: str


@dataclass(frozen=True)
class HeatRow:
    """A row under its label, with a cell for each column."""

    label: str
    cells: tuple[Tile, ...]


@dataclass(frozen=True)
class Heat:
    """A grid of numbers.

    Attributes:
        rows: The rows.
        columns: The labels of the columns.
        unit: The unit of the numbers.
        limits: The numbers that are palest and darkest, shared by the panels of a figure. Where the lower one is
            below 0, numbers below 0 have the contrasting colour and 0 has none.
        note: What the columns are.
        numbers: What a number is.
    """

    rows: tuple[HeatRow, ...]
    columns: tuple[str, ...]
    unit: str
    limits: tuple[float, float]
    note: str = ""
    numbers: str = "mean over seeds"
    small: bool = False

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.rows or not self.columns

    def words(self) -> str:
        """The panel read out, row by row."""
        return "; ".join(f"{row.label}: {self._row_words(row)}" for row in self.rows)

    def _row_words(self, row: HeatRow) -> str:
        cells = zip(self.columns, row.cells, strict=True)
        return ", ".join(f"{column} {number(cell.value, self.unit)}" for column, cell in cells)

    def legend(self) -> tuple[Key, ...]:
        """The scale of its colours."""
        low, high = (number(end, self.unit) for end in self.limits)
        if self.limits[0] < 0:
            return (
                Key("above", f"{self.numbers}, above 0, up to {high}"),
                Key("below", f"below 0, down to {low}"),
            )
        return (Key("above", f"{self.numbers}, from {low}, pale, to {high}"),)

    def figure(self) -> Figure:
        """The panel drawn."""
        height = ROW * len(self.rows)
        width = (WIDTH - 24) / len(self.columns)
        levels = 2 if any(len(column) > _letters(width) for column in self.columns) else 1
        labels = BOTTOM + LINE * (levels - 1)
        bottom = labels + 14 * bool(self.note)
        figure, axes = canvas((WIDTH, height + bottom), 12, 0, bottom)
        axes.set_ylim(height, 0)
        axes.set_xlim(0, len(self.columns))
        for index, row in enumerate(self.rows):
            self._row(axes, row, index * ROW, width)
        for at in range(len(self.columns)):
            self._column(axes, at, height + 11 + LINE * (at % levels), width, levels)
        row_text(axes, (0, height + labels + 1), self.note, "left", COLORS["muted"], 10.5)
        return figure

    def _column(self, axes: Axes, at: int, y: float, width: float, levels: int) -> None:
        """The label of a column, as wide as so many cells; a long one at either end begins or ends there."""
        label, count = self.columns[at], len(self.columns)
        outermost = at in (0, count - 1) and LETTER * len(label) > width
        side: Side = "center" if not outermost else "left" if at == 0 else "right"
        place = {"left": 0.0, "center": at + 0.5, "right": float(count)}[side]
        text = shortened(label, _letters(min(1.5 if outermost else levels, count) * width))
        made = axes.text(place, y, text, ha=side, va="center", color=COLORS["muted"], fontsize=10.5)
        made.set_gid(f"tip:{label}" if text != label else None)

    def _row(self, axes: Axes, row: HeatRow, top: float, width: float) -> None:
        label = shortened(row.label, 62)
        made = axes.text(0, top + 9, label, va="center", color=COLORS["ink"], fontsize=11)
        made.set_gid(f"tip:{row.label}" if label != row.label else None)
        for at, cell in enumerate(row.cells):
            if cell.value is not None:
                self._cell(axes, cell, (at, top + ROW - CELL - 2), width)

    def _cell(self, axes: Axes, cell: Tile, at: tuple[float, float], width: float) -> None:
        assert cell.value is not None
        gap = 1.5 / width
        add_box(axes, (at[0] + gap / 2, at[1]), (1 - gap, CELL), cell.words, **self._fill(cell.value))
        text = short(cell.value, self.unit)
        if len(text) * LETTER < width:
            style: dict[str, Any] = {"ha": "center", "va": "center", "color": COLORS["ink"], "fontsize": 10}
            axes.text(at[0] + 0.5, at[1] + CELL / 2, text, gid="inside", **style)

    def _fill(self, value: float) -> dict[str, Any]:
        """The colour of a number, as strong as the number is large; no colour if it is not finite."""
        low, high = self.limits
        if not math.isfinite(value):
            return {"facecolor": "none", "edgecolor": COLORS["contrast"]}
        start, width = (0.0, max(-low, high)) if low < 0 else (low, high - low)
        share = abs(value - start) / width if width > 0 else 1.0
        strength = 0.04 + (STRONGEST - 0.04) * min(1.0, max(0.0, share))
        return {"facecolor": COLORS["contrast" if value < 0 else "seed"], "alpha": round(strength, 3)}


def _letters(pixels: float) -> int:
    """How many letters of a label fit into a number of pixels, and one more that parts it from the next."""
    return max(1, int(pixels / LETTER) - 1)
