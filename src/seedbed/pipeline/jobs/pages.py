"""The pages: one HTML file each, made from tables alone, and built as soon as its own results are there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from seedbed.configuration import plugins
from seedbed.configuration.claim_files import Claims
from seedbed.configuration.configuration import ROOT, Configuration
from seedbed.pipeline import storage
from seedbed.pipeline.fingerprint import REPORTING, fingerprint
from seedbed.pipeline.jobs.demonstration import Demonstration, TimedDemonstration
from seedbed.pipeline.jobs.job import Job
from seedbed.pipeline.jobs.measurement import Measurement
from seedbed.pipeline.jobs.tables import Comparison, Observations, StudyVerdicts, Timings, Verdicts, rows_of
from seedbed.pipeline.lectures import Lecture
from seedbed.pipeline.provenance import provenance
from seedbed.pipeline.table import observation_table

if TYPE_CHECKING:
    import pandas as pd

    from seedbed.reporting.pages.site import Site
    from seedbed.reporting.results import ShownDemonstration, ShownStudy

#: Where the templates, style, script and captions of the pages are.
TEMPLATES = ROOT / "report"


@dataclass(frozen=True, eq=False)
class Shown:
    """What pages show of the configuration: the titles of all studies, and the runs of some.

    Attributes:
        configuration: The configuration.
        demonstrations: The demonstrations of the build.
        lectures: The pages that show them.
    """

    configuration: Configuration
    demonstrations: tuple[Demonstration, ...]
    lectures: tuple[Lecture, ...]

    @property
    def site(self) -> Site:
        """The pages of the build."""
        from seedbed.reporting.pages.site import Site

        titles = {name: study.title for name, study in self.configuration.studies.items()}
        full = self.configuration.full_demonstrations and all(map(self.configuration.full, titles))
        return Site(titles, {one.page: one.title for one in self.lectures}, TEMPLATES, full)

    @property
    def timed(self) -> tuple[Demonstration, ...]:
        """The demonstrations that take times, whose rows are not in the one table."""
        return tuple(one for one in self.demonstrations if isinstance(one, TimedDemonstration))

    def study(self, name: str) -> ShownStudy:
        """A study as a page shows it."""
        from seedbed.reporting.results import ShownRun, ShownStudy

        entry = self.configuration.studies[name]
        runs = [
            ShownRun(
                name=key,
                label=run.label,
                kind="trained" if run.trained else "reference",
                seeds=tuple(seed for seed in self.configuration.seeds(name, key) if seed is not None),
            )
            for key, run in self.configuration.runs(name).items()
        ]
        return ShownStudy(
            name=name,
            title=entry.title,
            lead=entry.lead,
            language=", ".join(sorted({data.language or str(data.task) for data in entry.data.values()})),
            rebuilt=entry.rebuilt,
            runs=tuple(runs),
            full=self.configuration.full(name),
        )

    @property
    def studies(self) -> list[ShownStudy]:
        """All studies, in their order."""
        return [self.study(name) for name in self.configuration.studies]

    @property
    def shown_demonstrations(self) -> list[ShownDemonstration]:
        """All demonstrations, in their order."""
        from seedbed.reporting.results import ShownDemonstration

        return [
            ShownDemonstration(
                one.name,
                one.entry.title,
                one.entry.lead,
                tuple(seed for seed in one.seeds if seed is not None),
                tuple(lecture.page for lecture in self.lectures if one.name in lecture.claims),
            )
            for one in self.demonstrations
        ]

    def fingerprint(self, page: str, studies: Iterable[str], inputs: Iterable[Job], **more: object) -> str:
        """The fingerprint of a page.

        Args:
            page: The module in reporting/pages/ that makes it.
            studies: The studies whose figures it shows.
            inputs: The jobs that it reads.
            more: What else it shows.
        """
        names, configuration = list(studies), self.configuration
        values = {
            "titles": [(name, study.title) for name, study in configuration.studies.items()],
            "studies": {name: configuration.studies[name].model_dump(mode="json") for name in names},
            # A list, since the page keeps their order.
            "runs": [
                (name, run, configuration.seeds(name, run)) for name in names for run in configuration.runs(name)
            ],
            "demonstrations": [(one.name, one.entry.title, one.entry.lead) for one in self.demonstrations],
            "lectures": [(one.page, one.title, list(one.claims.items())) for one in self.lectures],
            "full": [*map(configuration.full, configuration.studies), configuration.full_demonstrations],
            "scope": configuration.settings.scope,
        }
        return fingerprint(
            {"job": "page", "page": page, "format": storage.FORMAT} | values | more,
            page_modules(page, names),
            REPORTING,
            [one.fingerprint for one in inputs],
            sorted(file.relative_to(ROOT) for file in TEMPLATES.rglob("*") if file.is_file()),
        )


def page_modules(page: str, studies: Iterable[str]) -> list[str]:
    """The modules that make a page: its own, and the figures of the studies on it."""
    return [f"seedbed.reporting.pages.{page}", *_figure_modules(studies)]


def _figure_modules(studies: Iterable[str]) -> list[str]:
    """The modules that declare the figures of some studies; a study may have none."""
    folder, names = plugins.PACKAGE / "reporting" / "studies", [name.replace("-", "_") for name in studies]
    declared = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    chosen = sorted(declared.intersection(names))
    return ["seedbed.reporting.studies", *(f"seedbed.reporting.studies.{name}" for name in chosen)]


def _frame(parts: Iterable[Measurement | Demonstration]) -> pd.DataFrame:
    frame: pd.DataFrame = observation_table(rows_of(parts)).to_pandas(integer_object_nulls=True)
    return frame


def _read(verdicts: Iterable[Verdicts | StudyVerdicts]) -> list[dict[str, object]]:
    return [row for one in verdicts for row in one.read()]


@dataclass(frozen=True, eq=False)
class StudyPage:
    """Job: the page of one study.

    Attributes:
        study: The study.
        shown: What the configuration says of it.
        measurements: Its measurements.
        verdicts: The verdicts on it; None where no claim rests on it alone.
    """

    OUTPUTS = ("results/report/{study}.html",)

    study: str
    shown: Shown
    measurements: tuple[Measurement, ...]
    verdicts: StudyVerdicts | None

    @property
    def outputs(self) -> tuple[Path, ...]:
        """One page."""
        return (Path(self.OUTPUTS[0].format(study=self.study)),)

    @property
    def inputs(self) -> tuple[Job, ...]:
        """The study's own results and the demonstrations, which its figures may show."""
        return (*self.measurements, *self.shown.demonstrations, *([self.verdicts] if self.verdicts else []))

    @property
    def place(self) -> str:
        """Where the configuration asks for it."""
        return f"the page of {self.study}"

    @cached_property
    def fingerprint(self) -> str:
        """The hash of what it shows, its code and its inputs."""
        return self.shown.fingerprint("study", [self.study], self.inputs)

    @property
    def modules(self) -> list[str]:
        """The modules that it is made with."""
        return page_modules("study", [self.study])

    def compute(self) -> None:
        """Build the page."""
        from seedbed.reporting.pages.study import build
        from seedbed.reporting.verdict_tables import Judged

        observations = _frame((*self.measurements, *self.shown.demonstrations))
        judged = Judged(self.verdicts.claims, self.verdicts.read(), {}) if self.verdicts else Judged({}, [], {})
        text = build(
            self.shown.site,
            self.shown.study(self.study),
            self.shown.shown_demonstrations,
            observations,
            judged,
            self.fingerprint,
        )
        storage.write_page(self.outputs[0], text)


