"""Patterns: rows of zeros and ones that were measured as text; one small panel for each run, shares over seeds."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from seedbed.reporting.drawing.patterns import Pattern
from seedbed.reporting.figures import Panel, PanelGroup
from seedbed.reporting.results import Measure, Results, ShownRun


def patterns(results: Results, measures: Iterable[Measure]) -> PanelGroup:
    """Measures whose observations are texts such as ``100 110 111``, one row for each output.

    The group has no measures, since its table would have no numbers: the texts are in the table of single numbers.
    """
    known = tuple(measures)
    runs = results.having(known)
    panels = [
        Panel(_title(results, run, known, one), _pattern(results, run, one))
        for run in runs
        for one in known
        if run in results.having([one])
    ]
    return PanelGroup(tuple(panels), runs, ())


def _title(results: Results, run: ShownRun, measures: Iterable[Measure], measure: Measure) -> str:
    """The run's label, with that of the measure where the run has several."""
    several = sum(run in results.having([one]) for one in measures) > 1
    return f"{run.label}, {measure.label}" if several else run.label


def _pattern(results: Results, run: ShownRun, measure: Measure) -> Pattern:
    texts = [cell.text for cell in results.readings(run, measure).values() if cell]
    shares = np.mean([[[float(digit) for digit in row] for row in text.split()] for text in texts], axis=0)
    return Pattern(tuple(map(tuple, shares.tolist())))
