"""One measurement: an evaluation of all seeds of a run, in one process, since starting Python takes long."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seedbed.configuration import plugins
from seedbed.configuration.schema import Evaluation, Run
from seedbed.observations import Row, rows
from seedbed.pipeline import storage
from seedbed.pipeline.fingerprint import digest, fingerprint
from seedbed.pipeline.jobs import training
from seedbed.pipeline.jobs.corpus import Corpus
from seedbed.pipeline.jobs.job import Job
from seedbed.pipeline.jobs.training import Training
from seedbed.pipeline.noise import noise
from seedbed.pipeline.table import kept_rows, seed_path, write_rows

if TYPE_CHECKING:
    from seedbed.measuring.context import Context, TaskContext


@dataclass(frozen=True, eq=False)
class ReferenceRun:
    """A run without training, measured like the trained ones; it has no seed.

    Attributes:
        entry: What the study file says of the run.
        test: The study's test set.
        corpus: The training corpus that it counts, if its kind has the option ``corpus_seed``.
    """

    entry: Run
    test: Corpus
    corpus: Corpus | None

    @property
    def seed(self) -> None:
        """It has none."""
        return

    @property
    def inputs(self) -> tuple[Job, ...]:
        """The corpus that it counts."""
        return (self.corpus,) if self.corpus else ()

    @cached_property
    def recipe(self) -> str:
        """The hash of its values alone, whatever the code."""
        return training.recipe(self.entry, self.test, None)

    def model(self) -> Any:  # noqa: ANN401 - a plug-in's class
        """What an evaluation measures."""
        module = plugins.load("references", str(self.entry.kind))
        material = [self.test.source.loaded, *([self.corpus.read()] if self.corpus else [])]
        with noise(None, "building", training.modules(self.entry)):
            return module.Reference(module.Options(**self.entry.options), *material)


@dataclass(frozen=True, eq=False)
class Measurement:
    """Job: measure a run with one evaluation, all its seeds.

    Attributes:
        study: The study.
        run: The name of the run in it.
        evaluation: The name of the evaluation in it.
        entry: What the study file says of the evaluation.
        test: The study's test set.
        measured: What is measured: the training of each seed, or the one reference run.
    """

    OUTPUTS = ("results/observations/{study}/{run}/{evaluation}.parquet",)

    study: str
    run: str
    evaluation: str
    entry: Evaluation
    test: Corpus
    measured: tuple[Training | ReferenceRun, ...]

    @property
    def outputs(self) -> tuple[Path, ...]:
        """One table of observations."""
        place = {"study": self.study, "run": self.run, "evaluation": self.evaluation}
        return tuple(Path(one.format(**place)) for one in self.OUTPUTS)

    @property
    def inputs(self) -> tuple[Job, ...]:
        """The test set, and every training with its corpus, or the corpus that a reference run counts."""
        trainings = [one for one in self.measured if isinstance(one, Training)]
        corpora = [one.corpus for one in self.measured if one.corpus]
        return (self.test, *dict.fromkeys(corpora), *trainings)

    @property
    def place(self) -> str:
        """Where the configuration asks for it."""
        return f"config/studies/{self.study}.yaml: evaluations.{self.evaluation}, measuring {self.run}"

    @cached_property
    def rows(self) -> dict[int | None, dict[str, str]]:
        """``recipe`` and ``fingerprint`` of the observations, by seed."""
        return {one.seed: self._hashes(one) for one in self.measured}

    def _hashes(self, measured: Training | ReferenceRun) -> dict[str, str]:
        # The kind, not the name: a renamed entry measures the same.
        values = {"evaluation": self.entry.kind, "options": self.entry.options}
        inputs = [measured] if isinstance(measured, Training) else measured.inputs
        return {
            "recipe": digest(values | {"recipe": measured.recipe}),
            "fingerprint": fingerprint(
                values | {"job": "evaluate", "format": storage.FORMAT, "run": training.values(measured.entry)},
                self.modules,
                inputs=[self.test.fingerprint, *(one.fingerprint for one in inputs)],
            ),
        }

    @property
    def modules(self) -> list[str]:
        """The modules that it computes with."""
        run = self.measured[0].entry
        trained = ["seedbed.measuring.trained"] if run.trained else []
        given = ["seedbed.measuring.context", *trained]
        return [
            f"seedbed.evaluations.{self.entry.kind}",
            *given,
            *training.modules(run),
            self.test.source.module,
            "seedbed.randomness",
        ]

    @cached_property
    def fingerprint(self) -> str:
        """The hash of its rows' fingerprints."""
        return digest(sorted(one["fingerprint"] for one in self.rows.values()))

    def compute(self) -> None:
        """Measure every seed that is not measured yet, one after another; write all their observations."""
        found: list[Row] = []
        for one in self.measured:
            path, own = seed_path(self.outputs[0], one.seed), self.rows[one.seed]["fingerprint"]
            found += kept_rows(path, own, partial(self._measure, one))
        write_rows(self.outputs[0], found, self.fingerprint)

    def _measure(self, one: Training | ReferenceRun) -> list[Row]:
        """The observations of one seed, independent of what was measured before."""
        module = plugins.load("evaluations", str(self.entry.kind))
        options = module.Options(**self.entry.options)
        place: Row = {"study": self.study, "run": self.run, "seed": one.seed}
        with noise(one.seed, f"noise of {self.entry.kind}", self.modules):
            model, context = one.model(), self._context(one.seed)
            return rows(module.evaluate(model, context, options), **place, **self.rows[one.seed])

    def _context(self, seed: int | None) -> Context | TaskContext:
        from seedbed.languages.automaton import Language
        from seedbed.measuring.context import Context, TaskContext

        source, test = self.test.source.loaded, self.test.kept
        if isinstance(source, Language):
            return Context(source, test, 0 if seed is None else seed)
        return TaskContext(source, test)
