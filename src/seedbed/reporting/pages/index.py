"""The first page: the result of each study, verdicts in counts, variance, reference, cost and provenance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import pandas as pd

from seedbed.reporting import verdict_tables
from seedbed.reporting.against_reference import reference_section
from seedbed.reporting.figures import Headline
from seedbed.reporting.pages.site import INDEX, Site
from seedbed.reporting.results import Results, ShownStudy
from seedbed.reporting.sections import headline_of, measures_of
from seedbed.reporting.summaries import cost_table, variance_table
from seedbed.reporting.verdict_tables import Judged
from seedbed.statistics.comparison import ComparedItem
from seedbed.statistics.floors import Row, floor_violations

#: How many measures of each study the first page shows over their seeds; the study's own page has all.
_FEW = 3


@dataclass(frozen=True)
class Summary:
    """A study on the first page.

    Attributes:
        study: The study.
        headline: Its result; none where its file declares none.
        below: How many numbers it has that no honest run can have.
    """

    study: ShownStudy
    headline: Headline | None
    below: int


def build(
    site: Site,
    studies: Sequence[ShownStudy],
    observations: pd.DataFrame,
    timings: pd.DataFrame,
    judged: Judged,
    compared: Sequence[ComparedItem],
    provenance: Mapping[str, Mapping[str, str]],
    fingerprint: str,
) -> str:
    """The first page as HTML.

    Args:
        site: The pages of the build.
        studies: The studies of the build, in the order of the page.
        observations: The one table, with the columns of `seedbed.observations.COLUMNS`.
        timings: The table of seconds and memory, with the same columns.
        judged: All claims and their verdicts.
        compared: This build beside the reference.
        provenance: Section → label → text, shown at the end.
        fingerprint: What the page says of itself in its head, for the next build.

    Raises:
        ValueError: the table has an observation twice, or claims and verdicts are not the same.
    """
    results = [Results(observations, study) for study in studies]
    impossible = Counter(row.study for row in floor_violations(cast(list[Row], observations.to_dict("records"))))
    return site.render(
        INDEX,
        "index.html",
        fingerprint,
        summaries=[Summary(one.study, headline_of(one), impossible[one.study.name]) for one in results],
        verdicts=verdict_tables.summary(judged),
        none_run=verdict_tables.none_run(judged),
        lectures=verdict_tables.lecture_table(judged),
        variance=variance_table((one, measures_of(one)[:_FEW]) for one in results),
        reference=reference_section(compared),
        cost=cost_table(timings),
        cpu_seconds=math.fsum(timings.loc[timings["metric"] == "cpu_seconds", "value"]),
        provenance=provenance,
    )
