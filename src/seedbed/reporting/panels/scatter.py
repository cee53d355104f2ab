"""Points: two measures against each other; a small panel for each run, a point for each place of each seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from seedbed.observations import Scalar
from seedbed.reporting.drawing.canvas import padded
from seedbed.reporting.drawing.marks import Axis, Mark
from seedbed.reporting.drawing.points import Point, Points
from seedbed.reporting.figures import Panel, PanelGroup
from seedbed.reporting.results import Measure, Results, ShownRun, condition_words, rank
from seedbed.reporting.sentences import mark
from seedbed.reporting.tables import seed_words

#: The values of the conditions → the two measures there.
Pairs = Mapping[tuple[Scalar, ...], tuple[Measure, Measure]]


def scatter(
    results: Results,
    measures: tuple[Measure, Measure],
    over: Sequence[str],
    kinds: tuple[str, str],
    runs: Iterable[ShownRun] | None = None,
    line: Measure | None = None,
) -> PanelGroup:
    """One measure on the horizontal and one on the vertical axis, wherever both were measured.

    Args:
        results: The study's results.
        measures: Those of the two axes, horizontal first; their conditions are kept, their labels name the axes.
        over: The further condition keys, such as layer and head, whose values are the points.
        kinds: What a dot means (the lowest value of the first key), and what a triangle means (the others).
        runs: The panels; none: every run that has both.
        line: A measure whose mean is a line on the vertical axis, for each run.
    """
    places = _places(results, measures, over)
    chosen = _having(results, places) if runs is None else tuple(runs)
    points = {run: tuple(_points(results, run, places, over)) for run in chosen}
    lines = {run: mark(results.mean(run, line), line.unit, line.label) if line else None for run in chosen}
    x, y = _axes(measures, [one for found in points.values() for one in found], lines.values())
    panels = tuple(Panel(run.label, Points(points[run], x, y, kinds, lines[run])) for run in chosen)
    shown = [pair[at] for at in (0, 1) for pair in places.values()]
    return PanelGroup(panels, chosen, (*shown, *([line] if line else [])))


def _places(results: Results, measures: tuple[Measure, Measure], over: Sequence[str]) -> Pairs:
    across, up = (results.over(measure, *over) for measure in measures)
    return {at: (one, up[at]) for at, one in across.items() if at in up}


def _having(results: Results, places: Pairs) -> tuple[ShownRun, ...]:
    across, up = (results.having(pair[at] for pair in places.values()) for at in (0, 1))
    return tuple(run for run in across if run in up)


def _points(results: Results, run: ShownRun, places: Pairs, over: Sequence[str]) -> Iterator[Point]:
    """A point for each place and seed that has both numbers."""
    first = min((at[0] for at in places), key=rank, default=None)
    for at, pair in places.items():
        across, up = (results.values(run, one) for one in pair)
        words = condition_words(dict(zip(over, at, strict=True)))
        for seed, x in across.items():
            y = up[seed]
            if x is not None and y is not None:
                yield Point(f"{seed_words(seed)}, {words}", x, y, contrast=at[0] != first)


def _axes(
    measures: tuple[Measure, Measure], points: Sequence[Point], lines: Iterable[Mark | None]
) -> tuple[Axis, Axis]:
    """The two axes that all panels share."""
    across, up = (Axis(measure.unit, measure.label) for measure in measures)
    known = [line.value for line in lines if line]
    return (
        Axis(across.unit, across.label, limits=padded((one.x for one in points), across)),
        Axis(up.unit, up.label, limits=padded([*(one.y for one in points), *known], up)),
    )
