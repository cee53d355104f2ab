"""Panels of figures as SVG: dots by run, and curves by epoch.

A panel is 360 pixels wide, so that it fills a phone and two stand side by side elsewhere; a small one is half as
wide. It holds marks, ticks and row labels only; titles, captions and keys are text of the page. Matplotlib is
imported on the first drawing, since that is slow; it draws without a display, and the same panel gives the same
bytes.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from xml.etree import ElementTree

from seedbed.reporting.numbers import PERCENT, number
from seedbed.reporting.tables import seed_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colours by role. In the SVG each becomes a CSS variable of that name, which the style sheet sets for light and
#: dark; as they stand here they suit rasterised marks in both. The two hues differ for every kind of colour sight.
COLORS = {"ink": "#4c5a61", "muted": "#7b868c", "rule": "#b9bdb6", "seed": "#1f8a78", "contrast": "#c9681f"}

WIDTH = 360
SMALL_WIDTH = 180
ROW = 50
LINE = 27  # where the dots of a row stand below its top
TOP = 22
BOTTOM = 26
CURVES_HEIGHT = 230
SMALL_HEIGHT = 140

#: A panel with more marks than this draws its dots as pixels: the page stays small.
MOST_VECTOR_MARKS = 2000

#: How many letters of a row's label and note fit beside each other.
MOST_LETTERS = 60

_SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "seedbed",
    "font.family": "DejaVu Sans",  # Matplotlib brings it, so it is never missing; the page sets its own
    "text.parse_math": False,  # labels are untrusted text: a $ in them is a $
    "axes.unicode_minus": True,
    "savefig.dpi": 216,
}


@dataclass(frozen=True)
class Span:
    """A horizontal line below a row's dots: an interval over seeds, or an error over items."""

    low: float
    high: float
    kind: Literal["seeds", "items"] = "seeds"


@dataclass(frozen=True)
class Group:
    """Seeds on a row that belong together.

    Attributes:
        values: Seed → value; those that are no finite number are not drawn: the row's note tells them.
        mean: Where the mean's mark stands; none without one.
        spans: The lines below the dots.
        contrast: Whether its marks are contrasting triangles instead of circles.
        hollow: Whether they are hollow, as those of a reference.
        crossed: Seeds drawn as crosses, since their training diverged.
    """

    values: Mapping[int | None, float | None]
    mean: float | None = None
    spans: tuple[Span, ...] = ()
    contrast: bool = False
    hollow: bool = False
    crossed: frozenset[int | None] = frozenset()


@dataclass(frozen=True)
class Row:
    """A row of dots.

    Attributes:
        label: What it shows; a run's name in words.
        note: Its numbers in words, on the right and in the alternative text.
        groups: Its dots.
    """

    label: str
    note: str
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class Mark:
    """A value that all rows or curves are read against, such as the exact floor."""

    value: float
    label: str


@dataclass(frozen=True)
class Dots:
    """Rows of dots over one axis.

    Attributes:
        rows: The rows.
        unit: The unit of the axis.
        mark: What all rows are read against.
        band: A range that is shaded behind all rows.
        limits: The ends of the axis; what lies beyond is an arrow at its edge. None: all that there is.
    """

    rows: tuple[Row, ...]
    unit: str
    mark: Mark | None = None
    band: tuple[float, float] | None = None
    limits: tuple[float, float] | None = None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.rows

    @property
    def beyond(self) -> bool:
        """Whether something lies beyond the axis."""
        low, high = self.limits or (-math.inf, math.inf)
        groups = (group for row in self.rows for group in row.groups)
        values = (value for group in groups for value in group.values.values() if value is not None)
        return any(math.isfinite(value) and not low <= value <= high for value in values)

    def words(self) -> str:
        """The panel read out."""
        rows = [f"{row.label}: {row.note}" for row in self.rows]
        return "; ".join(([self.mark.label] if self.mark and self.mark.label else []) + rows)


@dataclass(frozen=True)
class Curve:
    """One seed's curve, or the mean over seeds; ``ring`` is the position of its ringed point."""

    label: str
    points: tuple[tuple[float, float], ...]
    ring: float | None = None
    mean: bool = False


