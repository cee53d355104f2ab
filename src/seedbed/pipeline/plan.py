"""The plan: for every job of a build, where its result stands and what its fingerprint must be.

The Snakefile and the commands both ask here, so that a job can refuse a fingerprint that is not its own. Parsing
the workflow must be quick: nothing here imports torch or pandas.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property, partial
from pathlib import Path

from seedbed.configuration import plugins
from seedbed.configuration.claim_files import Claims, check_names, read_claims, settings
from seedbed.configuration.configuration import ROOT, Configuration, Data, Run, Study, Values, tuned
from seedbed.configuration.validation import together
from seedbed.configuration.yaml import ConfigError
from seedbed.pipeline.fingerprint import REPORTING, digest, fingerprint
from seedbed.pipeline.reference_files import contents, read_watched
from seedbed.pipeline.storage import FORMAT, carries
from seedbed.statistics.observed import ObservationKey

RESULTS = Path("results")
OBSERVATIONS = RESULTS / "observations.parquet"
VERDICTS = RESULTS / "verdicts.parquet"
TIMINGS = RESULTS / "timings.parquet"
COMPARISON = RESULTS / "comparison.parquet"
PAGE = RESULTS / "report" / "index.html"
#: Where the page's templates, style, script and captions stand.
TEMPLATES = ROOT / "report"

#: What a training writes: weights and log, which evaluations read, and its cost, which only the page shows.
RUN_FILES = ("model.safetensors", "log.parquet", "cost.parquet")
SPLITS = ("training", "validation", "test")
#: The purposes of the streams of a training; a run may pin the seed of each.
PURPOSES = ("data", "initialisation", "order", "corruption")


def data_path(study: str, data: str, split: str, seed: int | None) -> Path:
    """A file of documents; validation and test belong to no seed."""
    folder = RESULTS / "data" / study / data
    return folder / f"{split}.parquet" if seed is None else folder / f"seed-{seed}" / f"{split}.parquet"


def run_path(study: str, run: str, seed: int, file: str) -> Path:
    """A file of a training, one of `RUN_FILES`."""
    return RESULTS / "runs" / study / run / f"seed-{seed}" / file


def observations_path(study: str, run: str, evaluation: str) -> Path:
    """The observations of one evaluation of a run, all its seeds."""
    return RESULTS / "observations" / study / run / f"{evaluation}.parquet"


class Plan:
    """The jobs of a configuration and their fingerprints."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        # Many results depend on the same grammar, corpus and training: hash each once.
        # As text: a word's rank is its place in the lexicon, so the order of keys counts.
        self.grammar = cache(lambda language: digest(json.dumps(configuration.languages[language])))
        self.data = cache(self._data)
        self.train = cache(self._train)
        self.recipe = cache(self._recipe)
        self.row = cache(self._row)
        self.evaluate = cache(self._evaluate)
        self.observations = cache(self._observations)
        self.verdicts = cache(self._verdicts)
        self.timings = cache(self._timings)
        self.comparison = cache(self._comparison)

    def run(self, study: str, run: str) -> Run:
        """The entry of a run in its study file."""
        return self.configuration.studies[study].runs[run]

    def seeds(self, study: str, run: str, seed: int) -> dict[str, int]:
        """The seed of each stream of a training: the training's own, unless the run pins it."""
        return dict.fromkeys(PURPOSES, seed) | dict(self.run(study, run).streams)

    def corpus_seed(self, study: str, run: str, seed: int | None) -> int | None:
        """The seed of the training corpus behind a run's predictions.

        A reference run (``seed`` is None) has none, unless its kind has the option ``corpus_seed``.
        """
        if seed is not None:
            return self.seeds(study, run, seed)["data"]
        named = self.run(study, run).options.get("corpus_seed")
        return None if named is None else int(named)

    def data_set(self, study: str, data: str) -> Data:
        """The entry of a data set in its study file."""
        return self.configuration.studies[study].data[data]

    def _drawn(self, study: str, data: str, split: str, seed: int | None) -> dict[str, object]:
        """The values of a split, its grammar as a hash."""
        entry = self.data_set(study, data)
        source = {"task": entry.task, "options": entry.options}
        if entry.language:
            source = {"grammar": self.grammar(entry.language)}
        return source | {"documents": getattr(entry, split), "split": split, "study": study, "seed": seed}

    def _data(self, study: str, data: str, split: str, seed: int | None) -> str:
        """The fingerprint of a split's documents."""
        values = {"job": "data", "format": FORMAT} | self._drawn(study, data, split, seed)
        return fingerprint(values, ["seedbed.corpora", source_module(self.data_set(study, data))], ["numpy"])

    def _recipe(self, study: str, run: str, seed: int | None) -> str:
        """The hash of a run's values and seed alone, whatever the code."""
        entry = self.run(study, run)
        data = {split: self._drawn(study, entry.data, split, None) for split in SPLITS}
        start = entry.start and self.recipe(entry.start.study, entry.start.run, seed)
        return digest({"run": _values(entry), "data": data, "seed": seed, "start": start})

    def training_files(self, study: str, run: str, seed: int) -> dict[str, Path]:
        """What a training reads: its own corpus, the study's validation set, and the weights it starts from."""
        entry, corpus = self.run(study, run), self.seeds(study, run, seed)["data"]
        files = {
            "training": data_path(study, entry.data, "training", corpus),
            "validation": data_path(study, entry.data, "validation", None),
        }
        if entry.start:
            files["start"] = run_path(entry.start.study, entry.start.run, seed, "model.safetensors")
        return files

    def evaluation_files(self, study: str, run: str) -> list[Path]:
        """What an evaluation reads: the study's test set, and training corpus, weights and log of every seed."""
        data = self.run(study, run).data
        seeds = [seed for seed in self.configuration.seeds(study, run) if seed is not None]
        return [
            data_path(study, data, "test", None),
            *(data_path(study, data, "training", corpus) for corpus in self.training_corpora(study, run)),
            *(run_path(study, run, seed, file) for seed in seeds for file in RUN_FILES[:2]),
        ]

    def study_files(self, study: str) -> list[Path]:
        """What the evaluations of a study read, each file once."""
        runs = dict.fromkeys(run for name, run, _ in self.evaluations() if name == study)
        return list(dict.fromkeys(path for run in runs for path in self.evaluation_files(study, run)))

    def training_corpora(self, study: str, run: str) -> list[int]:
        """The seeds of all training corpora behind a run's predictions, each once."""
        found = {self.corpus_seed(study, run, seed) for seed in self.configuration.seeds(study, run)}
        return sorted(seed for seed in found if seed is not None)

    def _train(self, study: str, run: str, seed: int) -> str:
        """The fingerprint of a training."""
        entry, seeds = self.run(study, run), self.seeds(study, run, seed)
        return fingerprint(
            {"job": "train", "format": FORMAT, "run": _values(entry), "seeds": seeds},
            [*modules(entry), source_module(self.data_set(study, entry.data))],
            inputs=[
                self.data(study, entry.data, "training", seeds["data"]),
                self.data(study, entry.data, "validation", None),
                *([self.train(entry.start.study, entry.start.run, seed)] if entry.start else []),
            ],
        )

    def _row(self, study: str, run: str, evaluation: str, seed: int | None) -> dict[str, str]:
        """``recipe`` and ``fingerprint`` of the observations of one seed."""
        entry = self.run(study, run)
        options = self.configuration.studies[study].evaluations[evaluation].options
        values = {"evaluation": evaluation, "options": options}
        inputs = [self.data(study, entry.data, "test", None)]
        if seed is not None:
            inputs.append(self.train(study, run, seed))
        elif (corpus := self.corpus_seed(study, run, None)) is not None:
            inputs.append(self.data(study, entry.data, "training", corpus))
        return {
            "recipe": digest(values | {"recipe": self.recipe(study, run, seed)}),
            "fingerprint": fingerprint(
                values | {"job": "evaluate", "format": FORMAT, "run": _values(entry)},
                [*modules(entry, evaluation), source_module(self.data_set(study, entry.data))],
                inputs=inputs,
            ),
        }

    def _evaluate(self, study: str, run: str, evaluation: str) -> str:
        """The fingerprint of a file of observations: that of its rows' fingerprints."""
        seeds = self.configuration.seeds(study, run)
        return digest(sorted(self.row(study, run, evaluation, seed)["fingerprint"] for seed in seeds))

    def evaluate_study(self, study: str) -> str:
        """The fingerprint of all observations of a study."""
        return digest(sorted(self.evaluate(*one) for one in self.evaluations() if one[0] == study))

    def evaluations(self) -> Iterator[tuple[str, str, str]]:
        """Every (study, run, evaluation) of the build."""
        for study, entry in self.configuration.studies.items():
            for evaluation in entry.evaluations:
                for run in self.configuration.evaluated(study, evaluation):
                    yield study, run, evaluation

    def corpora(self) -> Iterator[tuple[str, str, str, int | None]]:
        """Every (study, data set, split, seed) that a run reads."""
        for study, run, _ in self.evaluations():
            data = self.run(study, run).data
            yield study, data, "test", None
            yield from ((study, data, "training", corpus) for corpus in self.training_corpora(study, run))
        for study, run, seed in self.trainings():
            data = self.run(study, run).data
            yield study, data, "training", self.seeds(study, run, seed)["data"]
            yield study, data, "validation", None

    def trainings(self) -> Iterator[tuple[str, str, int]]:
        """Every (study, run, seed) that trains."""
        for study in self.configuration.studies:
            for run in self.configuration.runs(study):
                for seed in self.configuration.seeds(study, run):
                    if seed is not None:
                        yield study, run, seed

    def files(self) -> Iterator[tuple[Path, str]]:
        """Every result with the fingerprint that it must carry."""
        for corpus in self.corpora():
            yield data_path(*corpus), self.data(*corpus)
        for study, run, seed in self.trainings():
            for file in RUN_FILES:
                yield run_path(study, run, seed, file), self.train(study, run, seed)
        for one in self.evaluations():
            yield observations_path(*one), self.evaluate(*one)
        yield from ((OBSERVATIONS, self.observations()), (VERDICTS, self.verdicts()))
        yield from ((TIMINGS, self.timings()), (COMPARISON, self.comparison()), (PAGE, self.page()))

    def pending(self) -> list[Path]:
        """The results that are missing, or of other code, values or inputs than the present ones."""
        return [path for path, own in dict(self.files()).items() if not carries(path, own)]

    def stale(self) -> list[Path]:
        """The results that exist and are of other code, values or inputs than the present ones."""
        return [path for path in self.pending() if path.exists()]

    def _observations(self) -> str:
        """The fingerprint of the one table."""
        parts = [self.evaluate(*one) for one in self.evaluations()]
        return fingerprint({"job": "observations", "format": FORMAT}, ["seedbed.observations"], [], sorted(parts))

    @cached_property
    def claims(self) -> Claims:
        """The claims, checked against the configuration."""
        claims = read_claims(self.configuration.root)
        check_names(claims, self.configuration)
        return claims

    def rebuilt(self) -> list[str]:
        """The studies whose language is a reconstruction."""
        return sorted(name for name, study in self.configuration.studies.items() if study.rebuilt)

    def _verdicts(self) -> str:
        """The fingerprint of the verdicts."""
        # As text, and in order: that of the keys of a condition says which number is which.
        claims = [
            (name, claim.model_dump_json(exclude_defaults=True)) for name, claim in self.claims.claims.items()
        ]
        values = {
            "claims": claims,
            "settings": settings(self.claims, self.configuration),
            "rebuilt": self.rebuilt(),
        }
        return fingerprint(
            {"job": "verdicts", "format": FORMAT} | values,
            ["seedbed.statistics.verdicts"],
            REPORTING,
            [self.observations()],
        )

    def _timings(self) -> str:
        """The fingerprint of the timings: that of the trainings that they belong to."""
        return digest(sorted(self.train(*one) for one in self.trainings()))

    @cached_property
    def watched(self) -> list[ObservationKey]:
        """The numbers that a comparison with the reference decides on."""
        return read_watched(self.configuration)

    @cached_property
    def references(self) -> dict[str, str]:
        """The studies that a build is compared in, each with the hash of its reference; a quick build in none."""
        return {} if self.configuration.quick else contents(self.configuration.studies)

    def _comparison(self) -> str:
        """The fingerprint of the comparison with the reference."""
        values = {"watched": self.watched, "reference": self.references}
        return fingerprint(
            {"job": "comparison", "format": FORMAT} | values,
            ["seedbed.statistics.comparison"],
            [*REPORTING, "torch"],
            [self.observations(), self.verdicts(), self.timings()],
        )

    def page(self) -> str:
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
            {"job": "page", "format": FORMAT} | values,
            page_modules(configuration.studies),
            REPORTING,
            [self.observations(), self.verdicts(), self.timings(), self.comparison()],
            sorted(file.relative_to(ROOT) for file in TEMPLATES.rglob("*") if file.is_file()),
        )


