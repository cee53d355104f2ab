"""The plan: the jobs of a build as a list of values, made from the configuration.

Both the Snakefile and the commands use it, so a job can refuse a fingerprint that is not its own. Parsing the
workflow must be quick: nothing here imports torch or pandas.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property, partial, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from seedbed.configuration import plugins
from seedbed.configuration.claim_files import Claims, check_names, read_claims, settings
from seedbed.configuration.configuration import Configuration
from seedbed.configuration.demonstrations import parts
from seedbed.configuration.schema import Study, Values, whole_number
from seedbed.configuration.studies import tuning_runs
from seedbed.configuration.validation import together
from seedbed.configuration.yaml import ConfigError
from seedbed.observations import DEMONSTRATIONS, TIMINGS
from seedbed.pipeline import guarding, storage
from seedbed.pipeline.fingerprint import digest
from seedbed.pipeline.jobs.corpus import Corpus
from seedbed.pipeline.jobs.demonstration import Demonstration, TimedDemonstration
from seedbed.pipeline.jobs.job import Job, JobError, is_pending
from seedbed.pipeline.jobs.measurement import Measurement, ReferenceRun
from seedbed.pipeline.jobs.pages import ClaimsPage, IndexPage, LecturePage, Page, Shown, StudyPage
from seedbed.pipeline.jobs.source import LanguageSource, Source, TaskSource
from seedbed.pipeline.jobs.tables import (
    Comparison,
    Observations,
    StudyVerdicts,
    Timings,
    Verdicts,
)
from seedbed.pipeline.jobs.training import Training, kind_and_options, plugins_of, streams
from seedbed.pipeline.lectures import Lecture, lectures
from seedbed.pipeline.reference_files import contents, read_watched
from seedbed.statistics.claims import Claim
from seedbed.statistics.observed import ObservationKey

_Method = TypeVar("_Method", bound=Callable[..., Any])


def _once(make: _Method) -> _Method:
    """Make a value once for each plan and arguments: its fingerprint is computed and its documents read once."""

    @wraps(make)
    def made(plan: Plan, *arguments: str | int | None) -> object:
        key = (make.__name__, *arguments)
        if key not in plan._made:
            plan._made[key] = make(plan, *arguments)
        return plan._made[key]

    return cast(_Method, made)


class Plan:
    """The jobs of a configuration.

    Attributes:
        configuration: The configuration.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self._made: dict[tuple[object, ...], Any] = {}

    # The jobs, kind by kind.

    @cached_property
    def trainings(self) -> tuple[Training, ...]:
        """Every training of every seed."""
        return tuple(
            self.training(study, run, seed)
            for study in self.configuration.studies
            for run in self.configuration.runs(study)
            for seed in self.configuration.seeds(study, run)
            if seed is not None
        )

    @cached_property
    def measurements(self) -> tuple[Measurement, ...]:
        """Every evaluation of every run that it measures."""
        return tuple(
            self.measurement(study, run, evaluation)
            for study, entry in self.configuration.studies.items()
            for evaluation in entry.evaluations
            for run in self.configuration.evaluated(study, evaluation)
        )

    @cached_property
    def demonstrations(self) -> tuple[Demonstration, ...]:
        """Every demonstration."""
        return tuple(self.demonstration(name) for name in self.configuration.demonstrations)

    @cached_property
    def timed(self) -> tuple[TimedDemonstration, ...]:
        """The demonstrations that take times."""
        return tuple(one for one in self.demonstrations if isinstance(one, TimedDemonstration))

    @cached_property
    def repeatable(self) -> tuple[Demonstration, ...]:
        """The other ones, which find the same in every build."""
        return tuple(one for one in self.demonstrations if one not in self.timed)

    @cached_property
    def corpora(self) -> tuple[Corpus, ...]:
        """Every corpus that a training or a measurement reads."""
        jobs: tuple[Job, ...] = (*self.measurements, *self.trainings)
        found = (one for job in jobs for one in job.inputs if isinstance(one, Corpus))
        return tuple(dict.fromkeys(found))

    @cached_property
    def observations(self) -> Observations:
        """The table of all observations."""
        return Observations((*self.measurements, *self.repeatable))

    @cached_property
    def study_verdicts(self) -> tuple[StudyVerdicts, ...]:
        """The verdicts that rest on one study alone, study by study."""
        parts: dict[str, tuple[Measurement | Demonstration, ...]] = {
            study: self.measurements_of(study) for study in self.configuration.studies
        }
        parts |= {DEMONSTRATIONS: self.repeatable, TIMINGS: self.timed}
        homes, found = _homes(self.claims.claims, {one.name for one in self.timed}), []
        for study, members in parts.items():
            claims = {name: one for name, one in self.claims.claims.items() if homes.get(name) == study}
            more = () if study == DEMONSTRATIONS else self.repeatable
            named = {run for one in claims.values() for operand in one.operands for run in operand.runs}
            members += tuple(one for one in more if one.name in named)
            if claims:
                known = (claims, self._settings, self.rebuilt, {} if study == TIMINGS else self.references)
                found.append(StudyVerdicts(study, members, *known, not self.configuration.quick))
        return tuple(found)

    @cached_property
    def verdicts(self) -> Verdicts:
        """The verdicts that every build on this machine finds again: all but those on times."""
        timed = self.timed_verdicts.claims if self.timed_verdicts else {}
        return Verdicts(
            tuple(one for one in self.study_verdicts if one.study != TIMINGS),
            self.observations,
            {name: claim for name, claim in self.claims.claims.items() if name not in timed},
            self._settings,
            self.rebuilt,
            self.references,
            not self.configuration.quick,
        )

    @property
    def timed_verdicts(self) -> StudyVerdicts | None:
        """The verdicts on times; None where no claim is about them."""
        return next((one for one in self.study_verdicts if one.study == TIMINGS), None)

    @property
    def all_verdicts(self) -> tuple[Verdicts | StudyVerdicts, ...]:
        """The tables that together hold a verdict for each claim."""
        return (self.verdicts, *([self.timed_verdicts] if self.timed_verdicts else []))

    @cached_property
    def timings(self) -> Timings:
        """Everything that is measured in seconds or bytes."""
        return Timings(self.trainings, self.timed)

    @cached_property
    def comparison(self) -> Comparison:
        """The comparison of this build with the reference."""
        return Comparison(self.observations, self.verdicts, self.timings, tuple(self.watched), self.references)

    @cached_property
    def shown(self) -> Shown:
        """What the pages show of the configuration."""
        return Shown(self.configuration, self.demonstrations, self.lectures)

    @cached_property
    def lectures(self) -> tuple[Lecture, ...]:
        """The pages of demonstrations."""
        return lectures(self.claims, self.configuration.demonstrations)

    @cached_property
    def pages(self) -> tuple[Page, ...]:
        """Every page, the index last: it needs the results of all studies."""
        verdicts, everything = {one.study: one for one in self.study_verdicts}, self.all_verdicts
        studies = [
            StudyPage(study, self.shown, self.measurements_of(study), verdicts.get(study))
            for study in self.configuration.studies
        ]
        beside = tuple(one for one in self.study_verdicts if one.study in (DEMONSTRATIONS, TIMINGS))
        return (
            *studies,
            *(LecturePage(one, self.shown, beside) for one in self.lectures),
            ClaimsPage(self.shown, self.observations, everything, self.claims),
            IndexPage(self.shown, self.observations, everything, self.claims, self.timings, self.comparison),
        )

    @cached_property
    def computing(self) -> tuple[Job, ...]:
        """The jobs that compute observations: those that use plug-ins and languages."""
        # A training that begins with another's weights comes after it.
        trainings = sorted(self.trainings, key=lambda one: one.start is not None)
        return (*self.corpora, *trainings, *self.measurements, *self.demonstrations)

    @property
    def tables(self) -> tuple[Job, ...]:
        """The tables that the build ends with."""
        return (self.observations, *self.study_verdicts, self.verdicts, self.timings, self.comparison)

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        """Every job, each after those that it reads."""
        return (*self.computing, *self.tables, *self.pages)

    # One job.

    def job(self, output: Path | str) -> Job:
        """The job that writes a file.

        Kind by kind, so that a training needs no claim to be right.

        Raises:
            JobError: there is none.
        """
        for kind in ("corpora", "trainings", "measurements", "demonstrations", "tables", "pages"):
            if found := self._by_output(kind).get(Path(output)):
                return found
        raise JobError(f"{output}: no job of the present configuration writes this file")

    @_once
    def _by_output(self, kind: str) -> dict[Path, Job]:
        """The jobs of one kind by what they write."""
        return {path: job for job in getattr(self, kind) for path in job.outputs}

    def jobs_of(self, outputs: Iterable[Path | str]) -> list[Job]:
        """The jobs that write some files, each once; raises as `job` does."""
        return list(dict.fromkeys(self.job(path) for path in outputs))

    @_once
    def training(self, study: str, run: str, seed: int) -> Training:
        """The training of a run and seed."""
        entry = self.configuration.studies[study].runs[run]
        corpus = self.corpus(study, entry.data, "training", streams(entry, seed)["data"])
        validation = self.corpus(study, entry.data, "validation", None)
        start = self.training(entry.start.study, entry.start.run, seed) if entry.start else None
        return Training(study, run, seed, entry, corpus, validation, start)

    @_once
    def corpus(self, study: str, data: str, split: str, seed: int | None) -> Corpus:
        """The documents of a split; validation and test have no seed."""
        entry = self.configuration.studies[study].data[data]
        return Corpus(study, data, entry, self.source(study, data), split, seed)

    @_once
    def source(self, study: str, data: str) -> Source:
        """What a data set is drawn from."""
        entry = self.configuration.studies[study].data[data]
        return self.language(entry.language) if entry.language else TaskSource(str(entry.task), entry.options)

    @_once
    def language(self, name: str) -> LanguageSource:
        """A language."""
        return LanguageSource(name, self.configuration.languages[name])

    @_once
    def measurement(self, study: str, run: str, evaluation: str) -> Measurement:
        """The measurement of a run with an evaluation."""
        entry = self.configuration.studies[study]
        test = self.corpus(study, entry.runs[run].data, "test", None)
        measured = tuple(
            self.reference_run(study, run) if seed is None else self.training(study, run, seed)
            for seed in self.configuration.seeds(study, run)
        )
        return Measurement(study, run, evaluation, entry.evaluations[evaluation], test, measured)

    @_once
    def reference_run(self, study: str, run: str) -> ReferenceRun:
        """A run without training."""
        entry = self.configuration.studies[study].runs[run]
        test, corpus = self.corpus(study, entry.data, "test", None), None
        if "corpus_seed" in entry.options:
            corpus = self.corpus(study, entry.data, "training", whole_number(entry.options, "corpus_seed"))
        return ReferenceRun(entry, test, corpus)

    def measurements_of(self, study: str) -> tuple[Measurement, ...]:
        """The measurements of one study."""
        return tuple(one for one in self.measurements if one.study == study)

    @_once
    def demonstration(self, name: str) -> Demonstration:
        """A demonstration."""
        entry = self.configuration.demonstrations[name]
        source: Source | None = None
        if entry.language:
            source = self.language(entry.language)
        elif entry.task:
            source = TaskSource(entry.task.task, entry.task.options)
        job = TimedDemonstration if entry.timed else Demonstration
        return job(name, entry, source, self.configuration.demonstration_seeds(name))

    # What is needed besides observations.

    @cached_property
    def claims(self) -> Claims:
        """The claims, checked against the configuration."""
        claims = read_claims(self.configuration.root)
        check_names(claims, self.configuration)
        return claims

    @cached_property
    def watched(self) -> list[ObservationKey]:
        """The numbers that a comparison with the reference decides on."""
        return read_watched(self.configuration)

    @cached_property
    def references(self) -> dict[str, str]:
        """The studies that have a reference, each with the hash of its file; none in a quick build."""
        return {} if self.configuration.quick else contents([*self.configuration.studies, DEMONSTRATIONS])

    @property
    def rebuilt(self) -> tuple[str, ...]:
        """The studies whose language is a reconstruction, and demonstrations, as ``demonstrations/NAME``."""
        studies = [name for name, study in self.configuration.studies.items() if study.rebuilt]
        demonstrations = [f"{DEMONSTRATIONS}/{one.name}" for one in self.demonstrations if one.entry.rebuilt]
        return tuple(sorted(studies + demonstrations))

    @cached_property
    def _settings(self) -> Mapping[str, Mapping[str, object]]:
        return settings(self.claims, self.configuration)

    # What is left to do.

    def pending(self) -> list[Job]:
        """The jobs whose results are missing, or made by other code, values or inputs than the present ones."""
        return [job for job in self.jobs if is_pending(job)]

    def stale(self) -> list[Path]:
        """The results that exist, but were made by other code, values or inputs than the present ones."""
        return [path for job in self.pending() for path in job.outputs if path.exists()]

    def damaged(self) -> list[Path]:
        """The results that are there, but not as they were written."""
        return [path for job in self.jobs for path in job.outputs if storage.is_damaged(path)]


