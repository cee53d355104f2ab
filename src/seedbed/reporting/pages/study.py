"""The page of a study: its runs, its figures with their tables, and the claims that rest on it.

It needs the results of its own study and nothing of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pandas as pd

from seedbed.observations import DEMONSTRATIONS
from seedbed.reporting.demonstration_figures import results_of
from seedbed.reporting.pages.site import Site
from seedbed.reporting.results import Results, ShownDemonstration, ShownStudy
from seedbed.reporting.sections import section_of
from seedbed.reporting.summaries import runs_table, variance_table
from seedbed.reporting.verdict_tables import ClaimsSection, Judged, Places, claims_section
from seedbed.statistics.floors import FloorViolation, Row, floor_violations


def build(
    site: Site,
    study: ShownStudy,
    demonstrations: Sequence[ShownDemonstration],
    observations: pd.DataFrame,
    judged: Judged,
    fingerprint: str,
) -> str:
    """The page of a study as HTML.

    Args:
        site: The pages of the build.
        study: The study.
        demonstrations: The demonstrations, on which some claims about the study rest too.
        observations: The rows of the study and of the demonstrations, with the columns of
            `seedbed.observations.COLUMNS`; other rows are left out.
        judged: The claims that rest on the study, alone or with demonstrations.
        fingerprint: What the page says of itself in its head, for the next build.

    Raises:
        ValueError: the table has an observation twice, or claims and verdicts are not the same.
    """
    results = Results(observations, study)
    section = section_of(results)
    claims: ClaimsSection | None = None
    if judged.claims:
        readable = {study.name: results, DEMONSTRATIONS: results_of(observations, demonstrations)}
        figures = {study.name: section.all_figures, DEMONSTRATIONS: ()}
        claims = claims_section(judged, Places(study.name, readable, figures, demonstrations))
    return site.render(
        study.name,
        "study.html",
        fingerprint,
        study=study,
        section=section,
        runs=runs_table(results),
        variance=variance_table([(results, section.measures)]),
        below=_impossible(observations, study),
        claims=claims,
    )


def _impossible(observations: pd.DataFrame, study: ShownStudy) -> list[FloorViolation]:
    """The study's numbers that no honest run can have."""
    rows = observations.loc[observations["study"] == study.name]
    return floor_violations(cast(list[Row], rows.to_dict("records")))