def _values(run: Run) -> dict[str, object]:
    """What a run's results depend on: everything but its label and how often and when it runs."""
    return run.model_dump(mode="json", exclude={"label", "seeds", "quick"})


def _plugins(run: Run) -> list[tuple[str, str, Values]]:
    """The plug-ins of a run: folder, name, options."""
    if run.kind is not None:
        return [("references", run.kind, run.options)]
    parts = [("models", *split(run.model)), ("objectives", *split(run.objective))]
    return [*parts, ("training", "loop", run.training)]


def modules(run: Run, evaluation: str | None = None) -> list[str]:
    """The modules that a training computes with, or an evaluation of the run."""
    own = [f"seedbed.{folder}.{name}" for folder, name, _ in _plugins(run)]
    if evaluation is None:
        return own
    predictor = ["seedbed.evaluations.trained"] if run.trained else []
    return [f"seedbed.evaluations.{evaluation}", *predictor, *own]


def source_module(data: Data) -> str:
    """The module that makes what a data set's documents are drawn from."""
    return f"seedbed.tasks.{data.task}" if data.task else "seedbed.languages.compilation"


def page_modules(studies: Iterable[str]) -> list[str]:
    """The modules that make the page: its own, and those that declare a study's figures."""
    shown = {name.replace("-", "_") for name in studies}
    declared = {file.stem for file in (plugins.PACKAGE / "reporting" / "studies").glob("*.py")}
    return [
        "seedbed.reporting.page",
        *(f"seedbed.reporting.studies.{name}" for name in sorted(declared & shown)),
    ]