@dataclass(frozen=True)
class Curves:
    """Curves over epochs; ``limits`` are shared by the panels of a figure, of which many are ``small``."""

    curves: tuple[Curve, ...]
    unit: str
    mark: Mark | None = None
    limits: tuple[float, float] | None = None
    small: bool = False

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.curves

    def words(self) -> str:
        """The panel read out: where each curve starts and ends."""
        mark = [self.mark.label] if self.mark else []
        return "; ".join(mark + [f"{curve.label}: {self._path(curve)}" for curve in self.curves])

    def _path(self, curve: Curve) -> str:
        first, last = (number(curve.points[at][1], self.unit) for at in (0, -1))
        return f"from {first} to {last}"


def draw(panel: Dots | Curves, prefix: str, title: str) -> str:
    """The panel as an ``<svg>`` element for the page.

    Args:
        panel: What to draw.
        prefix: Starts every id inside, so that the panels of a page do not share any.
        title: Opens the alternative text.
    """
    import matplotlib.style

    with matplotlib.style.context(["default", _SETTINGS]):
        figure = _dots(panel) if isinstance(panel, Dots) else _curves(panel)
        return _element(_legal(_svg(figure)), prefix, _legal(f"{title}. {panel.words()}."))


def _svg(figure: Figure) -> str:
    import warnings

    text = io.StringIO()
    with warnings.catch_warnings():
        # Labels may hold letters that Matplotlib's font lacks; the reader's browser has them.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return text.getvalue()


# --- dots


def _dots(panel: Dots) -> Figure:
    numbers = _drawn(panel)
    figure, axes = _axes((WIDTH, TOP + ROW * max(1, len(panel.rows)) + BOTTOM), left=12)
    axes.set_ylim(ROW * max(1, len(panel.rows)), -TOP)
    axes.set_xlim(*(panel.limits or _padded(numbers)))
    _ticks(axes, axes.xaxis, panel.unit, bool(numbers))
    axes.grid(axis="x", color=COLORS["rule"], linewidth=0.6, alpha=0.6)
    if panel.band:
        axes.axvspan(*panel.band, color=COLORS["seed"], alpha=0.13, linewidth=0)
    if panel.mark and math.isfinite(panel.mark.value):
        _vertical_mark(axes, panel.mark)
    pixels = sum(len(group.values) for row in panel.rows for group in row.groups) > MOST_VECTOR_MARKS
    for index, row in enumerate(panel.rows):
        _row(axes, row, index * ROW, panel.unit, pixels)
    return figure


def _drawn(panel: Dots) -> list[float]:
    """Every finite number that the panel has to show."""
    groups = [group for row in panel.rows for group in row.groups]
    numbers = [value for group in groups for value in group.values.values() if value is not None]
    numbers += [end for group in groups for span in group.spans for end in (span.low, span.high)]
    numbers += [*([panel.mark.value] if panel.mark else []), *(panel.band or ())]
    return [value for value in numbers if math.isfinite(value)]


def _padded(numbers: list[float]) -> tuple[float, float]:
    if not numbers:
        return 0.0, 1.0
    low, high = min(numbers), max(numbers)
    pad = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return low - pad, high + pad


def _row(axes: Axes, row: Row, top: float, unit: str, pixels: bool) -> None:
    room = max(12, MOST_LETTERS - len(row.note))
    label = _shortened(row.label, room)
    _text(
        axes, (0, top + 12), label, "left", COLORS["ink"], 11.5, f"tip:{row.label}" if label != row.label else ""
    )
    _text(axes, (1, top + 12), row.note, "right", COLORS["muted"], 10.5)
    axes.axhline(top + LINE, color=COLORS["rule"], linewidth=0.8, zorder=1)
    for group in row.groups:
        _group(axes, group, top, unit, pixels)


def _group(axes: Axes, group: Group, top: float, unit: str, pixels: bool) -> None:
    """Dots on the row's line, intervals and means below it."""
    low, high = axes.get_xlim()
    for seed, value in group.values.items():
        if value is not None and math.isfinite(value):
            words: dict[str, Any] = {
                "gid": f"tip:{seed_words(seed)}: {number(value, unit)}",
                "rasterized": pixels,
                "zorder": 3,
            }
            style = _marker(group, seed) if low <= value <= high else _arrow(value > high)
            axes.plot([min(max(value, low), high)], [top + LINE], **words, **style)
    for index, span in enumerate(group.spans):
        if math.isfinite(span.low) and math.isfinite(span.high):
            _span(axes, span, top + LINE + 11 + 6 * index)
    if group.mean is not None and low <= group.mean <= high:
        axes.plot([group.mean], [top + LINE + 11], marker="D", markersize=4.6, color=COLORS["ink"], zorder=4)


