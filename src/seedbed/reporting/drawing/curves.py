"""Curves over a number, such as the epoch or a distance: a thin one for each seed, a thick one for their mean."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from seedbed.reporting.drawing.canvas import (
    AGAINST,
    BOTTOM,
    COLORS,
    MOST_VECTOR_MARKS,
    SMALL_WIDTH,
    WIDTH,
    Look,
    Spot,
    add_level,
    add_line,
    add_shade,
    add_spots,
    canvas,
    draw_x,
    draw_y,
    seed_look,
    set_ends,
)
from seedbed.reporting.drawing.marks import Axis, Key, Mark, Shading, seed_keys
from seedbed.reporting.numbers import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT = 230
SMALL_HEIGHT = 140


@dataclass(frozen=True)
class Curve:
    """A curve.

    Attributes:
        label: Whose it is.
        points: Its points, from left to right.
        role: Whether it is one seed's, the mean over seeds, or another run's mean, which is behind in grey.
        contrast: Whether it has the contrasting colour, dashes and triangles.
        ring: The position of its ringed point.
    """

    label: str
    points: tuple[tuple[float, float], ...]
    role: Literal["seed", "mean", "other"] = "seed"
    contrast: bool = False
    ring: float | None = None


@dataclass(frozen=True)
class Curves:
    """Curves over two axes.

    Attributes:
        curves: The curves.
        x: The axis of what they run over.
        y: The axis of their values; the panels of a figure share its limits.
        mark: A value that they are read against.
        band: A shaded range of ``x``.
        seeds: What a curve means, and what a contrasting one means.
        rings: What a ring means.
        small: Whether the panel is half as wide, as one of many.
    """

    curves: tuple[Curve, ...]
    x: Axis
    y: Axis
    mark: Mark | None = None
    band: Shading | None = None
    seeds: tuple[str, str] = ("one seed", "one seed")
    rings: str = ""
    small: bool = True

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.curves

    def words(self) -> str:
        """The panel read out: where each curve starts and ends."""
        mark = [self.mark.label] if self.mark and self.mark.label else []
        own = [curve for curve in self.curves if curve.role != "other"]
        curves = (f"{curve.label}: {self._path(curve)}" if curve.label else self._path(curve) for curve in own)
        return "; ".join([*mark, *curves])

    def _path(self, curve: Curve) -> str:
        first, last = (number(curve.points[at][1], self.y.unit) for at in (0, -1))
        return f"from {first} to {last}" if len(curve.points) > 1 else first

    def legend(self) -> tuple[Key, ...]:
        """The marks that occur in it."""
        return tuple(self._legend())

    def _legend(self) -> Iterator[Key]:
        kinds = {(curve.role, curve.contrast) for curve in self.curves}
        yield from seed_keys(
            ("curve", "dashes"), self.seeds, {contrast for role, contrast in kinds if role == "seed"}
        )
        roles = {role for role, _ in kinds}
        if "mean" in roles:
            yield Key("average", "mean over seeds" if "seed" in roles else "measured once, without a seed")
        yield from (Key("other", "mean of another run"),) if "other" in roles else ()
        yield from (Key("ring", self.rings),) if any(curve.ring is not None for curve in self.curves) else ()
        yield from self.mark.legend() if self.mark else ()
        yield from self.band.legend() if self.band else ()
        if any(not self._has_place(point) for curve in self.curves for point in curve.points):
            yield Key("absent", "not above 0: only in the table, since a logarithmic axis has no place for it")

    def _has_place(self, point: tuple[float, float]) -> bool:
        axes = zip((self.x, self.y), point, strict=True)
        return all(axis.scale == "linear" or not at <= 0 for axis, at in axes)

    def figure(self) -> Figure:
        """The panel drawn."""
        points = [point for curve in self.curves for point in curve.points if math.isfinite(point[1])]
        size = (SMALL_WIDTH, SMALL_HEIGHT) if self.small else (WIDTH, HEIGHT)
        below = 14 * bool(self.x.label)
        figure, axes = canvas((size[0], size[1] + below), 40 if self.small else 46, 8, BOTTOM + below)
        across, up = [x for x, _ in points], [y for _, y in points]
        digits = all(at in range(10) for at in across) and self.x.scale == "linear"
        set_ends(axes, "x", self.x, across)
        set_ends(axes, "y", self.y, [*up, *([self.mark.value] if self.mark else [])])
        draw_x(axes, self.x, across, 10 if digits else 4, grid=False)
        draw_y(axes, self.y, up, 3 if self.small else 5)
        self._background(axes)
        pixels = len(points) > MOST_VECTOR_MARKS
        for curve in self.curves:
            self._curve(axes, curve, pixels)
        return figure

    def _background(self, axes: Axes) -> None:
        if self.band:
            add_shade(axes, self.band)
        if self.mark and math.isfinite(self.mark.value):
            _mark(axes, self.mark, labelled=not self.small)

    def _curve(self, axes: Axes, curve: Curve, pixels: bool) -> None:
        drawn = [point for point in curve.points if self._has_place(point)]
        if not drawn:
            return
        x, y = zip(*drawn, strict=True)
        add_line(axes, x, y, curve.label, rasterized=pixels, clip_on=False, **_line(curve))
        if curve.role == "seed" or len(drawn) == 1:
            spots = [self._spot(curve, at, value) for at, value in drawn if math.isfinite(value)]
            add_spots(axes, spots, 4 if curve.role == "mean" else 2, pixels)

    def _spot(self, curve: Curve, at: float, value: float) -> Spot:
        place = ", ".join(filter(None, (curve.label, self._place(at))))
        return Spot(at, value, _look(curve, at), f"{place}: {number(value, self.y.unit)}")

    def _place(self, at: float) -> str:
        return f"{self.x.label} {number(at, self.x.unit)}".strip()


def _color(curve: Curve) -> str:
    return COLORS["contrast" if curve.contrast else "seed"]


def _line(curve: Curve) -> dict[str, Any]:
    dashes: Any = (0, (4, 2)) if curve.contrast else "-"
    if curve.role == "other":
        return {"color": COLORS["muted"], "linewidth": 0.8, "alpha": 0.45, "zorder": 1}
    if curve.role == "mean":
        color = COLORS["contrast" if curve.contrast else "ink"]
        return {"color": color, "linewidth": 2 if curve.contrast else 1.6, "linestyle": dashes, "zorder": 4}
    return {"color": _color(curve), "linewidth": 1.2, "alpha": 0.5, "linestyle": dashes}


def _look(curve: Curve, at: float) -> Look:
    if curve.role == "other":
        return Look("o", 1, COLORS["muted"], alpha=0.45)
    if at == curve.ring:
        return Look("o", 8.5, _color(curve), 1.3, hollow=True)
    if curve.role == "mean":
        return Look("D", 4.6, COLORS["ink"], 1.0)
    return seed_look(3.4, curve.contrast)


def _mark(axes: Axes, mark: Mark, labelled: bool) -> None:
    add_level(axes, mark.value, zorder=2, **AGAINST)
    if labelled:
        axes.annotate(
            mark.label, (1, mark.value), xycoords=("axes fraction", "data"), xytext=(0, 5),
            textcoords="offset points", ha="right", va="bottom", fontsize=10.5, color=COLORS["ink"],
        )  # fmt: skip
