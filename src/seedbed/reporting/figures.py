"""What a study hands to the page: a headline, and figures in parts.

A figure is made of groups of panels (the functions of ``reporting/panels/``). Its key, its table, and which claims
lead to it follow from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from seedbed.observations import condition_text
from seedbed.reporting.drawing.marks import Drawing, Key
from seedbed.reporting.results import Measure, Results, ShownRun
from seedbed.reporting.tables import NONE, Column, Table, Value


@dataclass(frozen=True)
class Panel:
    """A drawing under a title."""

    title: str
    drawing: Drawing


@dataclass(frozen=True)
class PanelGroup:
    """Panels, and the runs and measures that they show."""

    panels: tuple[Panel, ...]
    runs: tuple[ShownRun, ...]
    measures: tuple[Measure, ...]


@dataclass(frozen=True)
class Figure:
    """A figure, titled by the question that it answers.

    Attributes:
        name: Its name within the study.
        question: The question.
        answer: What the numbers say; ``[[word]]`` links the glossary.
        panels: Its drawings.
        table: Every number that it shows.
        measures: What it shows, so that claims about it lead here.
    """

    name: str
    question: str
    answer: str
    panels: tuple[Panel, ...]
    table: Table
    measures: tuple[Measure, ...] = ()

    @property
    def grids(self) -> list[tuple[bool, list[Panel]]]:
        """Its panels in order, those of one size together: whether they are small, and the panels."""
        drawn = [panel for panel in self.panels if not panel.drawing.empty]
        return [(small, list(panels)) for small, panels in groupby(drawn, lambda panel: panel.drawing.small)]

    @property
    def keys(self) -> tuple[Key, ...]:
        """The marks that occur in its panels."""
        return tuple(dict.fromkeys(key for panel in self.panels for key in panel.drawing.legend()))

    def shows(self, metric: str, condition: str) -> bool:
        """Whether it shows a metric under a condition."""
        return (metric, condition) in self._shown

    @cached_property
    def _shown(self) -> frozenset[tuple[str, str]]:
        """Its measures as they are asked for: by every observation of a study, so that they are spelt out once."""
        return frozenset((one.metric, condition_text(one.condition)) for one in self.measures)


def figure(
    results: Results, name: str, question: str, answer: str, *groups: PanelGroup, also: Iterable[Measure] = ()
) -> Figure:
    """A figure of groups of panels, with a table of every seed of all that they show.

    Args:
        results: The study's results.
        name: The figure's name within the study: part of its address and of its table's file.
        question: Its title.
        answer: What the numbers say, as far as possible by numbers that are computed here.
        groups: What it is made of.
        also: Measures that only the table shows.
    """
    runs = tuple(dict.fromkeys(run for group in groups for run in group.runs))
    measures = unique([*(measure for group in groups for measure in group.measures), *also])
    table = seeds_table(results, name, runs, measures)
    panels = tuple(panel for group in groups for panel in group.panels)
    results.lookups.assign(f"figure {name}")
    return Figure(name, question, answer, panels, table, measures)


@dataclass(frozen=True)
class Part:
    """Some figures of a study under a heading of their own.

    Attributes:
        title: The heading; a part without one follows the study's runs.
        text: The text below the heading; ``[[word]]`` links the glossary.
        figures: The figures.
    """

    title: str = ""
    text: str = ""
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class Fact:
    """A number of the headline, as text, and what it is."""

    number: str
    words: str


@dataclass(frozen=True)
class Headline:
    """A study's result in a sentence, the numbers that carry it, and the figure that shows it.

    ``menu`` is what the list of sections calls that figure.
    """

    sentence: str
    facts: tuple[Fact, ...] = ()
    figure: Figure | None = None
    menu: str = ""


def seeds_table(results: Results, name: str, runs: Iterable[ShownRun], measures: Sequence[Measure]) -> Table:
    """A row for each run and seed, a column for each measure."""
    columns = (
        Column("run", "run"),
        Column("seed", "seed", "count"),
        *(Column(measure.key, measure.label, measure.unit) for measure in measures),
    )
    rows: list[tuple[Value, ...]] = []
    for run in runs:
        values = [results.values(run, measure) for measure in measures]
        for seed in run.seeds if run.kind == "trained" else (None,):
            cells = (_seed_value(run, one[seed], measure) for one, measure in zip(values, measures, strict=True))
            rows.append((run.name, NONE if seed is None else seed, *cells))
    return Table(f"{results.study.name}-{name}", columns, tuple(rows))


def _seed_value(run: ShownRun, value: float | None, measure: Measure) -> Value:
    return NONE if measure.training and run.kind == "reference" else value


def unique(measures: Iterable[Measure]) -> tuple[Measure, ...]:
    """The measures, each key once."""
    return tuple({measure.key: measure for measure in measures}.values())
