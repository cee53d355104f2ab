"""A rehearsal of a build: what it will train and measure, on a handful of documents, before any job.

Much that is wrong shows only where plug-ins, options and languages meet: a prompt with an unknown word, a claim
about a metric that nothing measures, a model whose forward fails. Here it shows within seconds and as a message,
not after an hour in the log of a job. What is built already needs no rehearsal.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from contextlib import chdir, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from seedbed.configuration import plugins
from seedbed.configuration.claim_files import Seen, Wanted, check_measured, wanted
from seedbed.configuration.configuration import Configuration, Data, Run, Study
from seedbed.configuration.validation import together
from seedbed.observations import read_condition
from seedbed.pipeline import jobs, storage
from seedbed.pipeline.plan import OBSERVATIONS, SPLITS, Plan, observations_path, run_path
from seedbed.pipeline.reference_files import WATCHED

#: Documents of each split: so many that every slot and a withheld sentence may be expected among them.
_FEW = 64

#: Study, run and evaluation.
_Measurement = tuple[str, str, str]


def rehearse(plan: Plan) -> None:
    """Train and measure with a few documents and one epoch and seed, keep nothing, and compare with the claims.

    Raises:
        ConfigError: a training or an evaluation fails, or a claim is about what none measures; everything that is
            wrong at once.
    """
    missing = set(plan.pending())
    fresh = [one for one in plan.evaluations() if observations_path(*one) in missing]
    trained = {one[:2] for one in plan.trainings() if run_path(*one, "model.safetensors") in missing}
    trained |= {one[:2] for one in fresh}
    trained |= {(start.study, start.run) for one in trained if (start := plan.run(*one).start)}
    seen = list(_seen(plan, set(plan.evaluations()) - set(fresh)))
    small = Plan(_shortened(plan.configuration, fresh, trained))
    with _elsewhere():
        together(partial(_draw, small, *corpus) for corpus in dict.fromkeys(small.corpora()))
        # Runs that begin with another's weights come after it; none begins with those of one that does so itself.
        for begun in (False, True):
            trainings = [one for one in small.trainings() if bool(small.run(*one[:2]).start) == begun]
            together(partial(_train, small, *one) for one in trainings)
        measured = dict.fromkeys((study, evaluation) for study, _, evaluation in small.evaluations())
        together(partial(_evaluate, small, *one) for one in measured)
        seen += _seen(small, small.evaluations())
        if fresh:  # two evaluations may measure the same
            jobs.observations(small, small.observations())
        together(partial(_declare, small, study) for study in _whole(plan, fresh))
    check_measured(_wanted(plan), seen, plan.configuration)


@contextmanager
def _elsewhere() -> Iterator[None]:
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


def _draw(plan: Plan, study: str, data: str, split: str, seed: int | None) -> None:
    with plugins.explained(f"config/studies/{study}.yaml: data.{data}"):
        jobs.data(plan, (study, data, split, seed), plan.data(study, data, split, seed))


def _train(plan: Plan, study: str, run: str, seed: int) -> None:
    with plugins.explained(f"config/studies/{study}.yaml: runs.{run}"):
        jobs.train(plan, study, run, seed, plan.train(study, run, seed))


def _evaluate(plan: Plan, study: str, evaluation: str) -> None:
    """Measure each run of an evaluation; the first that fails stands for all."""
    for run in plan.configuration.evaluated(study, evaluation):
        with plugins.explained(f"config/studies/{study}.yaml: evaluations.{evaluation}, measuring {run}"):
            jobs.evaluate(plan, study, run, evaluation, plan.evaluate(study, run, evaluation))


def _whole(plan: Plan, fresh: Iterable[_Measurement]) -> list[str]:
    """The studies of which everything is measured anew, so that all their figures can be declared."""
    studies = dict.fromkeys(study for study, _, _ in fresh)
    return [study for study in studies if {one for one in plan.evaluations() if one[0] == study} <= set(fresh)]


def _declare(plan: Plan, study: str) -> None:
    """Check the figures of a study, and draw none; a quick build lacks runs that figures name."""
    from seedbed.reporting.figure_checks import check_figures
    from seedbed.reporting.results import Results
    from seedbed.reporting.sections import section_of

    table = storage.read_table(OBSERVATIONS, plan.observations()).to_pandas(integer_object_nulls=True)
    with plugins.explained(f"the figures of {study}"):
        results = Results(table, jobs.shown(plan, study))
        (section_of if plan.configuration.quick else check_figures)(results)


def _seen(plan: Plan, measurements: Iterable[_Measurement]) -> Iterator[Seen]:
    """What stands in the observations of some measurements."""
    for one in measurements:
        for row in storage.read_table(observations_path(*one), plan.evaluate(*one)).to_pylist():
            yield Seen(*one, row["metric"], read_condition(row["condition"]))


def _shortened(
    configuration: Configuration, fresh: Iterable[_Measurement], trained: Iterable[tuple[str, str]]
) -> Configuration:
    """The same studies with nothing but some measurements and trainings, few documents, and one epoch and seed."""
    short = copy.copy(configuration)
    short.overrides = configuration.overrides | {"seeds": 1}
    short.settings = configuration.settings.model_copy(update={"seeds": 1})
    short.studies = {}
    for name, study in configuration.studies.items():
        measured = [(run, evaluation) for owner, run, evaluation in fresh if owner == name]
        runs = {run for owner, run in trained if owner == name}
        short.studies[name] = _short_study(study, measured, runs)
    return short


def _short_study(study: Study, measured: Iterable[tuple[str, str]], runs: set[str]) -> Study:
    evaluations = {
        name: entry.model_copy(update={"runs": [run for run, evaluation in measured if evaluation == name]})
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
    return data.model_copy(update={split: min(getattr(data, split), _FEW) for split in SPLITS})


def _short_run(run: Run) -> Run:
    return run.model_copy(update={"training": run.training | {"epochs": 1}}) if run.trained else run
