"""The documents of one split of a data set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from seedbed.configuration.schema import Data
from seedbed.pipeline import storage
from seedbed.pipeline.fingerprint import fingerprint
from seedbed.pipeline.jobs.source import Source
from seedbed.pipeline.noise import noise

if TYPE_CHECKING:
    from seedbed.documents import Documents

SPLITS = ("training", "validation", "test")


class TrainingCorpus:
    """Where a corpus of one seed is."""

    OUTPUTS = ("results/data/{study}/{data}/seed-{seed}/training.parquet",)


class HeldOut:
    """Where validation and test documents are, which belong to no seed."""

    OUTPUTS = ("results/data/{study}/{data}/{split}.parquet",)


@dataclass(frozen=True, eq=False)
class Corpus:
    """Job: draw the documents of one split.

    Attributes:
        study: The study.
        data: The name of the data set in it.
        entry: What the study file says of the data set.
        source: What the documents are drawn from.
        split: One of `SPLITS`.
        seed: The seed of a training corpus; None for the other splits, which belong to no seed.
    """

    study: str
    data: str
    entry: Data
    source: Source
    split: str
    seed: int | None

    @property
    def outputs(self) -> tuple[Path, ...]:
        """One table, a row a document."""
        kind = HeldOut if self.seed is None else TrainingCorpus
        place = {"study": self.study, "data": self.data, "split": self.split, "seed": self.seed}
        return tuple(Path(one.format(**place)) for one in kind.OUTPUTS)

    @property
    def inputs(self) -> tuple[()]:
        """It reads no result."""
        return ()

    @property
    def place(self) -> str:
        """Where the configuration asks for it."""
        return f"config/studies/{self.study}.yaml: data.{self.data}"

    @property
    def size(self) -> int:
        """How many documents it has."""
        return int(getattr(self.entry, self.split))

    @property
    def values(self) -> dict[str, object]:
        """The named values that it is drawn by."""
        own = {"documents": self.size, "split": self.split, "study": self.study, "seed": self.seed}
        return self.source.values | own

    @cached_property
    def fingerprint(self) -> str:
        """The hash of values and code."""
        values = {"job": "data", "format": storage.FORMAT} | self.values
        return fingerprint(values, self.modules, ["numpy"])

    @property
    def modules(self) -> list[str]:
        """The modules that it computes with."""
        return ["seedbed.corpora", self.source.module]

    def draw(self) -> Documents:
        """The documents, in memory."""
        from seedbed.corpora import draw_documents

        with noise(self.seed, f"noise of {self.split} documents", self.modules):
            return draw_documents(self.source.loaded, self.size, self.split, self.study, self.seed)

    def compute(self) -> None:
        """Draw and write the documents."""
        storage.write_documents(self.outputs[0], self.draw(), self.fingerprint)

    def read(self) -> Documents:
        """The stored documents."""
        return storage.read_documents(self.outputs[0], self.fingerprint)

    @cached_property
    def kept(self) -> Documents:
        """The stored documents, read once: what an evaluation derives from them serves all seeds and runs."""
        return self.read()
