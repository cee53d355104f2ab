"""What the project is asked to build: config.yaml, the studies and their languages, read and checked as a whole.

Everything is checked before anything runs, at every level; an error names the file, the key and the remedy. This
module carries values and computes no result.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from seedbed.configuration import plugins
from seedbed.configuration.validation import together, validated
from seedbed.configuration.yaml import ConfigError, read, read_text
from seedbed.messages import nearest, shown

#: The folder that holds config/, workflow/ and src/.
ROOT = plugins.PACKAGE.parents[1]
#: Seeds from here on are for `make tune` alone and never reported.
TUNING_SEEDS = 1000
#: A sentinel's training steps, and its validation and test documents.
SENTINEL_STEPS = 150
#: The epochs of a quick build, and the validation and test documents of quick builds and sentinels.
QUICK_EPOCHS, FEW_DOCUMENTS = 1, 200

_Item = TypeVar("_Item")


def _distinct(items: list[_Item]) -> list[_Item]:
    twice = [item for index, item in enumerate(items) if item in items[:index]]
    if twice:
        raise ValueError(f"{twice[0]} stands twice")
    return items


Name = Annotated[str, Field(pattern="^[a-z][a-z0-9-]*$")]
PluginName = Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]
Text = Annotated[StrictStr, Field(min_length=1)]
Seed = Annotated[StrictInt, Field(ge=0, lt=TUNING_SEEDS)]
Scalar = StrictBool | StrictInt | StrictFloat | StrictStr
Values = dict[str, Scalar]
Distinct = AfterValidator(_distinct)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Data(_Strict):
    """One data set of a study: how many documents of which language or task."""

    language: Name | None = None
    task: PluginName | None = None
    options: Values = {}
    training: Annotated[StrictInt, Field(ge=1)]
    validation: Annotated[StrictInt, Field(ge=1)]
    test: Annotated[StrictInt, Field(ge=1)]

    @model_validator(mode="after")
    def _has_one_source(self) -> Data:
        if (self.language is None) == (self.task is None):
            raise ValueError(
                "expected either language, a file of config/languages/, or task, of src/seedbed/tasks/"
            )
        if self.language and self.options:
            raise ValueError("a language has no options; they belong to a task")
        return self


class Start(_Strict):
    """The run whose weights of the same seed a training begins with."""

    study: Name
    run: Name


class Run(_Strict):
    """A training recipe, or a reference run (``kind``), which trains nothing."""

    label: Text
    data: Name = "text"
    kind: PluginName | None = None
    options: Values = {}
    model: Values = {}
    objective: Values = {}
    training: Values = {}
    streams: dict[Literal["data", "initialisation", "order", "corruption", "noise"], Seed] = {}
    seeds: Annotated[StrictInt, Field(ge=1, lt=TUNING_SEEDS)] | None = None
    start: Start | None = None
    quick: StrictBool = False

    @property
    def trained(self) -> bool:
        """Whether this run trains, so that it has seeds."""
        return self.kind is None


class Evaluation(_Strict):
    """Which runs an evaluation measures, and its options."""

    runs: Literal["all", "trained"] | Annotated[list[Name], Field(min_length=1), Distinct] = "all"
    options: Values = {}


class Tune(_Strict):
    """What the lecture leaves open in a study: the run to try it on and the grid of model options."""

    run: Name
    seeds: Annotated[StrictInt, Field(ge=1)]
    grid: Annotated[list[Values], Field(min_length=2), Distinct]


class Study(_Strict):
    """A subject with its data sets, runs and evaluations (config/studies/NAME.yaml)."""

    title: Text
    lead: Text
    rebuilt: StrictBool = False
    data: Annotated[dict[Name, Data], Field(min_length=1)]
    training: Values = {}
    runs: Annotated[dict[Name, Run], Field(min_length=1)]
    evaluations: Annotated[dict[PluginName, Evaluation], Field(min_length=1)]
    tune: Tune | None = None


class Settings(_Strict):
    """config/config.yaml: which studies, the number of seeds where a run names none, and how much is built.

    ``scope`` is ``report`` for all; ``reference`` for all, with ``reference_seeds`` where a run names none;
    ``quick`` for one seed of the runs marked so, trained briefly; ``sentinels`` for the same, with trainings of
    150 steps.
    """

    studies: Annotated[list[Name], Field(min_length=1), Distinct]
    seeds: Annotated[StrictInt, Field(ge=1, lt=TUNING_SEEDS)]
    reference_seeds: Annotated[StrictInt, Field(ge=1, lt=TUNING_SEEDS)] = 10
    scope: Literal["report", "reference", "quick", "sentinels"] = "report"


class Configuration:
    """The whole configuration, with ``overrides`` of config.yaml's keys (as after ``--config``).

    Raises:
        ConfigError: anything in it is unknown, of the wrong type or contradictory.
    """

    def __init__(self, overrides: Mapping[str, object] | None = None, root: Path = ROOT) -> None:
        self.root = root
        self.overrides = dict(overrides or {})
        place = "config/config.yaml"
        written = read(root / place, place)
        self._planned = validated(Settings, written, place)
        self.settings = (
            validated(Settings, written | self.overrides, "--config") if self.overrides else self._planned
        )
        place = f"{'--config' if 'studies' in self.overrides else place}: studies"
        steps = [partial(self._study, name, place) for name in self.settings.studies]
        #: The studies as their files describe them, and as the scope builds them.
        self.described = dict(zip(self.settings.studies, together(steps), strict=True))
        self.studies = {name: _reduced(study, self.settings.scope) for name, study in self.described.items()}
        self._check_starts()
        trained = [name for study in self.studies for name, run in self.runs(study).items() if run.trained]
        if self.quick and not trained:
            raise ConfigError(
                f"{place}: no run is marked `quick: true`, so that a quick build would train nothing"
            )

    @property
    def quick(self) -> bool:
        """Whether only one seed of the runs marked ``quick`` is built."""
        return self.settings.scope in ("quick", "sentinels")

    @property
    def folder(self) -> Path:
        """Where results/ stands: paths hold no scope, and a quick build would overwrite a full one beside it."""
        return Path(self.settings.scope) if self.quick else Path()

    def runs(self, study: str) -> dict[str, Run]:
        """The runs of a study that are built now."""
        return {
            name: run
            for name, run in self.studies[study].runs.items()
            if run.quick or not (self.quick and run.trained)
        }

    def seeds(self, study: str, run: str) -> tuple[int | None, ...]:
        """The seeds of a run; a reference run has the one seed None."""
        entry = self.studies[study].runs[run]
        if not entry.trained:
            return (None,)
        if self.quick:
            return (0,)
        if "seeds" in self.overrides:
            return tuple(range(self.settings.seeds))
        usual = self.settings.reference_seeds if self.settings.scope == "reference" else self.settings.seeds
        return tuple(range(entry.seeds or usual))

    @property
    def full(self) -> bool:
        """Whether every run has at least the seeds that the files give it."""
        runs = [run for study in self.studies.values() for run in study.runs.values() if run.trained]
        planned = self._planned.seeds
        enough = all(self.settings.seeds >= (run.seeds or planned) for run in runs)
        return not self.quick and ("seeds" not in self.overrides or enough)

    def evaluated(self, study: str, evaluation: str) -> list[str]:
        """The runs of a study that an evaluation measures now; ``all`` are those that it can measure."""
        entry = self.studies[study]
        chosen = entry.evaluations[evaluation].runs
        return [
            name
            for name, run in self.runs(study).items()
            if (name in chosen if isinstance(chosen, list) else run.trained or chosen == "all")
            and not _obstacle(evaluation, run, entry)
        ]

    @cached_property
    def languages(self) -> dict[str, dict[str, object]]:
        """The grammars that the studies use, by name."""
        used = {
            data.language: f"config/studies/{study}.yaml: data.{name}.language"
            for study, entry in self.studies.items()
            for name, data in entry.data.items()
            if data.language
        }
        steps = [partial(self._named, "languages", name, place) for name, place in sorted(used.items())]
        return dict(zip(sorted(used), together(steps), strict=True))

    def _study(self, name: str, named: str) -> Study:
        content, place = self._named("studies", name, named), f"config/studies/{name}.yaml"
        study = validated(Study, content, place)
        training = plugins.options("training", "loop", study.training, f"{place}: training")
        study = study.model_copy(update={"training": training})
        _check_names(study, place)
        runs = [partial(_resolved, run, study, f"{place}: runs.{key}") for key, run in study.runs.items()]
        evaluations = [
            partial(_measuring, key, entry, f"{place}: evaluations.{key}")
            for key, entry in study.evaluations.items()
        ]
        data = [partial(_drawn, entry, f"{place}: data.{key}") for key, entry in study.data.items()]
        steps: list[Callable[[], Run | Evaluation | Data]] = [*runs, *evaluations, *data]
        resolved = iter(together(steps))  # each part takes as many as it has names
        parts = {
            key: dict(zip(getattr(study, key), resolved, strict=False)) for key in ("runs", "evaluations", "data")
        }
        study = study.model_copy(update=parts)
        together(
            partial(_check_measurable, key, study, f"{place}: evaluations.{key}") for key in study.evaluations
        )
        _check_stored_batches(study, place)
        tuned(study, place)
        return study

    def _check_starts(self) -> None:
        """Every run that begins with another's weights finds them: same network, a seed for each of its own."""
        for study, entry in self.studies.items():
            for name, run in entry.runs.items():
                if run.start:
                    self._check_start(study, name, run.start)

    def _check_start(self, study: str, name: str, start: Start) -> None:
        place = f"config/studies/{study}.yaml: runs.{name}.start"
        if start.study not in self.studies:
            raise ConfigError(f"{place}.study: {start.study}: {nearest(start.study, self.studies)}")
        known = {key: run for key, run in self.studies[start.study].runs.items() if run.trained}
        if start.run not in known:
            raise ConfigError(f"{place}.run: {start.run}: {nearest(start.run, known)}")
        run, first = self.studies[study].runs[name], known[start.run]
        if first.start:
            raise ConfigError(f"{place}: {start.run} begins with another run's weights itself; name that one")
        if run.model != first.model:
            raise ConfigError(f"{place}: {start.run} has another network; both need the same model and options")
        if run.quick and not first.quick:
            raise ConfigError(f"{place}: {name} is quick, so {start.run} must be quick too")
        wanted, there = len(self.seeds(study, name)), len(self.seeds(start.study, start.run))
        if wanted > there:
            raise ConfigError(
                f"{place}: {start.run} has {there} seeds and {name} {wanted}; give {name} seeds: {there}"
            )

    def _named(self, folder: str, name: str, named: str) -> dict[str, object]:
        """The content of a file that the key ``named`` asks for."""
        place = f"config/{folder}/{name}.yaml"
        path = self.root / place
        if not path.exists():
            known = [file.stem for file in path.parent.glob("*.yaml") if file.is_file()]
            raise ConfigError(f"{named}: {name}: no {place}; {nearest(name, known)}")
        return read(path, place)


