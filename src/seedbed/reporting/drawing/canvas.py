"""The paper that panels are drawn on: its sizes, colours, axes, ticks and texts.

A panel is 360 pixels wide, so that it fills a phone and two stand side by side elsewhere; a small one is half as
wide. It holds marks, ticks and labels only; titles, captions and keys are text of the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from seedbed.reporting.numbers import PERCENT, power_of_ten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis as Scale
    from matplotlib.figure import Figure
    from matplotlib.ticker import Formatter, Locator

    from seedbed.reporting.drawing.marks import Axis

#: Colours by role. In the SVG each becomes a CSS variable of that name, which the style sheet sets for light and
#: dark; as they stand here they suit rasterised marks in both. The two hues differ for every kind of colour sight.
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


def canvas(
    pixels: tuple[float, float], left: float, top: float = 0, bottom: float = BOTTOM
) -> tuple[Figure, Axes]:
    """A figure of so many pixels (of which 72 make an inch, as in SVG) and its frameless axes."""
    from matplotlib.figure import Figure

    width, height = pixels
    figure = Figure(figsize=(width / 72, height / 72))
    size = ((width - left - 12) / width, (height - bottom - top) / height)
    axes = figure.add_axes((left / width, bottom / height, *size))
    axes.spines[:].set_visible(False)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", length=0, labelsize=10.5, labelcolor=COLORS["muted"], pad=5)
    axes.yaxis.set_ticks([])
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


def scale(one: Scale, axis: Axis, at: Sequence[float], most: int) -> None:
    """Set an axis's scale and at most about ``most`` ticks; ``at`` are the numbers that it shows."""
    from matplotlib.ticker import NullLocator

    (one.axes.set_xscale if one is one.axes.xaxis else one.axes.set_yscale)(axis.scale)
    one.set_major_locator(_locator(axis, at, most) if at else NullLocator())
    one.set_minor_locator(NullLocator())
    one.set_major_formatter(_formatter(axis))


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
