"""What a page shows of a study, found by the study's name and not drawn yet.

A study's own file or package, ``reporting/studies/NAME``, decides what is shown; what it leaves out follows. It is
imported by name, so that a page depends on the figures of its own study and of no other.
"""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass, replace

from seedbed.reporting.figures import Figure, Headline, Part
from seedbed.reporting.others import few, other_figures
from seedbed.reporting.results import Measure, Results

#: Where the figures of studies are declared.
STUDIES = "seedbed.reporting.studies"


@dataclass(frozen=True)
class Section:
    """The figures of a study.

    Attributes:
        headline: Its result; none where no file declares one.
        parts: Its figures.
        others: What these do not show, folded away and without drawings, so that the page stays small.
        measures: Its rows in the table of variance across seeds.
        plain: Whether no file declares figures of it.
    """

    headline: Headline | None
    parts: tuple[Part, ...]
    others: tuple[Figure, ...]
    measures: tuple[Measure, ...]
    plain: bool = False

    @property
    def all_figures(self) -> tuple[Figure, ...]:
        """Its figures, that of the headline first and those folded away last."""
        headline = self.headline.figure if self.headline else None
        return ((headline,) if headline else ()) + self.declared + self.others

    @property
    def declared(self) -> tuple[Figure, ...]:
        """The figures of its parts."""
        return tuple(figure for part in self.parts for figure in part.figures)


def section_of(results: Results) -> Section:
    """Everything that the page of a study shows."""
    module = study_module(results.study.name)
    if module is None:
        others = other_figures(results, ())
        return Section(None, (Part(figures=others),), (), few(others), plain=True)
    parts = tuple(module.parts(results)) if results.study.runs else ()
    declared = Section(headline_of(results), parts, (), module.MEASURES)
    others = other_figures(results, declared.all_figures)
    return replace(declared, others=tuple(replace(one, panels=()) for one in others))


def headline_of(results: Results) -> Headline | None:
    """The result of a study; none where its file declares none."""
    module = study_module(results.study.name)
    return module.headline(results) if hasattr(module, "headline") else None


def measures_of(results: Results) -> tuple[Measure, ...]:
    """The measures of a study whose variance across seeds is shown."""
    module = study_module(results.study.name)
    measures: tuple[Measure, ...] = module.MEASURES if module else few(other_figures(results, ()))
    return measures


def study_module(study: str):  # type: ignore[no-untyped-def]  # noqa: ANN201 - a plug-in's module has the type Any
    """The module or package that declares the figures of a study; or none."""
    file = study.replace("-", "_")
    known = file.isidentifier() and importlib.util.find_spec(f"{STUDIES}.{file}")
    return importlib.import_module(f"{STUDIES}.{file}") if known else None
