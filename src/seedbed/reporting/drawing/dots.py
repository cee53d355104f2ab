"""Rows of dots over one axis: a dot for each seed, the mean and its interval below, or a bar up to the mean."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from seedbed.reporting.drawing.canvas import (
    AGAINST,
    BOTTOM,
    COLORS,
    MOST_VECTOR_MARKS,
    ROW,
    SMALL_WIDTH,
    TOP,
    WIDTH,
    Look,
    Spot,
    add_box,
    add_level,
    add_line,
    add_shade,
    add_spots,
    canvas,
    draw_x,
    row_label,
    seed_look,
    set_ends,
)
from seedbed.reporting.drawing.marks import Axis, Key, Mark, Shading, seed_keys
from seedbed.reporting.numbers import number
from seedbed.reporting.tables import seed_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE = 27  # the dots of a row, in pixels below its top
MEAN = LINE + 11  # their mean

#: Kind of a span → what the key says of it.
SPANS = {
    "interval": "mean and 95 % interval",
    "deviation": "± one standard deviation of the seeds",
    "items": "± one standard error of the test set",
}


@dataclass(frozen=True)
class Span:
    """A horizontal line below a row's dots.

    Attributes:
        low: Its left end.
        high: Its right end.
        kind: What it is: a key of `SPANS`.
    """

    low: float
    high: float
    kind: Literal["interval", "deviation", "items"] = "interval"

    @property
    def finite(self) -> bool:
        """Whether it has two ends."""
        return math.isfinite(self.low) and math.isfinite(self.high)


@dataclass(frozen=True)
class Group:
    """Seeds on a row that belong together.

    Attributes:
        values: Seed → value; values that are not finite are not drawn, but are in the row's note.
        mean: The place of the mean's mark; none without one.
        spans: The lines below the dots.
        contrast: Whether its marks are contrasting triangles instead of circles.
        hollow: Whether they are hollow, as those of a reference.
        crossed: Seeds drawn as crosses, since their training diverged.
        bar: Whether a bar leads from 0 to the mean.
    """

    values: Mapping[int | None, float | None]
    mean: float | None = None
    spans: tuple[Span, ...] = ()
    contrast: bool = False
    hollow: bool = False
    crossed: frozenset[int | None] = frozenset()
    bar: bool = False

    @property
    def numbers(self) -> list[float]:
        """The values that are drawn."""
        return [value for value in self.values.values() if value is not None and math.isfinite(value)]


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
class Dots:
    """Rows of dots over one axis.

    Attributes:
        rows: The rows.
        unit: The unit of the axis.
        mark: What all rows are read against.
        band: A range that is shaded behind all rows.
        limits: The ends of the axis; what lies beyond is an arrow at its edge. None: all that there is.
        seeds: What a dot means, and what a triangle means.
        small: Whether it is half as wide, as one of many.
    """

    rows: tuple[Row, ...]
    unit: str
    mark: Mark | None = None
    band: Shading | None = None
    limits: tuple[float, float] | None = None
    seeds: tuple[str, str] = ("one seed", "one seed")
    small: bool = False

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.rows

    @property
    def groups(self) -> list[Group]:
        """The groups of all rows."""
        return [group for row in self.rows for group in row.groups]

    @property
    def beyond(self) -> bool:
        """Whether something lies beyond the axis."""
        low, high = self.limits or (-math.inf, math.inf)
        return any(not low <= value <= high for group in self.groups for value in group.numbers)

    def words(self) -> str:
        """The panel read out."""
        rows = [f"{row.label}: {row.note}" for row in self.rows]
        return "; ".join(([self.mark.label] if self.mark and self.mark.label else []) + rows)

    def legend(self) -> tuple[Key, ...]:
        """The marks that occur in it."""
        return tuple(dict.fromkeys(self._legend()))

    def _legend(self) -> Iterator[Key]:
        dots = [group for group in self.groups if not group.hollow]
        yield from seed_keys(("dot", "triangle"), self.seeds, {group.contrast for group in dots if group.numbers})
        spans = [span for group in dots for span in group.spans if span.finite]
        yield from (Key(kind, words) for kind, words in SPANS.items() if any(span.kind == kind for span in spans))
        yield from self.mark.legend() if self.mark else ()
        yield from self.band.legend() if self.band else ()
        hollow = [group for group in self.groups if group.hollow and group.numbers]
        if any(group.contrast for group in hollow):
            yield Key("hollows", "the same of a run without seeds")
        elif hollow:
            yield Key("hollow", "a run without seeds")
        yield from (Key("cross", "a seed whose training diverged"),) if any(g.crossed for g in dots) else ()
        yield from (Key("beyond", "beyond the axis"),) if self.beyond else ()

    def figure(self) -> Figure:
        """The panel drawn."""
        height = ROW * max(1, len(self.rows))
        width = SMALL_WIDTH if self.small else WIDTH
        figure, axes = canvas((width, TOP + height + BOTTOM), left=12)
        axes.set_ylim(height, -TOP)
        numbers, axis = self._drawn(), Axis(self.unit, limits=self.limits)
        set_ends(axes, "x", axis, numbers)
        draw_x(axes, axis, numbers, 3 if self.small else 5)
        self._background(axes)
        pixels = sum(len(group.numbers) for group in self.groups) > MOST_VECTOR_MARKS
        for index, row in enumerate(self.rows):
            top = index * ROW
            row_label(axes, top + 12, row.label, row.note, width - 24)
            add_level(axes, top + LINE, color=COLORS["rule"], linewidth=0.8, zorder=1, clip_on=False)
            for group in row.groups:
                _group(axes, group, top, self.unit, pixels)
        return figure

    def _drawn(self) -> list[float]:
        """Every finite number that the panel has to show."""
        numbers = [value for group in self.groups for value in group.numbers]
        numbers += [end for group in self.groups for span in group.spans for end in (span.low, span.high)]
        numbers += [self.mark.value] if self.mark else []
        numbers += [self.band.low, self.band.high] if self.band else []
        numbers += [0.0] if any(group.bar for group in self.groups) else []
        return [value for value in numbers if math.isfinite(value)]

    def _background(self, axes: Axes) -> None:
        if self.band:
            add_shade(axes, self.band)
        if self.mark and math.isfinite(self.mark.value):
            _mark(axes, self.mark, len(self.rows))


def _mark(axes: Axes, mark: Mark, rows: int) -> None:
    """A line at the mark in every row, which leaves out the rows' words, and its label above them."""
    for index in range(rows):
        ends = (index * ROW + LINE - 6, index * ROW + MEAN + 7)
        add_line(axes, (mark.value, mark.value), ends, zorder=2, clip_on=False, **AGAINST)
    low, high = axes.get_xlim()
    side: Literal["left", "right"] = "left" if mark.value < (low + high) / 2 else "right"
    axes.annotate(
        mark.label, (mark.value, -TOP + 10), xytext=(-4 if side == "left" else 4, 0), textcoords="offset points",
        ha=side, va="center", fontsize=10.5, color=COLORS["ink"],
    )  # fmt: skip


