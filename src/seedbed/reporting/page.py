"""The page: one HTML file from the one table, and nothing else.

Pure: tables and templates in, text out; the same tables give the same bytes, in whatever order their rows are.
Text from tables is untrusted and escaped by the templates; only drawings and glossary links enter as markup.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

import jinja2
import pandas as pd
import yaml
from markupsafe import Markup, escape

from seedbed.reporting import claims
from seedbed.reporting.claims import Judged, Places
from seedbed.reporting.drawing.svg import draw
from seedbed.reporting.figures import Figure, Headline, Panel, Part
from seedbed.reporting.numbers import number
from seedbed.reporting.others import few, other_figures
from seedbed.reporting.reference import reference_section
from seedbed.reporting.results import Measure, Results, Study
from seedbed.reporting.summaries import cost_table, runs_table, variance_table
from seedbed.reporting.tables import SIGNS, Table, anchor
from seedbed.statistics.comparison import ComparedItem
from seedbed.statistics.floors import FloorViolation, Row, floor_violations


@dataclass(frozen=True)
class Section:
    """A study with everything that the page shows of it.

    Attributes:
        study: The study.
        headline: Its result; none where its file declares none.
        parts: Its figures.
        others: What these do not show, folded away and without drawings, so that the page stays small.
        runs: The table of its runs.
        measures: Its rows in the table of variance across seeds.
        plain: Whether no file declares figures of it.
        below: Its numbers that no honest run can have.
    """

    study: Study
    headline: Headline | None
    parts: tuple[Part, ...]
    others: tuple[Figure, ...]
    runs: Table
    measures: tuple[Measure, ...]
    plain: bool = False
    below: tuple[FloorViolation, ...] = ()

    @property
    def all_figures(self) -> tuple[Figure, ...]:
        """Its figures, that of the headline first and those folded away last."""
        headline = self.headline.figure if self.headline else None
        return ((headline,) if headline else ()) + self.declared + self.others

    @property
    def declared(self) -> tuple[Figure, ...]:
        """The figures of its parts."""
        return tuple(figure for part in self.parts for figure in part.figures)


def build(
    observations: pd.DataFrame,
    timings: pd.DataFrame,
    studies: Sequence[Study],
    judged: Judged,
    compared: Sequence[ComparedItem],
    provenance: Mapping[str, Mapping[str, str]],
    templates: Path,
    fingerprint: str,
) -> str:
    """The page as HTML that needs no other file and no network.

    Args:
        observations: The one table, with the columns of `seedbed.observations.COLUMNS`.
        timings: The table of seconds and memory, with the same columns.
        studies: The studies to show, in order; rows of others are left out.
        judged: The claims and their verdicts.
        compared: This build beside the reference.
        provenance: Section → label → text, shown at the end.
        templates: The folder ``report/`` of the project.
        fingerprint: What the page says of itself in its head, for the next build.

    Raises:
        ValueError: a cell of ``observations`` stands twice, or claims and verdicts are not the same.
    """
    results = [Results(observations, study) for study in studies]
    glossary = yaml.safe_load((templates / "glossary.yaml").read_text(encoding="utf-8"))
    environment = _environment(templates, glossary)
    impossible = floor_violations(cast(list[Row], observations.to_dict("records")))
    sections = [
        replace(section_of(one), below=tuple(row for row in impossible if row.study == one.study.name))
        for one in results
    ]
    return environment.get_template("page.html").render(
        sections=sections,
        claims=_claims(judged, results, sections),
        variance=variance_table((one, section.measures) for one, section in zip(results, sections, strict=True)),
        reference=reference_section(compared),
        cost=cost_table(timings),
        cpu_seconds=_total_cpu(timings),
        provenance=provenance,
        fingerprint=fingerprint,
        glossary=glossary,
    )


@dataclass(frozen=True)
class ClaimsSection:
    """The claims with everything that the page shows of them; texts may hold ``[[word]]``.

    ``none_run`` tells that no claim is about this build, so that no outcomes are counted.
    """

    none_run: bool
    summary: str
    chance: str
    apart: str
    counts: Mapping[str, int]
    evidence: Table
    built: Table
    observations: Table
    excluded: Table
    reasons: Mapping[str, int]


def _claims(judged: Judged, results: Sequence[Results], sections: Sequence[Section]) -> ClaimsSection:
    places = Places(
        {one.study.name: one for one in results},
        {one.study.name: one.all_figures for one in sections},
    )
    return ClaimsSection(
        none_run=claims.none_run(judged),
        summary=claims.summary(judged),
        chance=claims.chance(judged),
        apart=claims.apart(judged),
        counts=claims.counts(judged.counted),
        evidence=claims.claims_table("claims", judged.evidence, judged, places),
        built=claims.claims_table("claims-by-construction", judged.built, judged, places),
        observations=claims.evidence_table(judged, places),
        excluded=claims.excluded_table(judged),
        reasons=claims.reasons(judged),
    )


def _environment(templates: Path, glossary: Mapping[str, str]) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["glossed"] = partial(_glossed, glossary)
    styles: dict[str, None] = {}
    environment.globals |= {
        "anchor": anchor,
        "drawing": partial(_drawing, styles),
        "styles": styles,
        "number": number,
        "signs": SIGNS,
    }
    return environment


def section_of(results: Results) -> Section:
    """What the page shows of a study, not drawn yet.

    The study's own file decides what is shown, and what it leaves out follows; without one, that is all.
    """
    module = _module(results.study)
    if module is None:
        others = other_figures(results, ())
        return Section(
            results.study, None, (Part(figures=others),), (), runs_table(results), few(others), plain=True
        )
    headline = module.headline(results) if hasattr(module, "headline") else None
    parts = tuple(module.parts(results)) if results.study.runs else ()
    declared = Section(results.study, headline, parts, (), runs_table(results), module.MEASURES)
    others = other_figures(results, declared.all_figures)
    return replace(declared, others=tuple(replace(one, panels=()) for one in others))


def _module(study: Study):  # type: ignore[no-untyped-def]  # noqa: ANN202 - a plug-in's module has the type Any
    file = study.name.replace("-", "_")
    name = f"seedbed.reporting.studies.{file}"
    known = file.isidentifier() and importlib.util.find_spec(name)
    return importlib.import_module(name) if known else None


def _drawing(styles: dict[str, None], panel: Panel, *names: str) -> Markup:
    """The drawing, whose styles the page writes once for all drawings."""
    start, rules, end = re.split(r"</?style>", draw(panel.drawing, anchor(*names), panel.title))
    styles |= dict.fromkeys(re.findall(r"[^}]+}", rules))
    return Markup(start + end)


def _total_cpu(timings: pd.DataFrame) -> float:
    return math.fsum(timings.loc[timings["metric"] == "cpu_seconds", "value"])


def _glossed(glossary: Mapping[str, str], text: str) -> Markup:
    """The text, escaped, with each ``[[word]]`` that the glossary holds as a link to it."""

    def link(match: re.Match[str]) -> str:
        word = match[1].lower()
        return f'<a class="term" href="#{anchor("word", word)}">{match[1]}</a>' if word in glossary else match[0]

    return Markup(re.sub(r"\[\[([\w -]+)\]\]", link, str(escape(text))))
