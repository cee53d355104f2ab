"""Stacked bars of the kinds that make up a whole: a thin bar for each seed, the bars of a run on one row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from seedbed.reporting.drawing.canvas import (
    BOTTOM,
    COLORS,
    LETTER,
    WIDTH,
    add_box,
    canvas,
    draw_x,
    padded,
    row_label,
)
from seedbed.reporting.drawing.marks import Axis, Key
from seedbed.reporting.numbers import number
from seedbed.reporting.tables import seed_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The colours of the kinds, in order; each kind has a letter too.
KINDS = ("seed", "contrast", "kind-3", "kind-4", "kind-5", "kind-6")
LETTERS = "abcdef"
HEAD = 22  # a row's label
BAR = 7  # a seed's bar
FOOT = 20  # the letters of the kinds, and room


@dataclass(frozen=True)
class Stack:
    """One seed's bar: a size for each kind, or none if it was not measured."""

    seed: int | None
    sizes: tuple[float | None, ...]


@dataclass(frozen=True)
class StackRow:
    """A run's bars under its label."""

    label: str
    note: str
    stacks: tuple[Stack, ...]

    @property
    def height(self) -> int:
        """Its height in pixels."""
        return HEAD + BAR * max(1, len(self.stacks)) + FOOT


@dataclass(frozen=True)
class Stacks:
    """Rows of stacked bars over one axis; at most as many kinds as there are `KINDS`."""

    rows: tuple[StackRow, ...]
    kinds: tuple[str, ...]
    unit: str
    small: bool = False

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.rows

    def words(self) -> str:
        """The panel read out: the mean size of every kind."""
        return "; ".join(f"{row.label}: {self._row_words(row)}" for row in self.rows)

    def _row_words(self, row: StackRow) -> str:
        means = zip(self.kinds, _means(row.stacks, len(self.kinds)), strict=True)
        return ", ".join(f"{kind} {number(mean, self.unit)}" for kind, mean in means)

    def legend(self) -> tuple[Key, ...]:
        """A key for every kind, with its letter."""
        kinds = zip(KINDS, LETTERS, self.kinds, strict=False)
        return (
            *(Key(color, f"{letter}: {kind}") for color, letter, kind in kinds),
            Key("bars", "one bar for each seed"),
        )

    def figure(self) -> Figure:
        """The panel drawn."""
        height = sum(row.height for row in self.rows)
        figure, axes = canvas((WIDTH, height + BOTTOM), 12)
        axes.set_ylim(height, 0)
        totals = [sum(_finite(stack)) for row in self.rows for stack in row.stacks] + [0.0]
        axes.set_xlim(0, padded(totals, Axis(self.unit))[1])
        draw_x(axes, Axis(self.unit), totals, 5, grid=False)
        top = 0
        for row in self.rows:
            row_label(axes, top + 12, row.label, row.note, WIDTH - 24)
            for index, stack in enumerate(row.stacks):
                self._bar(axes, stack, top + HEAD + BAR * index)
            self._letters(axes, row, top + row.height - FOOT + 7)
            top += row.height
        return figure

    def _bar(self, axes: Axes, stack: Stack, top: float) -> None:
        left = 0.0
        for color, kind, size in zip(KINDS, self.kinds, stack.sizes, strict=False):
            if size is None or not math.isfinite(size) or not size:
                continue
            tip = f"{seed_words(stack.seed)}, {kind}: {number(size, self.unit)}"
            add_box(axes, (left, top + 0.5), (size, BAR - 1), tip, facecolor=COLORS[color])
            left += size

    def _letters(self, axes: Axes, row: StackRow, y: float) -> None:
        """The letter of each kind below the middle of its mean size, where there is room."""
        left, width = 0.0, axes.get_xlim()[1]
        for letter, mean in zip(LETTERS, _means(row.stacks, len(self.kinds)), strict=False):
            size = mean if mean is not None and math.isfinite(mean) else 0.0
            if size / width * (WIDTH - 24) > LETTER + 2:
                axes.text(
                    left + size / 2, y, letter, ha="center", va="center", fontsize=9.5, color=COLORS["muted"]
                )
            left += size


def _finite(stack: Stack) -> list[float]:
    return [size for size in stack.sizes if size is not None and math.isfinite(size)]


def _means(stacks: Sequence[Stack], kinds: int) -> list[float | None]:
    """The mean size of each kind over the bars that have it."""
    columns = ([stack.sizes[at] for stack in stacks if stack.sizes[at] is not None] for at in range(kinds))
    return [fmean(size for size in column if size is not None) if column else None for column in columns]
