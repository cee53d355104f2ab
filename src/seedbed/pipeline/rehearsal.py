"""A rehearsal of a build: before any job, it trains and measures everything on a few documents.

Many mistakes show only when plug-ins, options and languages meet: a prompt with an unknown word, a claim about a
metric that nothing measures, a model whose forward fails. The rehearsal finds them within seconds, not after an
hour in the log of a job. What is built already is not rehearsed.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import chdir, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from seedbed.configuration import plugins
from seedbed.configuration.claim_files import Seen, Wanted, check_decidable, check_measured, wanted
from seedbed.configuration.configuration import Configuration
from seedbed.configuration.demonstrations import Demonstration as Entry
from seedbed.configuration.schema import Data, Run, Study
from seedbed.configuration.validation import together
from seedbed.configuration.yaml import ConfigError
from seedbed.errors import SeedbedError
from seedbed.observations import DEMONSTRATIONS, Row, read_condition
from seedbed.pipeline import guarding, storage
from seedbed.pipeline.jobs.corpus import SPLITS
from seedbed.pipeline.jobs.demonstration import Demonstration
from seedbed.pipeline.jobs.job import Job, is_pending
from seedbed.pipeline.jobs.measurement import Measurement
from seedbed.pipeline.jobs.pages import StudyPage
from seedbed.pipeline.jobs.tables import rows_of
from seedbed.pipeline.jobs.training import Training
from seedbed.pipeline.plan import Plan
from seedbed.pipeline.reference_files import WATCHED
from seedbed.pipeline.table import measured_twice, observation_table

if TYPE_CHECKING:
    import pyarrow as pa

#: Documents of each split: of a language enough to expect every slot and a withheld sentence among them.
_FEW, _FEW_OF_A_TASK = 64, 16


def rehearse(plan: Plan) -> None:
    """Train and measure with a few documents and one epoch and seed, keep nothing, and compare with the claims.

    Raises:
        ConfigError: a training, an evaluation or a figure fails, or nothing measures what a claim is about; it
            lists everything that is wrong.
    """
    parts = (*plan.observations.parts, *plan.timed)
    fresh = [one for one in parts if is_pending(one)]
    cells = {one.place: _stored_cells(one) for one in parts if one not in fresh}
    small = Plan(_shortened(plan, fresh))
    with _temporary_folder():
        together(partial(_compute, [job]) for job in small.corpora)
        # Runs that begin with another's weights come after it; that other one begins with weights of its own.
        for begun in (False, True):
            together(partial(_compute, [job]) for job in small.trainings if bool(job.start) == begun)
        together(partial(_check_seeds_differ, one, plan, small) for one in small.trainings)
        together(partial(_compute, jobs) for jobs in _by_evaluation(small.measurements))
        together(partial(_compute, [job]) for job in small.demonstrations)
        rehearsed = {one: rows_of([one]) for one in (*small.observations.parts, *small.timed)}
    cells |= {one.place: dict.fromkeys(_cells(one, rows)) for one, rows in rehearsed.items()}
    _check_measured_once(cells)
    if any(map(is_pending, plan.tables)):  # else claims and watched numbers are as they were checked
        check_measured(
            _wanted(plan), [_seen(cell) for some in cells.values() for cell in some], plan.configuration
        )
        check_decidable(plan.claims, plan.configuration)
    shown = [page.study for page in plan.pages if isinstance(page, StudyPage) and is_pending(page)]
    if shown:
        used = [one for one in parts if one not in fresh and _study(one) in (*shown, DEMONSTRATIONS)]
        table = observation_table([*rows_of(used), *chain.from_iterable(rehearsed.values())])
        together(partial(_check_figures, plan, study, table) for study in shown)


#: Study, run, evaluation, metric and condition of an observation.
_Cell = tuple[str, str, str, str, str]


def _study(part: Measurement | Demonstration) -> str:
    return part.study if isinstance(part, Measurement) else DEMONSTRATIONS


def _evaluation(part: Measurement | Demonstration) -> str:
    return part.evaluation if isinstance(part, Measurement) else part.name


def _stored_cells(part: Measurement | Demonstration) -> dict[_Cell, None]:
    """What a measurement or demonstration has observed, each cell once for all seeds."""
    columns = ["study", "run", "metric", "condition"]
    stored = storage.read_table(part.outputs[0], part.fingerprint, columns)
    return dict.fromkeys(_cells(part, stored.group_by(columns).aggregate([]).to_pylist()))


def _cells(part: Measurement | Demonstration, rows: Iterable[Mapping[str, object]]) -> Iterator[_Cell]:
    for row in rows:
        study, run, metric, condition = (str(row[key]) for key in ("study", "run", "metric", "condition"))
        yield study, run, _evaluation(part), metric, condition


def _check_measured_once(cells: Mapping[str, Iterable[_Cell]]) -> None:
    """Check that no two evaluations observe the same cell; see `table.gather`.

    Raises:
        SeedbedError: two of them do.
    """
    places: dict[tuple[str, ...], str] = {}
    for place, some in cells.items():
        for study, run, _, metric, condition in some:
            other = places.setdefault((study, run, metric, condition), place)
            if other != place:
                row: Row = {"study": study, "run": run, "metric": metric, "condition": condition}
                raise SeedbedError(measured_twice(row, other, place))


def _seen(cell: _Cell) -> Seen:
    study, run, evaluation, metric, condition = cell
    return Seen(study, run, evaluation, metric, read_condition(condition))


@contextmanager
def _temporary_folder() -> Iterator[None]:
    """Work in a temporary folder; a file that the system refuses there is named with its whole path."""
    with TemporaryDirectory() as folder, chdir(folder):
        try:
            yield
        except OSError as error:
            if isinstance(error.filename, str):
                error.filename = str(Path(folder, error.filename))
            raise


def _wanted(plan: Plan) -> list[Wanted]:
    """What claims and config/watched.yaml ask of the observations."""
    watched = [
        Wanted(WATCHED.as_posix(), one.study, (one.run,), one.metric, [read_condition(one.condition)])
        for one in plan.watched
    ]
    return [*wanted(plan.claims), *watched]


def _compute(jobs: Iterable[Job]) -> None:
    """Compute some jobs, up to the first that fails."""
    for job in jobs:
        with plugins.errors_at(job.place):
            guarding.compute(job)


def _check_seeds_differ(training: Training, plan: Plan, small: Plan) -> None:
    """Check that two seeds of a run are two trainings: of one corpus, something else must be drawn by the seed.

    A run that begins with another's weights differs if that one does.
    """
    seeds, pinned = plan.configuration.seeds(training.study, training.run), training.entry.streams
    drawn = {"data", "initialisation"} | ({"order"} if training.entry.training["order"] == "shuffled" else set())
    if len(seeds) < 2 or drawn - pinned.keys() or training.start:
        return
    other = small.training(training.study, training.run, 1)
    again = other.fit(training.corpus.read(), training.validation.read()).weights
    first = storage.read_weights(training.weights, training.fingerprint)
    if all(again[name].equal(tensor) for name, tensor in first.items()):
        raise ConfigError(
            f"{training.place}.streams: {', '.join(pinned)} are the same for all seeds, and nothing else is "
            f"drawn, so the {len(seeds)} seeds are one training; say seeds: 1, or leave a stream out"
        )


def _by_evaluation(measurements: Iterable[Measurement]) -> Collection[list[Measurement]]:
    """The measurements by study and evaluation: those of one evaluation fail for the same reason."""
    found: dict[tuple[str, str], list[Measurement]] = {}
    for one in measurements:
        found.setdefault((one.study, one.evaluation), []).append(one)
    return found.values()


def _check_figures(plan: Plan, study: str, table: pa.Table) -> None:
    """Check the figures of a study, and draw none; a quick build lacks runs that figures name."""
    from seedbed.reporting.figure_checks import check_figures
    from seedbed.reporting.results import Results
    from seedbed.reporting.sections import section_of

    with plugins.errors_at(f"the figures of {study}"):
        results = Results(table.to_pandas(integer_object_nulls=True), plan.shown.study(study))
        (section_of if plan.configuration.quick else check_figures)(results)


def _shortened(plan: Plan, fresh: Collection[Job]) -> Configuration:
    """The configuration of what is not built yet, with few documents, one epoch and one seed."""
    configuration = plan.configuration
    short = copy.copy(configuration)
    short.overrides = configuration.overrides | {"seeds": 1}
    short.settings = configuration.settings.model_copy(update={"seeds": 1})
    short.demonstrations = {
        one.name: _short_demonstration(one.entry) for one in fresh if isinstance(one, Demonstration)
    }
    measured = [one for one in fresh if isinstance(one, Measurement)]
    needed = {(one.study, one.run) for one in measured}
    needed |= {(one.study, one.run) for one in plan.trainings if is_pending(one)}
    needed |= {(one.start.study, one.start.run) for one in plan.trainings if one.start and _is_in(one, needed)}
    short.studies = {
        name: _short_study(
            study,
            [(one.run, one.evaluation) for one in measured if one.study == name],
            {run for owner, run in needed if owner == name},
        )
        for name, study in configuration.studies.items()
    }
    return short


def _is_in(training: Training, runs: set[tuple[str, str]]) -> bool:
    return (training.study, training.run) in runs


def _short_study(study: Study, measured: Collection[tuple[str, str]], runs: set[str]) -> Study:
    evaluations = {
        name: entry.model_copy(
            update={
                "runs": [run for run, evaluation in measured if evaluation == name],
                "options": plugins.rehearsed("evaluations", str(entry.kind), entry.options),
            }
        )
        for name, entry in study.evaluations.items()
    }
    return study.model_copy(
        update={
            "data": {name: _short_data(entry) for name, entry in study.data.items()},
            "runs": {name: _short_run(run) for name, run in study.runs.items() if name in runs},
            "evaluations": evaluations,
        }
    )


def _short_data(data: Data) -> Data:
    few = _FEW if data.language else _FEW_OF_A_TASK
    return data.model_copy(update={split: min(getattr(data, split), few) for split in SPLITS})


def _short_demonstration(entry: Entry) -> Entry:
    return entry.model_copy(update={"options": plugins.rehearsed(DEMONSTRATIONS, entry.kind, entry.options)})


def _short_run(run: Run) -> Run:
    return run.model_copy(update={"training": run.training | {"epochs": 1}}) if run.trained else run
