"""The page of all claims: their verdicts, what has no claim, and the observations that they rest on."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from seedbed.observations import DEMONSTRATIONS
from seedbed.reporting.demonstration_figures import demonstration_figures, results_of
from seedbed.reporting.pages.site import Site
from seedbed.reporting.results import Results, ShownDemonstration, ShownStudy
from seedbed.reporting.sections import section_of
from seedbed.reporting.tables import CLAIMS
from seedbed.reporting.verdict_tables import Judged, Places, claims_section


def build(
    site: Site,
    studies: Sequence[ShownStudy],
    demonstrations: Sequence[ShownDemonstration],
    observations: pd.DataFrame,
    judged: Judged,
    fingerprint: str,
) -> str:
    """The page of claims as HTML.

    Args:
        site: The pages of the build.
        studies: The studies of the build.
        demonstrations: Its demonstrations.
        observations: The one table, with the columns of `seedbed.observations.COLUMNS`.
        judged: All claims and their verdicts.
        fingerprint: What the page says of itself in its head, for the next build.

    Raises:
        ValueError: the table has an observation twice, or claims and verdicts are not the same.
    """
    results = {study.name: Results(observations, study) for study in studies}
    figures = {name: section_of(one).all_figures for name, one in results.items()}
    results[DEMONSTRATIONS] = results_of(observations, demonstrations)
    figures[DEMONSTRATIONS] = tuple(
        figure for one in demonstrations for figure in demonstration_figures(observations, one)
    )
    places = Places(CLAIMS, results, figures, demonstrations)
    return site.render(CLAIMS, "claims.html", fingerprint, claims=claims_section(judged, places))
