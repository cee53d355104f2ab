"""The claims on a page: what they say, what the observations say about it, and where to see that.

Counts come from the verdicts alone. Claims that repeat another one are shown and not counted; those that hold by
construction are shown apart, since they are no evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

from seedbed.observations import DEMONSTRATIONS, read_condition
from seedbed.reporting.figures import Figure
from seedbed.reporting.numbers import PERCENT
from seedbed.reporting.results import Measure, Results, ShownDemonstration
from seedbed.reporting.tables import (
    CLAIMS,
    NONE,
    Column,
    Folded,
    Link,
    Links,
    Status,
    Strip,
    Table,
    Value,
    address,
    anchor,
)
from seedbed.statistics.claims import Claim, Excluded
from seedbed.statistics.decisions import ALPHA, Outcome
from seedbed.statistics.explanations import possible_words
from seedbed.statistics.observed import ObservationKey
from seedbed.statistics.verdicts import Verdict, expected_wrong

#: Reason why an item of a lecture has no claim → what that means.
REASONS = {
    "definition": "nothing to measure",
    "lost": "no figure and no comparison survives",
    "machine": "needs other hardware",
    "scale": "needs a large model",
}


#: Basis of a claim, where it is another than that the lecture states it → what the page says of it.
BASES = {
    "derived": "Derived from what the lecture states.",
    "recomputed": "Recomputed from what the lecture states.",
}


@dataclass(frozen=True)
class Judged:
    """The claims with their verdicts, and what has no claim.

    Attributes:
        claims: The claims by id, in the order of the page.
        rows: The rows of the table of verdicts, in any order.
        excluded: The items of the lectures without a claim, by id.
    """

    claims: Mapping[str, Claim]
    rows: Sequence[Mapping[str, object]]
    excluded: Mapping[str, Excluded]

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """A verdict for each claim, in the order of the claims.

        Raises:
            ValueError: a claim has no verdict or two, or a verdict has no claim.
        """
        found, planned = Counter(str(row["id"]) for row in self.rows), Counter(list(self.claims))
        if found != planned:
            wrong = sorted((found - planned) + (planned - found))
            raise ValueError(f"not one verdict for each claim: {', '.join(wrong)}; run `make report`")
        by_id = {str(row["id"]): _verdict(row) for row in self.rows}
        return tuple(by_id[name] for name in self.claims)

    @cached_property
    def evidence(self) -> tuple[Verdict, ...]:
        """The verdicts that say something of the world, those that repeat another one included."""
        return tuple(one for one in self.verdicts if not one.by_construction)

    @cached_property
    def built(self) -> tuple[Verdict, ...]:
        """The verdicts that hold by construction."""
        return tuple(one for one in self.verdicts if one.by_construction)

    @cached_property
    def counted(self) -> tuple[Verdict, ...]:
        """The evidence without what repeats another claim."""
        return tuple(one for one in self.evidence if not one.same_as)


@dataclass(frozen=True)
class ClaimsSection:
    """Claims with everything that a page shows of them; texts may hold ``[[word]]``.

    ``none_run`` says that no claim is about this build, so that no outcomes are counted.
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


def claims_section(judged: Judged, places: Places) -> ClaimsSection:
    """The claims as a page shows them; ``places`` says where their evidence can be seen."""
    return ClaimsSection(
        none_run=none_run(judged),
        summary=summary(judged),
        chance=chance(judged),
        apart=apart(judged),
        counts=counts(judged.counted),
        evidence=claims_table("claims", judged.evidence, judged, places),
        built=claims_table("claims-by-construction", judged.built, judged, places),
        observations=evidence_table(judged, places),
        excluded=excluded_table(judged),
        reasons=reasons(judged),
    )


def lecture_table(judged: Judged) -> Table:
    """How many counted claims of each lecture have each outcome."""
    outcomes = get_args(Outcome)
    columns = (
        Column("lecture", "lecture"),
        Column("claims", "claims", "count"),
        *(Column(outcome.replace("-", "_").replace(" ", "_"), outcome, "count") for outcome in outcomes),
    )
    lectures: dict[str, list[Verdict]] = {}
    for one in judged.counted:
        lectures.setdefault(one.id.partition(":")[0], []).append(one)
    rows: list[tuple[Value, ...]] = [
        (name, len(found), *counts(found).values()) for name, found in sorted(lectures.items())
    ]
    return Table("verdicts-by-lecture", columns, tuple(rows))