@dataclass(frozen=True, eq=False)
class LecturePage:
    """Job: the page of the demonstrations that a lecture's claims rest on.

    Attributes:
        lecture: What it shows.
        shown: What the configuration says of demonstrations.
        verdicts: The verdicts that rest on demonstrations alone.
    """

    OUTPUTS = ("results/report/{page}.html",)

    lecture: Lecture
    shown: Shown
    verdicts: tuple[StudyVerdicts, ...]

    @property
    def outputs(self) -> tuple[Path, ...]:
        """One page."""
        return (Path(self.OUTPUTS[0].format(page=self.lecture.page)),)

    @property
    def inputs(self) -> tuple[Job, ...]:
        """Its demonstrations, and the verdicts on all."""
        return (*self._demonstrations, *self.verdicts)

    @property
    def place(self) -> str:
        """Where the configuration asks for it."""
        return f"the page {self.lecture.page}"

    @property
    def _demonstrations(self) -> list[Demonstration]:
        """In the order of the page."""
        known = {one.name: one for one in self.shown.demonstrations}
        return [known[name] for name in self.lecture.claims]

    @cached_property
    def fingerprint(self) -> str:
        """The hash of what it shows, its code and its inputs."""
        return self.shown.fingerprint("lecture", [], self.inputs)

    @property
    def modules(self) -> list[str]:
        """The modules that it is made with."""
        return page_modules("lecture", [])

    def compute(self) -> None:
        """Build the page."""
        from seedbed.reporting.pages.lecture import build
        from seedbed.reporting.verdict_tables import Judged

        known = {name: claim for one in self.verdicts for name, claim in one.claims.items()}
        beside = {topic: [name for name in names if name in known] for topic, names in self.lecture.claims.items()}
        chosen = [name for names in beside.values() for name in names]
        rows = [row for row in _read(self.verdicts) if row["id"] in chosen]
        text = build(
            self.shown.site,
            self.lecture.page,
            beside,
            self.shown.shown_demonstrations,
            _frame(self._demonstrations),
            Judged({name: known[name] for name in chosen}, rows, {}),
            self.fingerprint,
        )
        storage.write_page(self.outputs[0], text)


