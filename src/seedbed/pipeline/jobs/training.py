"""One training: a run of one seed."""

from __future__ import annotations

import math
import resource
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seedbed.configuration import plugins
from seedbed.configuration.schema import Run, Values
from seedbed.configuration.yaml import ConfigError
from seedbed.observations import Observation, Row, rows
from seedbed.pipeline import storage
from seedbed.pipeline.fingerprint import digest, fingerprint
from seedbed.pipeline.jobs.corpus import SPLITS, Corpus
from seedbed.pipeline.jobs.job import Job
from seedbed.pipeline.jobs.source import Source
from seedbed.pipeline.machine import machine
from seedbed.pipeline.noise import noise
from seedbed.pipeline.table import write_rows

if TYPE_CHECKING:
    import numpy as np
    import torch
    from torch import nn

    from seedbed.documents import Documents
    from seedbed.languages.vocabulary import Vocabulary
    from seedbed.measuring.trained import TrainedModel
    from seedbed.training.loop import Objective, Trained

#: The purposes of the streams of a training; a run may pin the seed of each.
PURPOSES = ("data", "initialisation", "order", "corruption", "noise")


@dataclass(frozen=True, eq=False)
class Training:
    """Job: train one run of one seed.

    Attributes:
        study: The study.
        run: The name of the run in it.
        seed: The seed.
        entry: What the study file says of the run.
        corpus: What it trains on.
        validation: What its epochs are compared on.
        start: The training whose weights it begins with, if there is one.
    """

    OUTPUTS = tuple(
        f"results/runs/{{study}}/{{run}}/seed-{{seed}}/{file}"
        for file in ("model.safetensors", "log.parquet", "cost.parquet")
    )

    study: str
    run: str
    seed: int
    entry: Run
    corpus: Corpus
    validation: Corpus
    start: Training | None

    @property
    def outputs(self) -> tuple[Path, ...]:
        """Weights and log, which evaluations read, and the cost, which only the index shows."""
        return tuple(Path(one.format(study=self.study, run=self.run, seed=self.seed)) for one in self.OUTPUTS)

    @property
    def weights(self) -> Path:
        """The file of its weights."""
        return self.outputs[0]

    @property
    def log(self) -> Path:
        """The file of its log."""
        return self.outputs[1]

    @property
    def cost(self) -> Path:
        """The file of its seconds and memory."""
        return self.outputs[2]

    @property
    def inputs(self) -> tuple[Job, ...]:
        """Its own corpus, the study's validation set, and the training that it begins with."""
        return (self.corpus, self.validation, *([self.start] if self.start else []))

    @property
    def place(self) -> str:
        """Where the configuration asks for it."""
        return f"config/studies/{self.study}.yaml: runs.{self.run}"

    @property
    def streams(self) -> dict[str, int]:
        """The seed of each stream: the training's own, unless the run pins it."""
        return streams(self.entry, self.seed)

    @cached_property
    def recipe(self) -> str:
        """The hash of the run's values and seed alone, whatever the code."""
        return recipe(self.entry, self.corpus, self.seed, self.start)

    @cached_property
    def fingerprint(self) -> str:
        """The hash of values, code and inputs."""
        return fingerprint(
            {"job": "train", "format": storage.FORMAT, "run": values(self.entry), "seeds": self.streams},
            self.modules,
            inputs=[one.fingerprint for one in self.inputs],
        )

    @property
    def modules(self) -> list[str]:
        """The modules that it computes with."""
        return [*modules(self.entry), self.corpus.source.module]

    def compute(self) -> None:
        """Train; write weights, log and cost."""
        import pyarrow as pa

        began, used = time.monotonic(), _processor_seconds()
        start = storage.read_weights(self.start.weights, self.start.fingerprint) if self.start else None
        trained = self.fit(self.corpus.read(), self.validation.read(), start)
        storage.write_table(self.log, pa.table(asdict(trained.log)), self.fingerprint)
        cost = _cost(time.monotonic() - began, _processor_seconds() - used)
        place: Row = {"study": self.study, "run": self.run, "seed": self.seed, "recipe": ""}
        write_rows(self.cost, rows(cost, **place, fingerprint=self.fingerprint), self.fingerprint)
        storage.write_weights(self.weights, trained.weights, self.fingerprint)

    def fit(
        self, training: Documents, validation: Documents, start: Mapping[str, torch.Tensor] | None = None
    ) -> Trained:
        """Build what the run's entry describes, and train it in memory.

        Raises:
            ConfigError: the model cannot read what the objective makes, nothing of a batch is to be predicted, or
                a document is too long for the model.
        """
        from seedbed.training import loop

        options: loop.Options = plugins.load("training", "loop").Options(**self.entry.training)
        network, objective = self._network(), self._objective()
        _require_fit(network, objective, self.entry)
        _require_targets(training, options.batch, "training")
        _require_targets(validation, len(validation), "validation")
        for split, documents in {"training": training, "validation": validation}.items():
            _require_length(network, objective, documents, split)
        scored = _Scored(objective, str(self.entry.objective["kind"]))
        return loop.train(network, scored, training, validation, options, self.streams, start)

    def model(self) -> TrainedModel:
        """The trained model as an evaluation sees it."""
        from seedbed.log import Log
        from seedbed.measuring.trained import TrainedModel

        network = self._network()
        network.load_state_dict(storage.read_weights(self.weights, self.fingerprint), assign=True)
        log = storage.read_table(self.log, self.fingerprint).to_pydict()
        first = None if self.start else self.streams["initialisation"]
        return TrainedModel(network, self._objective(), Log(**log), self.corpus.read, first)

    def _network(self) -> nn.Module:
        with self._building():
            return network(self.entry.model, self.corpus.source)

    def _objective(self) -> Objective[object]:
        with self._building():
            return objective(self.entry.objective, self.corpus.source.loaded.vocabulary)

    def _building(self) -> AbstractContextManager[None]:
        """What a constructor draws is the same in the training and in each measurement."""
        return noise(self.streams["noise"], "building", self.modules)


