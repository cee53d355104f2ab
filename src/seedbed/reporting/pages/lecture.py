"""The page of a lecture's demonstrations: each under its question, with its claims and its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from seedbed.observations import DEMONSTRATIONS
from seedbed.reporting.demonstration_figures import demonstration_figures, results_of
from seedbed.reporting.figures import Figure
from seedbed.reporting.pages.site import Site
from seedbed.reporting.results import ShownDemonstration
from seedbed.reporting.tables import Table
from seedbed.reporting.verdict_tables import Judged, Places, beside_table, summary


@dataclass(frozen=True)
class Topic:
    """A demonstration with its figures and the claims that rest on it."""

    demonstration: ShownDemonstration
    figures: tuple[Figure, ...]
    claims: Table


def build(
    site: Site,
    page: str,
    topics: Mapping[str, Sequence[str]],
    demonstrations: Sequence[ShownDemonstration],
    observations: pd.DataFrame,
    judged: Judged,
    fingerprint: str,
) -> str:
    """The page as HTML.

    Args:
        site: The pages of the build.
        page: The name of this one.
        topics: The name of each demonstration on it → the ids of the claims beside it, in their order.
        demonstrations: All demonstrations of the build.
        observations: The rows of those on the page, with the columns of `seedbed.observations.COLUMNS`.
        judged: The claims on the page.
        fingerprint: What the page says of itself in its head, for the next build.

    Raises:
        ValueError: the table has an observation twice, or claims and verdicts are not the same.
    """
    shown = {one.name: one for one in demonstrations if one.name in topics}
    figures = {name: demonstration_figures(observations, shown[name]) for name in topics}
    results = results_of(observations, [shown[name] for name in topics])
    every = tuple(figure for one in figures.values() for figure in one)
    places = Places(page, {DEMONSTRATIONS: results}, {DEMONSTRATIONS: every}, demonstrations)
    verdicts = {one.id: one for one in judged.verdicts}
    told = [
        Topic(
            shown[name],
            figures[name],
            beside_table(f"claims-{name}", [verdicts[one] for one in beside], judged, places),
        )
        for name, beside in topics.items()
    ]
    return site.render(
        page,
        "lecture.html",
        fingerprint,
        topics=told,
        summary=summary(judged) if judged.counted else "",
    )