def _group(axes: Axes, group: Group, top: float, unit: str, pixels: bool) -> None:
    """Dots on the row's line, intervals and means below it; those of contrasting seeds are lower still."""
    below, color = top + MEAN + 6 * group.contrast, COLORS["contrast" if group.contrast else "ink"]
    low, high = axes.get_xlim()
    if group.bar and group.mean is not None and math.isfinite(group.mean):
        bar: dict[str, Any] = {"facecolor": COLORS["seed"], "alpha": 0.22, "zorder": 1.5}
        add_box(axes, (0, top + LINE - 8), (group.mean, 16), **bar)
    spots = []
    for seed, value in group.values.items():
        if value is not None and math.isfinite(value):
            look = _look(group, seed) if low <= value <= high else _arrow(value > high)
            tip = f"{seed_words(seed)}: {number(value, unit)}"
            spots.append(Spot(min(max(value, low), high), top + LINE, look, tip))
    add_spots(axes, spots, 3, pixels)
    for index, span in enumerate(group.spans):
        if span.finite:
            _span(axes, span, below + 6 * index, color)
    if group.mean is not None and low <= group.mean <= high:
        add_spots(axes, [Spot(group.mean, below, Look("D", 4.6, color, 1.0))], 4)


def _look(group: Group, seed: int | None) -> Look:
    if seed in group.crossed:
        return Look("x", 7, COLORS["contrast"], 1.8)
    if group.hollow:
        return Look(
            "^" if group.contrast else "D", 7, COLORS["contrast" if group.contrast else "ink"], 1.5, hollow=True
        )
    return seed_look(7.5, group.contrast, 0.62)


def _arrow(right: bool) -> Look:
    """What lies beyond the axis, at its edge."""
    return Look(">" if right else "<", 7, COLORS["ink"])


def _span(axes: Axes, span: Span, y: float, color: str) -> None:
    ends = (span.low, span.high)
    if span.kind == "items":
        add_line(axes, ends, (y, y), color=COLORS["contrast"], linewidth=1.6, linestyle=(0, (3, 2)))
        return
    add_line(axes, ends, (y, y), color=color, linewidth=1.5, zorder=2)
    add_spots(axes, [Spot(end, y, Look("|", 6, color, 1.2)) for end in (span.low, span.high)], 2)