def streams(entry: Run, seed: int) -> dict[str, int]:
    """The seed of each stream of a training: its own, unless the run pins it."""
    return dict.fromkeys(PURPOSES, seed) | dict(entry.streams)


def recipe(entry: Run, data: Corpus, seed: int | None, start: Training | None = None) -> str:
    """The hash of a run's values and seed alone, whatever the code; ``data`` is any split of its data set."""
    own = {"study": data.study, "seed": None}
    splits = {
        split: data.source.values | own | {"documents": getattr(data.entry, split), "split": split}
        for split in SPLITS
    }
    return digest({"run": values(entry), "data": splits, "seed": seed, "start": start and start.recipe})


def values(entry: Run) -> dict[str, object]:
    """What a run's results depend on: all of its entry except label, number of seeds and ``quick``."""
    return entry.model_dump(mode="json", exclude={"label", "seeds", "quick"})


def modules(entry: Run) -> list[str]:
    """The modules of a run's plug-ins."""
    found = [f"seedbed.{folder}.{name}" for folder, name, _ in plugins_of(entry)]
    return found + [one for part in plugins_of(entry) for one in plugins.parts(*part)]


def plugins_of(entry: Run) -> list[tuple[str, str, Values]]:
    """The plug-ins of a run: folder, name, options."""
    if entry.kind is not None:
        return [("references", entry.kind, entry.options)]
    parts = [("models", *kind_and_options(entry.model)), ("objectives", *kind_and_options(entry.objective))]
    return [*parts, ("training", "loop", entry.training)]


def kind_and_options(values: Values) -> tuple[str, Values]:
    """``{kind: NAME, option: value}`` as the name and the options."""
    return str(values["kind"]), {key: value for key, value in values.items() if key != "kind"}


def network(values: Values, source: Source) -> nn.Module:
    """The network that a model's entry describes, for the vocabulary of a source; its weights are not filled."""
    from seedbed.models.initialisation import unfilled

    kind, options = kind_and_options(values)
    module = plugins.load("models", kind)
    vocabulary = len(source.loaded.vocabulary)
    made: nn.Module = unfilled(lambda: module.Model(module.Options(**options), vocabulary))
    return made


def objective(values: Values, vocabulary: Vocabulary) -> Objective[object]:
    """The objective that an entry describes."""
    kind, options = kind_and_options(values)
    module = plugins.load("objectives", kind)
    made: Objective[object] = module.Objective(module.Options(**options), vocabulary)
    return made


def _require_fit(network: nn.Module, objective: object, entry: Run) -> None:
    """Refuse a model that does not see all that its objective shows: it would silently train on something else."""
    needed, reads = getattr(objective, "reads", "causal"), getattr(network, "reads", ("causal",))
    if needed not in reads:
        raise ConfigError(
            f"objective {entry.objective['kind']} is {needed} here, and model {entry.model['kind']} reads "
            f"{' or '.join(reads)}: take another model (its class says what it `reads`) or another objective"
        )


def _require_length(network: nn.Module, objective: Objective[Any], documents: Documents, split: str) -> None:
    """Refuse documents that are too long for the model before the first step, and not in a later one."""
    import numpy as np
    import torch

    longest = int(documents.lengths.argmax())
    try:
        with torch.no_grad():
            objective.loss(network, objective.examples(documents.take([longest]), np.random.default_rng(0)))
    except ValueError as error:
        length = int(documents.lengths[longest])
        raise ConfigError(
            f"{split} document {longest}, the longest of all with {length} tokens: {error}"
        ) from error


def _require_targets(documents: Documents, batch: int, split: str) -> None:
    """Refuse documents of which a batch could have no token to predict, which has no loss.

    A document of a single token adds nothing to a batch of others.
    """
    short, every = int((documents.lengths < 2).sum()), len(documents)
    smallest = every % batch or batch if every else 0
    if short >= smallest:
        raise ConfigError(
            f"{split} documents: {short} of {every} have fewer than 2 tokens, so a batch of {smallest} may have "
            "nothing to predict: let the data's source give every document at least 2 tokens"
        )


@dataclass(frozen=True)
class _Scored:
    """An objective that refuses to train on a batch of which it scores nothing: its mean loss would be 0 / 0."""

    objective: Objective[Any]
    kind: str

    def examples(self, documents: Documents, rng: np.random.Generator) -> object:
        """As the objective says."""
        return self.objective.examples(documents, rng)

    def loss(self, model: nn.Module, batch: object) -> tuple[torch.Tensor, int]:
        """As the objective says.

        Raises:
            ConfigError: it scores no token of a batch in training.
        """
        total, count = self.objective.loss(model, batch)
        if model.training and not count:
            raise ConfigError(
                f"objective {self.kind} scores no token of a batch: let it score one of every document, or take "
                "longer documents or a larger batch"
            )
        return total, count


def _cost(wall: float, processor: float) -> Iterator[Observation]:
    """The time and memory of a training, and its processor."""
    condition = {"job": "train"}
    yield Observation("cpu_seconds", processor, condition, "second")
    yield Observation("wall_seconds", wall, condition, "second")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kibibytes = peak / (1024 if sys.platform == "darwin" else 1)  # macOS counts bytes
    yield Observation("peak_memory", kibibytes / 1024, condition, "MiB")
    for metric, text in machine().items():
        yield Observation(metric, math.nan, condition, text=text)


def _processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
