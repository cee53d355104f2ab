"""One study file: read, checked, and every option that it leaves out filled in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

from seedbed.configuration import plugins
from seedbed.configuration.schema import TUNING_SEEDS, Data, Evaluation, Run, Study, whole_number
from seedbed.configuration.validation import together, validate
from seedbed.configuration.yaml import ConfigError
from seedbed.messages import nearest

#: The evaluation whose metric `diverged` verdicts need of every run that trains.
_TRAINING = "training"


def read_study(content: Mapping[str, object], place: str) -> Study:
    """The study that a parsed file describes.

    Raises:
        ConfigError: everything that is wrong in one part of it, each with its key.
    """
    study = validate(Study, content, place)
    training = plugins.options("training", "loop", study.training, f"{place}: training")
    study = study.model_copy(update={"training": training})
    _check_names(study, place)
    runs = [partial(_resolve_run, run, study, f"{place}: runs.{key}") for key, run in study.runs.items()]
    evaluations = [
        partial(_resolve_evaluation, key, entry, f"{place}: evaluations.{key}")
        for key, entry in study.evaluations.items()
    ]
    data = [partial(_resolve_data, entry, f"{place}: data.{key}") for key, entry in study.data.items()]
    steps: list[Callable[[], Run | Evaluation | Data]] = [*runs, *evaluations, *data]
    resolved = iter(together(steps))  # each part takes as many as it has names
    parts = {
        key: dict(zip(getattr(study, key), resolved, strict=False)) for key in ("runs", "evaluations", "data")
    }
    study = _with_training_measured(study.model_copy(update=parts), place)
    together(partial(_check_measurable, key, study, f"{place}: evaluations.{key}") for key in study.evaluations)
    _check_stored_batches(study, place)
    tuning_runs(study, place)
    return study


def obstacle(evaluation: Evaluation, run: Run, study: Study) -> str:
    """Why an evaluation cannot measure a run; empty if it can."""
    kind, found = evaluation.kind, "task" if study.data[run.data].task else "language"
    if plugins.source(kind) not in (found, "any"):
        return f"{kind} measures no run on a {found}"
    folder, name = ("objectives", str(run.objective["kind"])) if run.trained else ("references", str(run.kind))
    missing = set(plugins.needs(kind)) - set(plugins.offers(folder, name))
    if run.trained:
        missing -= set(plugins.TRAINED)
        if run.start and "initial" in plugins.needs(kind):
            return f"{kind} needs the first weights, and this run begins with those of another"
    elif missing & set(plugins.TRAINED):
        return f"{kind} measures runs that train, and this is a reference run"
    return f"{kind} needs {', '.join(sorted(missing))}, which {folder}/{name}.py does not offer" if missing else ""


def tuning_runs(study: Study, place: str) -> list[Run]:
    """The run that is to be tuned, under each choice of the grid; none without ``tune``.

    Raises:
        ConfigError: a choice has an unknown option or one of the wrong type.
    """
    if study.tune is None:
        return []
    run = study.runs[study.tune.run]
    for index, choice in enumerate(study.tune.grid):
        if "kind" in choice:
            raise ConfigError(f"{place}: tune.grid[{index}].kind: a grid is of options of the run's own model")
    models = [
        partial(plugins.resolve, "models", run.model | choice, f"{place}: tune.grid[{index}]")
        for index, choice in enumerate(study.tune.grid)
    ]
    return [run.model_copy(update={"model": model}) for model in together(models)]


def _check_names(study: Study, place: str) -> None:
    named: list[tuple[str, str, Collection[str]]] = [
        (f"runs.{key}.data", run.data, study.data) for key, run in study.runs.items()
    ]
    for key, evaluation in study.evaluations.items():
        chosen = evaluation.runs if isinstance(evaluation.runs, list) else []
        named += [(f"evaluations.{key}.runs", name, study.runs) for name in chosen]
    if study.tune:
        named += [("tune.run", study.tune.run, [name for name, run in study.runs.items() if run.trained])]
    wrong = [(key, name, known) for key, name, known in named if name not in known]
    if wrong:
        raise ConfigError(
            "\n".join(f"{place}: {key}: {name}: {nearest(name, known)}" for key, name, known in wrong)
        )


def _check_stored_batches(study: Study, place: str) -> None:
    """Check that a training that reads documents in stored order has the batches that the task drew."""
    for key, run in study.runs.items():
        drawn = study.data[run.data].options.get("batch")
        if run.training.get("order") == "stored" and drawn not in (None, run.training["batch"]):
            raise ConfigError(
                f"{place}: runs.{key}.training.batch: {run.training['batch']}, but its data set {run.data} is "
                f"drawn in batches of {drawn} and read as it is stored; make them equal, or order: shuffled"
            )


def _resolve_run(run: Run, study: Study, place: str) -> Run:
    """The run with every option filled in, so that a changed default changes the recipe."""
    if run.kind is not None:
        for key in ("model", "objective", "training", "streams", "seeds", "start", "quick"):
            if getattr(run, key):
                raise ConfigError(
                    f"{place}.{key}: a reference run (kind: {run.kind}) has only label, data and options"
                )
        plugins.check_name("references", run.kind, f"{place}.kind")
        options = plugins.options("references", run.kind, run.options, f"{place}.options")
        if "corpus_seed" in options and whole_number(options, "corpus_seed") >= TUNING_SEEDS:
            raise ConfigError(
                f"{place}.options.corpus_seed: expected a number below {TUNING_SEEDS}, as of any seed"
            )
        return run.model_copy(update={"options": options})
    if run.options:
        raise ConfigError(f"{place}.options: a trained run writes its options under model, objective and training")
    model, objective, training = together(
        [
            lambda: plugins.resolve("models", run.model, f"{place}.model"),
            lambda: plugins.resolve("objectives", run.objective, f"{place}.objective"),
            lambda: plugins.options("training", "loop", study.training | run.training, f"{place}.training"),
        ]
    )
    return run.model_copy(update={"model": model, "objective": objective, "training": training})


def _resolve_evaluation(name: str, entry: Evaluation, place: str) -> Evaluation:
    """The evaluation with its kind and every option filled in."""
    kind = entry.kind or name.replace("-", "_")
    plugins.check_name("evaluations", kind, f"{place}.kind" if entry.kind else place)
    options = plugins.options("evaluations", kind, entry.options, f"{place}.options")
    return entry.model_copy(update={"kind": kind, "options": options})


def _check_measurable(name: str, study: Study, place: str) -> None:
    """Check that an evaluation can measure every run that it names, or any run at all if it names none."""
    evaluation = study.evaluations[name]
    if isinstance(evaluation.runs, list):
        for run in evaluation.runs:
            if problem := obstacle(evaluation, study.runs[run], study):
                raise ConfigError(f"{place}.runs: {run}: {problem}")
        return
    runs = [run for run in study.runs.values() if run.trained or evaluation.runs == "all"]
    problems = [obstacle(evaluation, run, study) for run in runs]
    if all(problems):
        reason = next(iter(problems), "no run trains")
        raise ConfigError(f"{place}.runs: {evaluation.runs}: it can measure none of the study's runs: {reason}")


def _with_training_measured(study: Study, place: str) -> Study:
    """The study with the evaluation `training` of every run that trains: it says which trainings diverged."""
    given = [entry.runs for entry in study.evaluations.values() if entry.kind == _TRAINING]
    missing = [
        name
        for name, run in study.runs.items()
        if run.trained and not any(name in runs if isinstance(runs, list) else True for runs in given)
    ]
    if not missing:
        return study
    own = study.evaluations.get(_TRAINING, Evaluation(kind=_TRAINING, runs=missing))
    if own.kind != _TRAINING:
        raise ConfigError(
            f"{place}: evaluations.{_TRAINING}: every run that trains is measured by the kind {_TRAINING}, which "
            "has this name here; give this one another name"
        )
    runs = list(dict.fromkeys([*own.runs, *missing]))
    return study.model_copy(
        update={"evaluations": study.evaluations | {_TRAINING: own.model_copy(update={"runs": runs})}}
    )


def _resolve_data(data: Data, place: str) -> Data:
    """The data set with every option of its task filled in."""
    if data.task is None:
        return data
    plugins.check_name("tasks", data.task, f"{place}.task")
    options = plugins.options("tasks", data.task, data.options, f"{place}.options")
    return data.model_copy(update={"options": options})