def compute(jobs: list[Job], asked: str) -> None:
    """Compute the jobs that the workflow asks for with a fingerprint; of several, only those that are pending.

    Raises:
        JobError: code or configuration changed since the workflow was read.
    """
    own = fingerprint_of(jobs)
    if asked != own:
        raise JobError(
            f"asked for fingerprint {asked[:12]}, but code and configuration now give {own[:12]}: they changed "
            "since this build began; run `make report` again"
        )
    for job in jobs:
        guarding.compute(job)


def fingerprint_of(jobs: list[Job]) -> str:
    """The fingerprint of a job, or of several that one process computes."""
    return jobs[0].fingerprint if len(jobs) == 1 else digest(sorted(job.fingerprint for job in jobs))


def _homes(claims: Mapping[str, Claim], timed: Collection[str]) -> dict[str, str]:
    """The study that a claim rests on, alone or with demonstrations; no entry for a claim on several studies."""
    found = {name: home for name, claim in claims.items() if (home := _home(claim, timed))}
    for name, claim in claims.items():
        if claim.same_as:
            homes = {found.get(other, "") for other in claim.same_as}
            if len(homes) == 1 and "" not in homes:
                found[name] = homes.pop()
    return found


def _home(claim: Claim, timed: Collection[str]) -> str:
    """The one study that a claim with a check or a setting rests on, or `TIMINGS`; empty without."""
    demonstrated = {run for one in claim.operands if one.study == DEMONSTRATIONS for run in one.runs}
    if not demonstrated.isdisjoint(timed):
        return TIMINGS
    studies = {one.study for one in claim.operands} | ({claim.setting.study} if claim.setting else set())
    own = studies - {DEMONSTRATIONS} or studies
    return own.pop() if len(own) == 1 else ""


