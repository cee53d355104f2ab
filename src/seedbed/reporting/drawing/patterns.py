"""Patterns: a small square for every pair of an output and an input, filled where they hang together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from seedbed.reporting.drawing.canvas import BOTTOM, COLORS, SMALL_WIDTH, canvas
from seedbed.reporting.drawing.marks import Key
from seedbed.reporting.numbers import number

if TYPE_CHECKING:
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
        """Which output hangs on which inputs, and in how many seeds."""
        inputs = f"input {self.first}" if self.first == self.last else f"inputs {self.first} to {self.last}"
        seeds = "" if self.share == 1 else f", in {number(self.share, 'share')} of the seeds"
        return f"output {self.row}: {inputs}{seeds}"


@dataclass(frozen=True)
class Pattern:
    """Outputs by inputs; few marks, since neighbours with the same share are one.

    Attributes:
        rows: For each output a number for each input: the share of seeds in which the output hangs on it.
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
        return "; ".join(stretch.words() for stretch in self.stretches()) or "no output hangs on an input"

    def legend(self) -> tuple[Key, ...]:
        """What a filled square means."""
        filled = Key("seed", "the output in this row hangs on the input in this column")
        paler = Key("above", "the paler, the fewer seeds")
        return (filled, paler) if any(one.share < 1 for one in self.stretches()) else (filled,)

    def figure(self) -> Figure:
        """The panel drawn."""
        from matplotlib.patches import Rectangle

        rows, columns = len(self.rows), len(self.rows[0])
        side = (SMALL_WIDTH - LEFT - 12) / max(rows, columns)
        height = side * rows
        bottom = BOTTOM + 14
        figure, axes = canvas((LEFT + 12 + side * columns, 4 + height + bottom), LEFT, 4, bottom)
        axes.set_xlim(0, columns)
        axes.set_ylim(rows, 0)
        axes.add_patch(Rectangle((0, 0), columns, rows, fill=False, edgecolor=COLORS["rule"], linewidth=1))
        for one in self.stretches():
            place, width = (one.first - 1 + 0.04, one.row - 1 + 0.04), one.last - one.first + 1
            box = Rectangle(place, width - 0.08, 0.92, linewidth=0, facecolor=COLORS["seed"])
            box.set_alpha(round(STRONGEST * one.share, 3))
            box.set_gid(f"tip:{one.words()}")
            axes.add_patch(box)
        axes.set_xticks([0.5, columns - 0.5], ["1", str(columns)])
        axes.set_yticks([0.5, rows - 0.5] if rows > 1 else [0.5], ["1", str(rows)][: min(rows, 2)])
        axes.set_xlabel("input", fontsize=10.5, color=COLORS["muted"], labelpad=-8)
        axes.set_ylabel("output", fontsize=10.5, color=COLORS["muted"], labelpad=-8)
        return figure
