"""Patterns: a small square for each pair of an output and an input, filled if the output depends on the input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from seedbed.reporting.drawing.canvas import BOTTOM, COLORS, SMALL_WIDTH, add_box, canvas
from seedbed.reporting.drawing.marks import Key
from seedbed.reporting.numbers import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEFT = 30
STRONGEST = 0.8  # opacity where all seeds agree


@dataclass(frozen=True)
class Stretch:
    """Neighbouring inputs of a row with the same share; positions count from 1."""

    row: int
    first: int
    last: int
    share: float

    def words(self) -> str:
        """Which output depends on which inputs, and in how many seeds."""
        inputs = f"input {self.first}" if self.first == self.last else f"inputs {self.first} to {self.last}"
        seeds = "" if self.share == 1 else f", in {number(self.share, 'share')} of the seeds"
        return f"output {self.row}: {inputs}{seeds}"


@dataclass(frozen=True)
class Pattern:
    """Outputs by inputs; few marks, since neighbours with the same share are one.

    Attributes:
        rows: For each output a number for each input: the share of seeds in which the output depends on it.
        small: It is always half as wide, as one of many.
    """

    rows: tuple[tuple[float, ...], ...]
    small: bool = True

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.rows

    def stretches(self) -> Iterator[Stretch]:
        """What is filled."""
        for row, shares in enumerate(self.rows, 1):
            for share, places in groupby(enumerate(shares, 1), key=lambda place: place[1]):
                at = [position for position, _ in places]
                if share > 0:
                    yield Stretch(row, at[0], at[-1], share)

    def words(self) -> str:
        """The panel read out."""
        return "; ".join(stretch.words() for stretch in self.stretches()) or "no output depends on an input"

    def legend(self) -> tuple[Key, ...]:
        """What a filled square means."""
        filled = Key("seed", "the output in this row depends on the input in this column")
        paler = Key("above", "paler: in fewer seeds")
        return (filled, paler) if any(one.share < 1 for one in self.stretches()) else (filled,)

    def figure(self) -> Figure:
        """The panel drawn."""
        rows, columns = len(self.rows), len(self.rows[0])
        side = (SMALL_WIDTH - LEFT - 12) / max(rows, columns)
        height = side * rows
        bottom = BOTTOM + 14
        figure, axes = canvas((LEFT + 12 + side * columns, 4 + height + bottom), LEFT, 4, bottom)
        axes.set_xlim(0, columns)
        axes.set_ylim(rows, 0)
        add_box(axes, (0, 0), (columns, rows), facecolor="none", edgecolor=COLORS["rule"], linewidth=1)
        for one in self.stretches():
            place, width = (one.first - 1 + 0.04, one.row - 1 + 0.04), one.last - one.first + 1
            fill = {"facecolor": COLORS["seed"], "alpha": round(STRONGEST * one.share, 3)}
            add_box(axes, place, (width - 0.08, 0.92), one.words(), **fill)
        self._labels(axes, rows, columns)
        return figure

    def _labels(self, axes: Axes, rows: int, columns: int) -> None:
        """The first and the last input below the squares, the first and the last output on their left."""
        style: dict[str, Any] = {"color": COLORS["muted"], "fontsize": 10.5, "va": "center"}
        unit = rows / (axes.bbox.height)  # rows a pixel
        for at in dict.fromkeys((1, columns)):
            axes.text(at - 0.5, rows + 12 * unit, str(at), ha="center", **style)
        for at in dict.fromkeys((1, rows)):
            axes.text(-5 * unit, at - 0.5, str(at), ha="right", **style)
        axes.text(columns / 2, rows + 12 * unit, "input", ha="center", **style)
        axes.text(-12 * unit, rows / 2, "output", ha="center", rotation=90, **style)