def counts(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Outcome → how many verdicts have it, each outcome of a verdict in order, those without one too."""
    found = Counter(one.outcome for one in verdicts)
    return {outcome: found[outcome] for outcome in get_args(Outcome)}


def none_run(judged: Judged) -> bool:
    """Whether there are claims and none of them could be judged by this build's runs."""
    return bool(judged.counted) and all(one.outcome == "not run" for one in judged.counted)


def summary(judged: Judged) -> str:
    """The verdicts in a sentence."""
    if none_run(judged):
        return f"None of the {len(judged.counted)} [[claim]]s is about what was built here."
    found = counts(judged.counted)
    words = ", ".join(f"{n} [[{outcome}]]" for outcome, n in found.items() if n or outcome in _ALWAYS)
    return f"Of {len(judged.counted)} [[claim]]s: {words}."


_ALWAYS = ("reproduced", "contradicted")


def chance(judged: Judged) -> str:
    """How many of the decided verdicts chance alone would get wrong; nothing where none could be decided."""
    if none_run(judged):
        return ""
    decided = sum(one.decided for one in judged.counted)
    open_to = sum(one.decided and one.chance for one in judged.counted)
    compatible = sum(one.compatible for one in judged.counted)
    wrong = expected_wrong(judged.counted)
    return (
        f"{decided} of them are decided, {open_to} by numbers that depend on the [[seed]]s. Of these {open_to}, "
        f"{compatible} compare one stated number with the range of our runs, and it lies inside; a number that is "
        f"slightly wrong can lie there too. Each of the other {open_to - compatible} is wrong by chance in "
        f"at most {100 * ALPHA:g}{PERCENT} of cases, so at most about {wrong:.1f} of them are wrong."
    )


def apart(judged: Judged) -> str:
    """What is not counted."""
    repeats = len(judged.evidence) - len(judged.counted)
    built = [one for one in judged.built if not one.same_as]
    held = sum(one.outcome == "reproduced" for one in built)
    return (
        f"Not counted: statements that repeat a counted one ({repeats}), and those that are true "
        f"[[by construction]] or settings of ours ({len(built)}, of which {held} hold). They are no evidence."
    )


def reasons(judged: Judged) -> dict[str, int]:
    """Reason in words → how many items have no claim for it."""
    found = Counter[str](one.reason for one in judged.excluded.values())
    return {meaning: found[name] for name, meaning in REASONS.items() if found[name]}


def claims_table(name: str, verdicts: Sequence[Verdict], judged: Judged, places: Places) -> Table:
    """A row for each claim: its section, what it says, its outcome, why, and its evidence."""
    columns = (
        Column("section", "lecture"),
        Column("says", "claim"),
        Column("outcome", "outcome"),
        Column("explanation", "why"),
        Column("n", "seeds", "count"),
        Column("reference", "reference"),
        Column("reference_n", "its seeds", "count"),
        Column("evidence", "evidence"),
    )
    rows = tuple(_claim_row(one, judged.claims[one.id], places) for one in verdicts)
    return Table(name, columns, rows, anchors=tuple(claim_anchor(one.id) for one in verdicts))


def beside_table(name: str, verdicts: Sequence[Verdict], judged: Judged, places: Places) -> Table:
    """A row for each claim beside what it rests on: its section, what it says, its outcome and why."""
    whole = claims_table(name, verdicts, judged, places)
    return Table(name, whole.columns[:4], tuple(row[:4] for row in whole.rows), anchors=whole.anchors)


def excluded_table(judged: Judged) -> Table:
    """The items of the lectures without a claim."""
    columns = (Column("item", "item"), Column("reason", "reason"), Column("because", "because"))
    rows = tuple((name, one.reason, one.because) for name, one in judged.excluded.items())
    anchors = tuple(anchor("excluded", *name.split(":", 1)) for name in judged.excluded)
    return Table("excluded", columns, rows, anchors=anchors)


def evidence_table(judged: Judged, places: Places) -> Table:
    """Every observation of this page's runs that a claim rests on, with its seeds and the figure that shows it."""
    columns = (
        Column("run", "run"),
        Column("metric", "metric"),
        Column("condition", "condition"),
        Column("strip", "seeds"),
        Column("n", "n", "count"),
        Column("mean", "mean", "row"),
        Column("interval", "95 % interval", "row"),
        Column("figure", "shown in"),
    )
    cells = sorted({cell for one in judged.verdicts for cell in one.evidence if places.measured(cell)})
    return Table(
        "evidence",
        columns,
        tuple(_evidence_row(cell, places) for cell in cells),
        units=tuple(places.unit(cell) for cell in cells),
        anchors=tuple(anchor("observation", *cell) for cell in cells),
    )


def claim_anchor(name: str) -> str:
    """The anchor of a claim; its id begins with the lecture and a colon."""
    return anchor(*_claim_names(name))


def _claim_names(name: str) -> tuple[str, ...]:
    return ("claim", *name.split(":", 1))


class Places:
    """Where an observation can be seen."""

    def __init__(
        self,
        page: str,
        studies: Mapping[str, Results],
        figures: Mapping[str, Collection[Figure]],
        demonstrations: Iterable[ShownDemonstration] = (),
    ) -> None:
        """Look up in studies and their figures.

        Args:
            page: The page that leads there; it has the table of `evidence_table`.
            studies: The name of each study that the page may read → its results.
            figures: The name of each of these → its figures.
            demonstrations: The demonstrations of the build, each with the pages that show it.
        """
        self._shown_on = {one.name: one.pages for one in demonstrations}
        self._page = page
        self._studies = studies
        self._figures = figures

    def address(self, page: str, *names: str) -> str:
        """The address of an anchor on a page: within the own page without the name of its file."""
        return f"#{anchor(*names)}" if page == self._page else address(page, *names)

    def claim(self, name: str) -> str:
        """The address of a claim on the page of claims."""
        return self.address(CLAIMS, *_claim_names(name))

    def measured(self, cell: ObservationKey) -> bool:
        """Whether the observation belongs to a run of this build and was made."""
        found = self._values(cell)
        return any(value is not None for value in found.values())

    def link(self, cell: ObservationKey) -> Link:
        """A cell in words, leading to its numbers where it has any."""
        here = "#" + anchor("observation", *cell) if self.measured(cell) else ""
        return Link(str(cell), here)

    def run(self, cell: ObservationKey) -> Links:
        """The cell's run, leading to its row, or its demonstration."""
        if cell.study == DEMONSTRATIONS:
            return Links((Link(cell.run, self.address(self._page_of(cell), "demonstration", cell.run)),))
        return Links((Link(f"{cell.study}/{cell.run}", self.address(cell.study, "run", cell.study, cell.run)),))

    def figures(self, cell: ObservationKey) -> Links:
        """The first figure that shows the cell, as a link; none where no figure does."""
        showing = (one for one in self._figures[cell.study] if one.shows(cell.metric, cell.condition))
        page = self._page_of(cell)
        first = (Link(one.question, self.address(page, "figure", cell.study, one.name)) for one in showing)
        return Links(tuple(first)[:1])

    def _page_of(self, cell: ObservationKey) -> str:
        """The page that shows the cell's run: this one, if it does."""
        pages = self._shown_on.get(cell.run, ()) if cell.study == DEMONSTRATIONS else (cell.study,)
        return self._page if self._page in pages else next(iter(pages), cell.study)

    def unit(self, cell: ObservationKey) -> str:
        """The unit of the cell's values."""
        results = self._studies[cell.study]
        run = results.run(cell.run)
        found = results.readings(run, _measure(cell)).values() if run else ()
        return next((one.unit for one in found if one), "")

    def numbers(self, cell: ObservationKey) -> tuple[Value, ...]:
        """Seeds, their number, mean and interval of a measured cell."""
        results = self._studies[cell.study]
        run = results.run(cell.run)
        assert run is not None
        interval = results.interval(run, _measure(cell, self.unit(cell)))
        strip = Strip(self._values(cell), self.unit(cell))
        if run.kind == "reference":
            return (strip, NONE, interval.mean, NONE)
        return (strip, interval.n, interval.mean, interval)

    def _values(self, cell: ObservationKey) -> Mapping[int | None, float | None]:
        results = self._studies.get(cell.study)
        run = results.run(cell.run) if results else None
        return results.values(run, _measure(cell)) if results and run else {}


def _measure(cell: ObservationKey, unit: str = "") -> Measure:
    return Measure(cell.metric, cell.metric, cell.metric, unit, read_condition(cell.condition))


def _verdict(row: Mapping[str, object]) -> Verdict:
    """The inverse of `Verdict.row`."""
    evidence: Iterable[Mapping[str, str]] = row["evidence"]  # type: ignore[assignment]
    same_as: Iterable[str] = row["same_as"]  # type: ignore[assignment]
    possible: Iterable[Outcome] | None = row["possible"]  # type: ignore[assignment]
    lists = {
        "possible": None if possible is None else tuple(possible),
        "same_as": tuple(same_as),
        "evidence": tuple(ObservationKey(**cell) for cell in evidence),
    }
    return Verdict(**{**row, **lists})  # type: ignore[arg-type]


def _claim_row(verdict: Verdict, claim: Claim, places: Places) -> tuple[Value, ...]:
    lecture = verdict.id.partition(":")[0]
    rewritten = f"Rewritten after the first build, {claim.rewritten}" if claim.rewritten else ""
    read = " ".join(filter(None, (rewritten, BASES.get(claim.basis), claim.reading)))
    label = "how it is read; rewritten after the first build" if rewritten else "how it is read"
    return (
        Links((Link(f"{lecture} {claim.section}", places.claim(verdict.id)),)),
        Folded(claim.says, label, read) if read else claim.says,
        Status(verdict.outcome),
        " ".join(filter(None, (verdict.explanation, possible_words(verdict.possible)))),
        verdict.n or NONE,
        Status(verdict.reference) if verdict.reference else NONE,
        verdict.reference_n or NONE,
        Links(tuple(_evidence(verdict, claim, places))),
    )


def _evidence(verdict: Verdict, claim: Claim, places: Places) -> Iterator[Link]:
    """What a verdict rests on: another verdict, a setting, or observations."""
    if verdict.same_as:
        yield from (Link(f"claim {name}", places.claim(name)) for name in verdict.same_as)
    elif claim.setting is not None:
        yield from (Link(f"{claim.setting.study}: {path}") for path in claim.setting.values)
    else:
        yield from (places.link(cell) for cell in verdict.evidence)


def _evidence_row(cell: ObservationKey, places: Places) -> tuple[Value, ...]:
    return (places.run(cell), cell.metric, cell.condition, *places.numbers(cell), places.figures(cell))
