"""Curves over a number, such as the epoch or a distance: every seed a thin one, their mean a thick one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from seedbed.reporting.drawing.canvas import (
    BOTTOM,
    COLORS,
    MOST_VECTOR_MARKS,
    SMALL_WIDTH,
    WIDTH,
    canvas,
    padded,
    scale,
)
from seedbed.reporting.drawing.marks import Axis, Band, Key, Mark
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
        role: Whether it is one seed's, the mean over seeds, or another run's mean, which stands behind in grey.
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
        seeds: What a curve stands for, and what a contrasting one does.
        rings: What a ring stands for.
        small: Whether the panel is half as wide, as one of many.
    """

    curves: tuple[Curve, ...]
    x: Axis
    y: Axis
    mark: Mark | None = None
    band: Band | None = None
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
        return "; ".join(mark + [f"{curve.label}: {self._path(curve)}" for curve in own])

    def _path(self, curve: Curve) -> str:
        first, last = (number(curve.points[at][1], self.y.unit) for at in (0, -1))
        return f"from {first} to {last}" if len(curve.points) > 1 else first

    def legend(self) -> tuple[Key, ...]:
        """The marks that occur in it."""
        return tuple(self._legend())

    def _legend(self) -> Iterator[Key]:
        kinds = {(curve.role, curve.contrast) for curve in self.curves}
        for contrast, shape in ((False, "curve"), (True, "dashes")):
            if ("seed", contrast) in kinds:
                yield Key(shape, self.seeds[contrast])
        yield from (Key("average", "mean over seeds"),) if "mean" in {role for role, _ in kinds} else ()
        yield from (Key("other", "mean of another run"),) if "other" in {role for role, _ in kinds} else ()
        yield from (Key("ring", self.rings),) if any(curve.ring is not None for curve in self.curves) else ()
        yield from self.mark.legend() if self.mark else ()
        yield from (Key("band", self.band.words),) if self.band else ()
        if any(not self._has_place(point) for curve in self.curves for point in curve.points):
            yield Key("absent", "not above 0: in the table only, without a place on a logarithmic axis")

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
        scale(axes.xaxis, self.x, across, 10 if digits else 4)
        scale(axes.yaxis, self.y, up, 3 if self.small else 5)
        axes.set_xlim(*padded(across, self.x))
        axes.set_ylim(*padded([*up, *([self.mark.value] if self.mark else [])], self.y))
        axes.grid(axis="y", color=COLORS["rule"], linewidth=0.6, alpha=0.6)
        if self.x.label:
            axes.set_xlabel(self.x.label, fontsize=10.5, color=COLORS["muted"], labelpad=1)
        self._background(axes)
        pixels = len(points) > MOST_VECTOR_MARKS
        for curve in self.curves:
            self._curve(axes, curve, pixels)
        return figure

    def _background(self, axes: Axes) -> None:
        if self.band:
            axes.axvspan(self.band.low, self.band.high, color=COLORS["seed"], alpha=0.13, linewidth=0)
        if self.mark and math.isfinite(self.mark.value):
            _mark(axes, self.mark, labelled=not self.small)

    def _curve(self, axes: Axes, curve: Curve, pixels: bool) -> None:
        drawn = [point for point in curve.points if self._has_place(point)]
        if not drawn:
            return
        x, y = zip(*drawn, strict=True)
        axes.plot(x, y, gid=f"tip:{curve.label}", rasterized=pixels, **_line(curve))
        if curve.role != "seed" and len(drawn) > 1:
            return
        for at, value in drawn:
            if math.isfinite(value):
                tip = f"tip:{curve.label}, {self._place(at)}: {number(value, self.y.unit)}"
                axes.plot(
                    [at], [value], gid=tip, linestyle="none", clip_on=False, rasterized=pixels, **_point(curve, at)
                )

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


def _point(curve: Curve, at: float) -> dict[str, Any]:
    if curve.role == "other":
        return {"marker": ".", "markersize": 2, "color": COLORS["muted"], "alpha": 0.45}
    if at == curve.ring:
        edge = {"markeredgecolor": _color(curve), "markeredgewidth": 1.3}
        return {"marker": "o", "markersize": 8.5, "markerfacecolor": "none", **edge}
    if curve.role == "mean":
        return {"marker": "D", "markersize": 4.6, "color": COLORS["ink"], "zorder": 4}
    return {
        "marker": "^" if curve.contrast else "o",
        "markersize": 3.4,
        "color": _color(curve),
        "markeredgewidth": 0,
    }


def _mark(axes: Axes, mark: Mark, labelled: bool) -> None:
    axes.axhline(mark.value, color=COLORS["ink"], linewidth=1.1, linestyle=(0, (4, 3)), zorder=2)
    if labelled:
        axes.annotate(
            mark.label, (1, mark.value), xycoords=("axes fraction", "data"), xytext=(0, 5),
            textcoords="offset points", ha="right", va="bottom", fontsize=10.5, color=COLORS["ink"],
        )  # fmt: skip