def split(values: Values) -> tuple[str, Values]:
    """``{kind: NAME, option: value}`` as the name and the options."""
    return str(values["kind"]), {key: value for key, value in values.items() if key != "kind"}


def check(configuration: Configuration) -> None:
    """Compile every grammar and build every plug-in's Options, which checks how they hang together.

    Raises:
        ConfigError: a grammar means nothing, or a plug-in refuses its options; everything that is wrong at once.
    """
    languages = [partial(_compile, name, grammar) for name, grammar in configuration.languages.items()]
    options = [
        partial(plugins.build, folder, kind, values, f"config/studies/{name}.yaml: {key}")
        for name, study in configuration.studies.items()
        for key, folder, kind, values in _optional(study, f"config/studies/{name}.yaml")
    ]
    together([lambda: together(languages), lambda: together(options)])


def _compile(name: str, grammar: Mapping[str, object]) -> None:
    from seedbed.languages.compilation import read_language

    try:
        read_language(grammar, f"config/languages/{name}.yaml")
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _optional(study: Study, file: str) -> Iterator[tuple[str, str, str, Values]]:
    """Every plug-in that a study asks for: where, folder, name, options."""
    for name, data in study.data.items():
        if data.task:
            yield f"data.{name}.options", "tasks", data.task, data.options
    keys = {"models": "model", "objectives": "objective", "references": "options"}
    for name, run in study.runs.items():
        for folder, kind, values in _plugins(run):
            shared = folder == "training" and values == study.training
            yield "training" if shared else f"runs.{name}.{keys.get(folder, folder)}", folder, kind, values
    for index, run in enumerate(tuned(study, file)):
        yield f"tune.grid[{index}]", "models", *split(run.model)
    for name, entry in study.evaluations.items():
        yield f"evaluations.{name}.options", "evaluations", name, entry.options
