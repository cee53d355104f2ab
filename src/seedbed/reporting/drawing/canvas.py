"""The paper that panels are drawn on: its sizes, colours, axes, ticks and texts.

A panel is 360 pixels wide, so that it fills a phone and two fit side by side elsewhere; a small one is half as
wide. It holds marks, ticks and labels only; titles, captions and keys are text of the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from seedbed.reporting.numbers import PERCENT, power_of_ten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import Formatter, Locator
    from matplotlib.transforms import Transform

    from seedbed.reporting.drawing.marks import Axis, Shading

#: Colours by role. In the SVG each becomes a CSS variable of that name, which the style sheet sets for light and
#: dark; as they are here they suit rasterised marks in both. The two hues differ for every kind of colour sight.
COLORS = {
    "ink": "#4c5a61",
    "muted": "#7b868c",
    "rule": "#b9bdb6",
    "seed": "#1f8a78",
    "contrast": "#c9681f",
    "kind-3": "#3f6fb0",
    "kind-4": "#8a5aa8",
    "kind-5": "#8a7a1c",
    "kind-6": "#6b767b",
}

WIDTH = 360
SMALL_WIDTH = 180
ROW = 50
TOP = 22
BOTTOM = 26

#: A panel with more marks than this draws them as pixels: the page stays small.
MOST_VECTOR_MARKS = 2000

#: How many pixels a letter of a row's label or note takes.
LETTER = 5.6


@dataclass(frozen=True)
class Look:
    """How a mark looks.

    Attributes:
        marker: Its shape, as Matplotlib names it.
        size: Its size in points.
        color: The colour of its face, or of its strokes where it has no face.
        width: The width of its edge in points.
        alpha: Its opacity.
        hollow: Whether only its edge is drawn.
    """

    marker: str
    size: float
    color: str
    width: float = 0.0
    alpha: float = 1.0
    hollow: bool = False


@dataclass(frozen=True)
class Spot:
    """A mark: its place in numbers of the axes, its look, and its tooltip."""

    x: float
    y: float
    look: Look
    tip: str = ""


def seed_look(size: float, contrast: bool, alpha: float = 1.0) -> Look:
    """The mark of a seed: a dot, or a triangle in the contrasting colour."""
    return (
        Look("^", size, COLORS["contrast"], alpha=alpha)
        if contrast
        else Look("o", size, COLORS["seed"], alpha=alpha)
    )


#: The dashed line of what marks are read against.
AGAINST: dict[str, Any] = {"color": COLORS["ink"], "linewidth": 1.1, "linestyle": (0, (4, 3))}


def canvas(
    pixels: tuple[float, float], left: float, top: float = 0, bottom: float = BOTTOM
) -> tuple[Figure, Axes]:
    """A figure of a size in pixels (72 to an inch, as in SVG) and its axes, of which nothing is drawn."""
    from matplotlib.figure import Figure

    width, height = pixels
    figure = Figure(figsize=(width / 72, height / 72), dpi=72)
    size = ((width - left - 12) / width, (height - bottom - top) / height)
    axes = figure.add_axes((left / width, bottom / height, *size))
    axes.set_axis_off()
    return figure, axes


def padded(numbers: Iterable[float], axis: Axis) -> tuple[float, float]:
    """The ends of an axis that holds the numbers, or those that it has already."""
    if axis.limits:
        return axis.limits
    known = [value for value in numbers if math.isfinite(value) and (axis.scale == "linear" or value > 0)]
    if not known:
        return (1.0, 10.0) if axis.scale == "log" else (0.0, 1.0)
    if axis.scale == "log":
        pad = (max(known) / min(known)) ** 0.05
        pad = pad if pad > 1 else 2.0
        return min(known) / pad, max(known) * pad
    width = max(known) - min(known)
    pad = 0.05 * width or (0.5 if axis.unit == "count" else 0.05 * abs(max(known)) or 1.0)
    return min(known) - pad, max(known) + pad


def set_ends(axes: Axes, direction: Literal["x", "y"], axis: Axis, numbers: Sequence[float]) -> None:
    """Set the scale of an axis and its ends, which hold the numbers."""
    set_scale, set_limits = (
        (axes.set_xscale, axes.set_xlim) if direction == "x" else (axes.set_yscale, axes.set_ylim)
    )
    if axis.scale == "log":  # the other is there already, and setting it takes time
        set_scale(axis.scale)
    set_limits(*padded(numbers, axis))


def draw_x(axes: Axes, axis: Axis, numbers: Sequence[float], most: int, grid: bool = True) -> None:
    """Draw at most about ``most`` ticks below the axes, the lines above them, and the label."""
    for at, text in _ticks(axis, numbers, most, axes.get_xlim()):
        if grid:
            add_line(axes, (at, at), (0, 1), transform=axes.get_xaxis_transform(), clip_on=False, **_GRID)
        _outside(axes, (at, 0), (0, -5), text, axes.get_xaxis_transform(), ha="center", va="top")
    if axis.label:
        _outside(axes, (0.5, 0), (0, -18), axis.label, axes.transAxes, ha="center", va="top")


def draw_y(axes: Axes, axis: Axis, numbers: Sequence[float], most: int) -> None:
    """Draw at most about ``most`` ticks on the left of the axes, and the lines beside them."""
    for at, text in _ticks(axis, numbers, most, axes.get_ylim()):
        add_level(axes, at, **_GRID)
        _outside(axes, (0, at), (-5, 0), text, axes.get_yaxis_transform(), ha="right", va="center")


_GRID: dict[str, Any] = {"color": COLORS["rule"], "linewidth": 0.6, "alpha": 0.6, "zorder": 0.5}


def _outside(
    axes: Axes, at: tuple[float, float], away: tuple[float, float], text: str, place: Transform, **side: str
) -> None:
    """A small text outside the axes, some pixels away from a point."""
    from matplotlib.transforms import ScaledTranslation

    moved = place + ScaledTranslation(away[0] / 72, away[1] / 72, axes.figure.dpi_scale_trans)
    axes.text(*at, text, transform=moved, color=COLORS["muted"], fontsize=10.5, **side)  # type: ignore[arg-type]


def _ticks(
    axis: Axis, numbers: Sequence[float], most: int, ends: tuple[float, float]
) -> Iterator[tuple[float, str]]:
    """The places and labels of ticks between the ends; none where the axis shows no number."""
    if not numbers:
        return
    low, high = sorted(ends)
    slack = 1e-9 * (high - low)
    found = _locator(axis, numbers, most).tick_values(low, high)
    places = [float(at) for at in found if low - slack <= at <= high + slack]
    formatter = _formatter(axis)
    formatter.create_dummy_axis()
    formatter.axis.set_view_interval(low, high)  # type: ignore[union-attr]
    yield from zip(places, formatter.format_ticks(places), strict=True)


def _locator(axis: Axis, at: Sequence[float], most: int) -> Locator:
    from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator

    if axis.scale == "log":
        shown = sorted({value for value in at if value > 0})
        few = len(shown) <= 6
        return FixedLocator(shown) if few and axis.unit == "count" else LogLocator(numticks=most)
    whole = axis.unit == "count"
    return MaxNLocator(nbins=most, integer=whole, min_n_ticks=1 if whole else 2, steps=[1, 2, 2.5, 5, 10])


def _formatter(axis: Axis) -> Formatter:
    from matplotlib.ticker import FuncFormatter, ScalarFormatter

    if axis.unit == "share":
        return FuncFormatter(lambda value, _: f"{100 * value:.4g}{PERCENT}".replace("-", "−"))
    if axis.scale == "log":
        return FuncFormatter(lambda value, _: power_of_ten(value))
    plain = ScalarFormatter(useOffset=False)
    plain.set_powerlimits((-5, 6))
    return plain


def add_spots(axes: Axes, spots: Sequence[Spot], level: float, pixels: bool = False) -> None:
    """Draw marks on a level, as pixels where there are very many; what is beyond the axes is drawn too."""
    from seedbed.reporting.drawing.strokes import Spots

    if spots:
        axes.add_artist(Spots(spots, level, pixels))


def add_line(axes: Axes, xs: Sequence[float], ys: Sequence[float], tip: str = "", **style: Any) -> None:  # noqa: ANN401 - Matplotlib's own
    """Draw a line through points; it does not move the ends of the axes."""
    from matplotlib.lines import Line2D

    axes.add_artist(Line2D(xs, ys, gid=f"tip:{tip}" if tip else None, **style))


def add_box(axes: Axes, at: tuple[float, float], size: tuple[float, float], tip: str = "", **style: Any) -> None:  # noqa: ANN401 - Matplotlib's own
    """Draw a box from its first corner, without an edge where none is given."""
    from matplotlib.patches import Rectangle

    axes.add_artist(Rectangle(at, *size, gid=f"tip:{tip}" if tip else None, **{"linewidth": 0} | style))


def add_shade(axes: Axes, shading: Shading) -> None:
    """Shade a range of the first axis over the whole height."""
    style: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "facecolor": COLORS["seed"], "alpha": 0.13}
    add_box(axes, (shading.low, 0), (shading.high - shading.low, 1), **style)


def add_level(axes: Axes, y: float, **style: Any) -> None:  # noqa: ANN401 - Matplotlib's own
    """Draw a line across the whole panel."""
    add_line(axes, (0, 1), (y, y), transform=axes.get_yaxis_transform(), **{"clip_on": False} | style)


def row_text(
    axes: Axes, at: tuple[float, float], text: str, side: Literal["left", "right"], color: str, size: float
) -> None:
    """A text at a share of the width and at a row's own height."""
    place = axes.get_yaxis_transform()
    axes.text(*at, text, transform=place, ha=side, va="center", color=color, fontsize=size)


def row_label(axes: Axes, y: float, label: str, note: str, width: float) -> None:
    """A row's label on the left, shortened where it would reach the note on the right."""
    room = max(12, int(width / LETTER) - len(note))
    short = shortened(label, room)
    text = axes.text(
        0, y, short, transform=axes.get_yaxis_transform(), va="center", color=COLORS["ink"], fontsize=11.5
    )
    if short != label:
        text.set_gid(f"tip:{label}")
    row_text(axes, (1, y), note, "right", COLORS["muted"], 10.5)


def shortened(text: str, letters: int) -> str:
    """The text with as many letters, the last one an ellipsis where it had more."""
    return text if len(text) <= letters else text[: max(1, letters - 1)].rstrip() + "…"