def overrides(texts: Iterable[str]) -> dict[str, object]:
    """``KEY=VALUE`` texts as a mapping, values read as YAML.

    Raises:
        ConfigError: a text without ``=``, or a value that is no YAML.
    """
    found: dict[str, object] = {}
    for text in texts:
        key, _, value = text.partition("=")
        if not key or not value:
            raise ConfigError(f"--config {text}: expected KEY=VALUE, such as seeds=3")
        if key in found:
            raise ConfigError(f"--config {text}: {key} stands twice")
        found[key] = read_text(value, f"--config {text}")
    return found


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
    """Where a training reads its documents as they are stored, its steps are the batches that the task drew."""
    for key, run in study.runs.items():
        drawn = study.data[run.data].options.get("batch")
        if run.training.get("order") == "stored" and drawn not in (None, run.training["batch"]):
            raise ConfigError(
                f"{place}: runs.{key}.training.batch: {run.training['batch']}, but its data set {run.data} is "
                f"drawn in batches of {drawn} and read as it is stored; make them equal, or order: shuffled"
            )


def _resolved(run: Run, study: Study, place: str) -> Run:
    """The run with every option that it leaves out filled in, so that a changed default changes the recipe."""
    if run.kind is not None:
        for key in ("model", "objective", "training", "streams", "seeds", "start", "quick"):
            if getattr(run, key):
                raise ConfigError(
                    f"{place}.{key}: a reference run (kind: {run.kind}) has only label, data and options"
                )
        plugins.check_name("references", run.kind, f"{place}.kind")
        options = plugins.options("references", run.kind, run.options, f"{place}.options")
        if int(options.get("corpus_seed", 0)) >= TUNING_SEEDS:
            raise ConfigError(
                f"{place}.options.corpus_seed: expected a number below {TUNING_SEEDS}, as of any seed"
            )
        return run.model_copy(update={"options": options})
    if run.options:
        raise ConfigError(f"{place}.options: a trained run writes its options under model, objective and training")
    model, objective, training = together(
        [
            lambda: plugin_values("models", run.model, f"{place}.model"),
            lambda: plugin_values("objectives", run.objective, f"{place}.objective"),
            lambda: plugins.options("training", "loop", study.training | run.training, f"{place}.training"),
        ]
    )
    return run.model_copy(update={"model": model, "objective": objective, "training": training})


