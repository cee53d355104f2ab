"""Points over two axes: two measures of the same thing, such as a head of a seed, against each other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seedbed.reporting.drawing.canvas import (
    AGAINST,
    BOTTOM,
    SMALL_WIDTH,
    Spot,
    add_level,
    add_spots,
    canvas,
    draw_x,
    draw_y,
    seed_look,
    set_ends,
)
from seedbed.reporting.drawing.curves import SMALL_HEIGHT
from seedbed.reporting.drawing.marks import Axis, Key, Mark, seed_keys
from seedbed.reporting.numbers import number, spread

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Point:
    """A point.

    Attributes:
        label: What it is.
        x: Its first number.
        y: Its second one.
        contrast: Whether it is a contrasting triangle.
    """

    label: str
    x: float
    y: float
    contrast: bool = False

    @property
    def finite(self) -> bool:
        """Whether it has a place."""
        return math.isfinite(self.x) and math.isfinite(self.y)


@dataclass(frozen=True)
class Points:
    """Points over two axes; the labels of both are in the words, that of ``x`` is drawn too.

    Attributes:
        points: The points.
        x: The first axis.
        y: The second axis; the panels of a figure share the limits of both.
        kinds: What a dot means, and what a triangle means.
        mark: A value that ``y`` is read against.
        small: It is always half as wide, as one of many.
    """

    points: tuple[Point, ...]
    x: Axis
    y: Axis
    kinds: tuple[str, str]
    mark: Mark | None = None
    small: bool = True

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.points

    def words(self) -> str:
        """The panel read out: how many points there are, and between which ends they lie."""
        across = spread((one.x for one in self.points), self.x.unit)
        up = spread((one.y for one in self.points), self.y.unit)
        mark = f"{self.mark.words} {number(self.mark.value, self.y.unit)}; " if self.mark else ""
        return f"{mark}{len(self.points)} points, {self.x.label} {across}, {self.y.label} {up}"

    def legend(self) -> tuple[Key, ...]:
        """The marks that occur in it."""
        return tuple(self._legend())

    def _legend(self) -> Iterator[Key]:
        yield from seed_keys(("dot", "triangle"), self.kinds, {one.contrast for one in self.points})
        yield from self.mark.legend() if self.mark else ()

    def figure(self) -> Figure:
        """The panel drawn."""
        drawn = [one for one in self.points if one.finite]
        figure, axes = canvas((SMALL_WIDTH, SMALL_HEIGHT + 14), 40, 8, BOTTOM + 14)
        across, up = [one.x for one in drawn], [one.y for one in drawn]
        set_ends(axes, "x", self.x, across)
        set_ends(axes, "y", self.y, up)
        draw_x(axes, self.x, across, 3)
        draw_y(axes, self.y, up, 3)
        if self.mark and math.isfinite(self.mark.value):
            add_level(axes, self.mark.value, zorder=2, **AGAINST)
        spots = [Spot(one.x, one.y, seed_look(5.4, one.contrast, 0.7), self._tip(one)) for one in drawn]
        add_spots(axes, spots, 3)
        return figure

    def _tip(self, one: Point) -> str:
        across, up = (f"{axis.label} {number(at, axis.unit)}" for axis, at in ((self.x, one.x), (self.y, one.y)))
        return f"{one.label}: {across}, {up}"