@dataclass(frozen=True, eq=False)
class ClaimsPage:
    """Job: the page of all claims and their evidence.

    Attributes:
        shown: What the configuration says of the studies.
        observations: The one table.
        verdicts: The tables that hold all verdicts.
        claims: All claims.
    """

    OUTPUTS = ("results/report/claims.html",)

    shown: Shown
    observations: Observations
    verdicts: tuple[Verdicts | StudyVerdicts, ...]
    claims: Claims
    outputs: tuple[Path, ...] = field(default=(Path(OUTPUTS[0]),), init=False)
    place: str = field(default="the page of claims", init=False)

    @property
    def inputs(self) -> tuple[Job, ...]:
        """The tables."""
        return (self.observations, *self.verdicts, *self.shown.timed)

    @cached_property
    def fingerprint(self) -> str:
        """The hash of what it shows, its code and its inputs."""
        excluded = [(name, one.model_dump(mode="json")) for name, one in self.claims.excluded.items()]
        return self.shown.fingerprint("claims", self.shown.configuration.studies, self.inputs, excluded=excluded)

    @property
    def modules(self) -> list[str]:
        """The modules that it is made with."""
        return page_modules("claims", self.shown.configuration.studies)

    def compute(self) -> None:
        """Build the page."""
        from seedbed.reporting.pages.claims import build
        from seedbed.reporting.verdict_tables import Judged

        text = build(
            self.shown.site,
            self.shown.studies,
            self.shown.shown_demonstrations,
            self._measured(),
            Judged(self.claims.claims, _read(self.verdicts), self.claims.excluded),
            self.fingerprint,
        )
        storage.write_page(self.outputs[0], text)

    def _measured(self) -> pd.DataFrame:
        """The one table, with the times that demonstrations took."""
        import pyarrow as pa

        table = pa.concat_tables([self.observations.read(), observation_table(rows_of(self.shown.timed))])
        frame: pd.DataFrame = table.to_pandas(integer_object_nulls=True)
        return frame


@dataclass(frozen=True, eq=False)
class IndexPage:
    """Job: the first page.

    Attributes:
        shown: What the configuration says of the studies.
        observations: The one table.
        verdicts: The tables that hold all verdicts.
        claims: All claims.
        timings: What the trainings cost.
        comparison: This build beside the reference.
    """

    OUTPUTS = ("results/report/index.html",)

    shown: Shown
    observations: Observations
    verdicts: tuple[Verdicts | StudyVerdicts, ...]
    claims: Claims
    timings: Timings
    comparison: Comparison
    outputs: tuple[Path, ...] = field(default=(Path(OUTPUTS[0]),), init=False)
    place: str = field(default="the first page", init=False)

    @property
    def inputs(self) -> tuple[Job, ...]:
        """The tables."""
        return (self.observations, *self.verdicts, self.timings, self.comparison)

    @cached_property
    def fingerprint(self) -> str:
        """The hash of what it shows, its code and its inputs."""
        return self.shown.fingerprint("index", self.shown.configuration.studies, self.inputs)

    @property
    def modules(self) -> list[str]:
        """The modules that it is made with."""
        return page_modules("index", self.shown.configuration.studies)

    def compute(self) -> None:
        """Build the page."""
        from seedbed.reporting.pages.index import build
        from seedbed.reporting.verdict_tables import Judged

        timings = self.timings.read()
        text = build(
            self.shown.site,
            self.shown.studies,
            self.observations.read().to_pandas(integer_object_nulls=True),
            timings.to_pandas(integer_object_nulls=True),
            Judged(self.claims.claims, _read(self.verdicts), {}),
            self.comparison.read(),
            provenance(self._fingerprints(), timings),
            self.fingerprint,
        )
        storage.write_page(self.outputs[0], text)

    def _fingerprints(self) -> Mapping[str, str]:
        own = {"this page": self.fingerprint, "table of observations": self.observations.fingerprint}
        return (
            own
            | {one.outputs[0].stem: one.fingerprint for one in self.verdicts}
            | {
                one.outputs[0].relative_to("results/observations").with_suffix("").as_posix(): one.fingerprint
                for one in self.observations.parts
            }
        )


Page = IndexPage | ClaimsPage | StudyPage | LecturePage