def _marker(group: Group, seed: int | None) -> dict[str, Any]:
    if seed in group.crossed:
        return {"marker": "x", "markersize": 7, "markeredgewidth": 1.8, "color": COLORS["contrast"]}
    shape, color = ("^", "contrast") if group.contrast else ("o", "seed")
    if group.hollow:
        edge = {"markeredgecolor": COLORS[color if group.contrast else "ink"], "markeredgewidth": 1.5}
        return {"marker": shape if group.contrast else "D", "markersize": 7, "markerfacecolor": "none", **edge}
    return {"marker": shape, "markersize": 7.5, "markeredgewidth": 0, "color": COLORS[color], "alpha": 0.62}


def _arrow(right: bool) -> dict[str, Any]:
    """What lies beyond the axis, at its edge."""
    return {"marker": ">" if right else "<", "markersize": 7, "color": COLORS["ink"], "clip_on": False}


def _span(axes: Axes, span: Span, y: float) -> None:
    if span.kind == "items":
        axes.plot([span.low, span.high], [y, y], color=COLORS["contrast"], linewidth=1.6, linestyle=(0, (3, 2)))
        return
    axes.plot([span.low, span.high], [y, y], color=COLORS["ink"], linewidth=1.5, zorder=2)
    axes.plot([span.low, span.high], [y, y], "|", color=COLORS["ink"], markersize=6, markeredgewidth=1.2)


def _vertical_mark(axes: Axes, mark: Mark) -> None:
    axes.axvline(mark.value, ymax=0.985, color=COLORS["ink"], linewidth=1.1, linestyle=(0, (4, 3)), zorder=2)
    low, high = axes.get_xlim()
    side = "left" if mark.value < (low + high) / 2 else "right"
    offset = 5 if side == "left" else -5
    axes.annotate(
        mark.label, (mark.value, -TOP + 10), xytext=(offset, 0), textcoords="offset points", ha=side,
        va="center", fontsize=10.5, color=COLORS["ink"],
    )  # fmt: skip


# --- curves


def _curves(panel: Curves) -> Figure:
    points = [point for curve in panel.curves for point in curve.points if math.isfinite(point[1])]
    size = (SMALL_WIDTH, SMALL_HEIGHT) if panel.small else (WIDTH, CURVES_HEIGHT)
    figure, axes = _axes(size, left=34 if panel.small else 46, top=8)
    low, high = panel.limits or _padded([y for _, y in points] + ([panel.mark.value] if panel.mark else []))
    axes.set_ylim(low, high)
    axes.set_xlim(*_padded([x for x, _ in points]))
    _ticks(axes, axes.xaxis, "count", bool(points))
    _ticks(axes, axes.yaxis, panel.unit, bool(points))
    axes.grid(axis="y", color=COLORS["rule"], linewidth=0.6, alpha=0.6)
    if panel.mark and math.isfinite(panel.mark.value):
        _horizontal_mark(axes, panel.mark, not panel.small)
    pixels = len(points) > MOST_VECTOR_MARKS
    for curve in panel.curves:
        _curve(axes, curve, panel.unit, pixels)
    return figure


def _curve(axes: Axes, curve: Curve, unit: str, pixels: bool) -> None:
    x, y = zip(*curve.points, strict=True)
    if curve.mean:
        axes.plot(x, y, color=COLORS["ink"], linewidth=1.1, gid=f"tip:{curve.label}", zorder=4)
        return
    color = COLORS["seed"]
    axes.plot(x, y, color=color, linewidth=1.3, alpha=0.55, gid=f"tip:{curve.label}", rasterized=pixels)
    for at, value in curve.points:
        if math.isfinite(value):
            style = _ring(color) if at == curve.ring else {"markersize": 3.4, "color": color, "markeredgewidth": 0}
            tip = f"tip:{curve.label}, epoch {at:g}: {number(value, unit)}"
            axes.plot([at], [value], "o", gid=tip, rasterized=pixels, **style)


def _ring(color: str) -> dict[str, Any]:
    return {"markersize": 8.5, "markerfacecolor": "none", "markeredgecolor": color, "markeredgewidth": 1.3}


