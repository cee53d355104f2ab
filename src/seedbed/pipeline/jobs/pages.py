"""The pages: one HTML file each, made from the tables and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from seedbed.configuration import plugins
from seedbed.configuration.claim_files import Claims
from seedbed.configuration.configuration import ROOT, Configuration
from seedbed.pipeline import storage
from seedbed.pipeline.fingerprint import REPORTING, fingerprint
from seedbed.pipeline.jobs.job import Job
from seedbed.pipeline.jobs.tables import Comparison, Observations, Timings, Verdicts
from seedbed.pipeline.provenance import provenance

#: Where the page's templates, style, script and captions stand.
TEMPLATES = ROOT / "report"


@dataclass(frozen=True, eq=False)
class Page:
    configuration: Configuration
    claims: Claims
    observations: Observations
    verdicts: Verdicts
    timings: Timings
    comparison: Comparison
    OUTPUTS = ("results/report/index.html",)
    outputs: tuple[Path, ...] = field(default=(Path(OUTPUTS[0]),), init=False)
    place: str = field(default="the page", init=False)

    @property
    def inputs(self) -> tuple[Job, ...]:
        return (self.observations, self.verdicts, self.timings, self.comparison)

    @cached_property
    def fingerprint(self) -> str:
        """The fingerprint of the page."""
        configuration = self.configuration
        values = {
            "studies": {name: study.model_dump(mode="json") for name, study in configuration.studies.items()},
            # In order, which is what the page shows them in.
            "seeds": [
                (study, run, configuration.seeds(study, run))
                for study in configuration.studies
                for run in configuration.runs(study)
            ],
            "full": configuration.full,
            "scope": configuration.settings.scope,
            "excluded": [(name, one.model_dump(mode="json")) for name, one in self.claims.excluded.items()],
        }
        return fingerprint(
            {"job": "page", "format": storage.FORMAT} | values,
            page_modules(configuration.studies),
            REPORTING,
            [one.fingerprint for one in self.inputs],
            sorted(file.relative_to(ROOT) for file in TEMPLATES.rglob("*") if file.is_file()),
        )

    def compute(self) -> None:
        from seedbed.reporting.claims import Judged
        from seedbed.reporting.page import build

        times = self.timings.read()
        text = build(
            self.observations.read().to_pandas(integer_object_nulls=True),
            times.to_pandas(integer_object_nulls=True),
            [study_of(self.configuration, name) for name in self.configuration.studies],
            Judged(self.claims.claims, self.verdicts.read(), self.claims.excluded),
            self.comparison.read(),
            provenance({"this page": self.fingerprint}, times),
            TEMPLATES,
            self.fingerprint,
        )
        storage.write_text(self.outputs[0], text)


def page_modules(studies: Iterable[str]) -> list[str]:
    """The modules that make the page: its own, and those that declare a study's figures."""
    names = {name.replace("-", "_") for name in studies}
    declared = {file.stem for file in (plugins.PACKAGE / "reporting" / "studies").glob("*.py")}
    return [
        "seedbed.reporting.page",
        *(f"seedbed.reporting.studies.{name}" for name in sorted(declared & names)),
    ]


def study_of(configuration: Configuration, name: str):
    """A study as the page is told of it."""
    from seedbed.reporting.results import Run as ShownRun
    from seedbed.reporting.results import Study

    entry = configuration.studies[name]
    runs = [
        ShownRun(
            name=key,
            label=run.label,
            kind="trained" if run.trained else "reference",
            seeds=tuple(seed for seed in configuration.seeds(name, key) if seed is not None),
        )
        for key, run in configuration.runs(name).items()
    ]
    return Study(
        name=name,
        title=entry.title,
        lead=entry.lead,
        language=", ".join(sorted({data.language or str(data.task) for data in entry.data.values()})),
        rebuilt=entry.rebuilt,
        runs=tuple(runs),
        full=configuration.full,
    )