def check(configuration: Configuration) -> None:
    """Compile every grammar and build every plug-in's Options, which checks relations between their values.

    Raises:
        ConfigError: a grammar is invalid, or a plug-in refuses its options; it lists everything that is wrong.
    """
    languages = [partial(_compile, name, grammar) for name, grammar in configuration.languages.items()]
    options = [
        partial(plugins.build, folder, kind, values, f"config/studies/{name}.yaml: {key}")
        for name, study in configuration.studies.items()
        for key, folder, kind, values in _options(study, f"config/studies/{name}.yaml")
    ]
    options += [
        partial(plugins.build, folder, kind, values, place)
        for name, entry in configuration.demonstrations.items()
        for place, folder, kind, values in parts(name, entry)
    ]
    together([lambda: together(languages), lambda: together(options)])


def _compile(name: str, grammar: Mapping[str, object]) -> None:
    try:
        LanguageSource(name, grammar).loaded  # noqa: B018 - compiling checks it
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _options(study: Study, file: str) -> Iterator[tuple[str, str, str, Values]]:
    """Every plug-in that a study asks for: where, folder, name, options."""
    for name, data in study.data.items():
        if data.task:
            yield f"data.{name}.options", "tasks", data.task, data.options
    keys = {"models": "model", "objectives": "objective", "references": "options"}
    for name, run in study.runs.items():
        for folder, kind, values in plugins_of(run):
            shared = folder == "training" and values == study.training
            yield "training" if shared else f"runs.{name}.{keys.get(folder, folder)}", folder, kind, values
    for index, run in enumerate(tuning_runs(study, file)):
        yield f"tune.grid[{index}]", "models", *kind_and_options(run.model)
    for name, entry in study.evaluations.items():
        yield f"evaluations.{name}.options", "evaluations", entry.kind, entry.options