def _horizontal_mark(axes: Axes, mark: Mark, labelled: bool) -> None:
    axes.axhline(mark.value, color=COLORS["ink"], linewidth=1.1, linestyle=(0, (4, 3)), zorder=2)
    if not labelled:
        return
    axes.annotate(
        mark.label, (1, mark.value), xycoords=("axes fraction", "data"), xytext=(0, 5), textcoords="offset points",
        ha="right", va="bottom", fontsize=10.5, color=COLORS["ink"],
    )  # fmt: skip


# --- both


def _axes(pixels: tuple[float, float], left: float, top: float = 0) -> tuple[Figure, Axes]:
    """A figure of so many pixels (of which 72 make an inch, as in SVG) and its frameless axes."""
    from matplotlib.figure import Figure

    width, height = pixels
    figure = Figure(figsize=(width / 72, height / 72))
    size = ((width - left - 12) / width, (height - BOTTOM - top) / height)
    axes = figure.add_axes((left / width, BOTTOM / height, *size))
    axes.spines[:].set_visible(False)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=10.5, labelcolor=COLORS["muted"], pad=5)
    axes.yaxis.set_ticks([])
    return figure, axes


def _ticks(axes: Axes, axis: object, unit: str, any_number: bool) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator, ScalarFormatter

    whole = unit == "count"
    few = axes.get_figure(root=True).get_figwidth() * 72 <= SMALL_WIDTH  # type: ignore[union-attr]
    plain = ScalarFormatter(useOffset=False)
    plain.set_powerlimits((-5, 6))
    percent = FuncFormatter(lambda value, _: f"{100 * value:.4g}{PERCENT}".replace("-", "−"))
    axis.set_major_locator(  # type: ignore[attr-defined]
        MaxNLocator(nbins=10 if whole else 3 if few else 5, integer=whole, steps=[1, 2, 2.5, 5, 10])
        if any_number
        else NullLocator()
    )
    axis.set_major_formatter(percent if unit == "share" else plain)  # type: ignore[attr-defined]


def _text(
    axes: Axes,
    at: tuple[float, float],
    text: str,
    side: Literal["left", "right"],
    color: str,
    size: float,
    tip: str = "",
) -> None:
    place = axes.get_yaxis_transform()
    axes.text(*at, text, transform=place, ha=side, va="center", color=color, fontsize=size, gid=tip or None)


def _shortened(text: str, letters: int) -> str:
    return text if len(text) <= letters else text[: letters - 1].rstrip() + "…"


# --- from Matplotlib's file to an element of the page


def _element(svg: str, prefix: str, alt: str) -> str:
    """Matplotlib's file as an element: no name spaces, no addresses, ids of its own, colours as CSS variables."""
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in [child for child in parent if _local(child.tag) in ("metadata", "style")]:
            parent.remove(child)
    for element in list(root.iter()):
        element.tag = _local(element.tag)
        element.attrib = {_local(key): _own(value, prefix) for key, value in element.attrib.items()}
        _identify(element, prefix)
        element.tail = None
        element.text = element.text if element.tag in ("text", "title") else None
    box = {"viewBox": root.attrib["viewBox"], "class": "panel", "role": "img", "aria-label": alt}
    root.attrib = box
    text = ElementTree.tostring(root, encoding="unicode")
    for role, color in COLORS.items():
        text = text.replace(color, f"var(--{role})")
    return text


def _legal(text: str) -> str:
    """The text without the control characters that XML cannot hold."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "\N{REPLACEMENT CHARACTER}", text)


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _own(value: str, prefix: str) -> str:
    """An attribute with its references prefixed, its line breaks gone and its font left to the page."""
    value = re.sub(r"font-family: [^;]*;?\s*", "", value)
    value = re.sub(r"^#(?=[mp][0-9a-f]{10}$)", f"#{prefix}-", value.replace("\n", ""))
    return re.sub(r"url\(#", f"url(#{prefix}-", value)


def _identify(element: ElementTree.Element, prefix: str) -> None:
    """A mark's words become its tooltip; ids that something refers to are prefixed, the rest go."""
    name = element.attrib.pop("id", "")
    if name.startswith("tip:"):
        title = ElementTree.Element("title")
        title.text = name.removeprefix("tip:")
        element.insert(0, title)
    elif element.tag in ("clipPath", "path") and name:
        element.set("id", f"{prefix}-{name}")
