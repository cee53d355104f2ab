"""The page of demonstrations: what needs no training, each under its question, with its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from seedbed.observations import DEMONSTRATIONS
from seedbed.reporting.demonstration_figures import demonstration_figures, results_of
from seedbed.reporting.figures import Figure
from seedbed.reporting.pages.site import Site
from seedbed.reporting.results import ShownDemonstration
from seedbed.reporting.verdict_tables import Judged, Places, claims_section


@dataclass(frozen=True)
class Demonstrated:
    """A demonstration with its figures."""

    demonstration: ShownDemonstration
    figures: tuple[Figure, ...]


def build(
    site: Site,
    demonstrations: Sequence[ShownDemonstration],
    observations: pd.DataFrame,
    judged: Judged,
    fingerprint: str,
) -> str:
    """The page of demonstrations as HTML.

    Args:
        site: The pages of the build.
        demonstrations: The demonstrations, in the order of the page.
        observations: Their rows, with the columns of `seedbed.observations.COLUMNS`; other rows are left out.
        judged: The claims that rest on them, and on nothing else.
        fingerprint: What the page says of itself in its head, for the next build.

    Raises:
        ValueError: the table has an observation twice, or claims and verdicts are not the same.
    """
    shown = [Demonstrated(one, demonstration_figures(observations, one)) for one in demonstrations]
    figures = {DEMONSTRATIONS: tuple(figure for one in shown for figure in one.figures)}
    places = Places(DEMONSTRATIONS, {DEMONSTRATIONS: results_of(observations, demonstrations)}, figures)
    claims = claims_section(judged, places) if judged.claims else None
    return site.render(DEMONSTRATIONS, "demonstrations.html", fingerprint, shown=shown, claims=claims)