def _measuring(name: str, entry: Evaluation, place: str) -> Evaluation:
    """The evaluation with every option filled in."""
    plugins.check_name("evaluations", name, place)
    options = plugins.options("evaluations", name, entry.options, f"{place}.options")
    return entry.model_copy(update={"options": options})


def _check_measurable(name: str, study: Study, place: str) -> None:
    """Every run that an evaluation names is one that it can measure; where it names none, there is one at all."""
    chosen = study.evaluations[name].runs
    if isinstance(chosen, list):
        for run in chosen:
            if obstacle := _obstacle(name, study.runs[run], study):
                raise ConfigError(f"{place}.runs: {run}: {obstacle}")
        return
    runs = [run for run in study.runs.values() if run.trained or chosen == "all"]
    obstacles = [_obstacle(name, run, study) for run in runs]
    if all(obstacles):
        reason = next(iter(obstacles), "no run trains")
        raise ConfigError(f"{place}.runs: {chosen}: it can measure none of the study's runs: {reason}")


def _obstacle(evaluation: str, run: Run, study: Study) -> str:
    """Why an evaluation cannot measure a run; empty where it can."""
    models, contexts = plugins.measures(evaluation)
    source, context = ("task", "TaskContext") if study.data[run.data].task else ("language", "Context")
    if context not in contexts:
        return f"{evaluation} measures no run on a {source}"
    folder, kind = ("objectives", str(run.objective["kind"])) if run.trained else ("references", str(run.kind))
    offered = plugins.offers(folder, kind)
    protocols = models - {"TrainedModel"}
    if ("TrainedModel" in models and run.trained) or any(plugins.asks(one) <= offered for one in protocols):
        return ""
    if not protocols:
        return f"{evaluation} measures runs that train, and this is a reference run"
    needed = " or ".join(sorted("+".join(sorted(plugins.asks(one))) for one in protocols))
    return f"{evaluation} needs a run with {needed}, which {folder}/{kind}.py does not define"


def _drawn(data: Data, place: str) -> Data:
    """The data set with every option of its task filled in."""
    if data.task is None:
        return data
    plugins.check_name("tasks", data.task, f"{place}.task")
    options = plugins.options("tasks", data.task, data.options, f"{place}.options")
    return data.model_copy(update={"options": options})


def _reduced(study: Study, scope: str) -> Study:
    """The study as a scope builds it: in a quick build trained briefly, as sentinels for a few steps."""
    if scope == "quick":
        few = {name: _least(data, FEW_DOCUMENTS) for name, data in study.data.items()}
        return study.model_copy(update={"data": few, "runs": _brief(study.runs, QUICK_EPOCHS)})
    if scope == "sentinels":
        batch = max((int(run.training["batch"]) for run in study.runs.values() if run.trained), default=1)
        sizes = {"training": SENTINEL_STEPS * batch, "validation": FEW_DOCUMENTS, "test": FEW_DOCUMENTS}
        few = {name: data.model_copy(update=sizes) for name, data in study.data.items()}
        return study.model_copy(update={"data": few, "runs": _brief(study.runs, 1)})
    return study


def _least(data: Data, documents: int) -> Data:
    sizes = {"validation": min(data.validation, documents), "test": min(data.test, documents)}
    return data.model_copy(update=sizes)


def _brief(runs: Mapping[str, Run], epochs: int) -> dict[str, Run]:
    """The runs with so many epochs at most."""
    return {
        name: run.model_copy(
            update={"training": run.training | {"epochs": min(int(run.training["epochs"]), epochs)}}
        )
        if run.trained
        else run
        for name, run in runs.items()
    }


def tuned(study: Study, place: str) -> list[Run]:
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
        partial(plugin_values, "models", run.model | choice, f"{place}: tune.grid[{index}]")
        for index, choice in enumerate(study.tune.grid)
    ]
    return [run.model_copy(update={"model": model}) for model in together(models)]


def plugin_values(folder: str, values: Mapping[str, object], place: str) -> Values:
    """``{kind: NAME, option: value}`` with all options of the plug-in.

    Raises:
        ConfigError: no ``kind``, unknown plug-in or option, wrong type.
    """
    kind = values.get("kind")
    if not isinstance(kind, str):
        known = nearest(kind, plugins.names(folder))
        raise ConfigError(f"{place}.kind: expected the name of a plug-in, found {shown(kind)}; {known}")
    plugins.check_name(folder, kind, f"{place}.kind")
    given = {key: value for key, value in values.items() if key != "kind"}
    return {"kind": kind} | plugins.options(folder, kind, given, place)
