"""A job of a build: a value that knows its outputs, its inputs, its fingerprint and how it is computed.

Nothing here, nor in a job's class, imports torch, pandas or pyarrow before `compute` is called: the workflow is
parsed with these values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from seedbed.errors import SeedbedError
from seedbed.pipeline import storage

#: Where all results are, below the current folder.
RESULTS = Path("results")


class JobError(SeedbedError):
    """A job was requested that the present configuration and code do not have."""


class Job(Protocol):
    """One job of a build. Two jobs are the same only if they are the same object."""

    @property
    def outputs(self) -> tuple[Path, ...]:
        """The files that it writes, relative to the build's folder; the first one names the job."""
        ...

    @property
    def inputs(self) -> tuple[Job, ...]:
        """The jobs whose outputs it reads."""
        ...

    @property
    def fingerprint(self) -> str:
        """The hash of everything that determines its outputs, which each of them carries."""
        ...

    @property
    def modules(self) -> Sequence[str]:
        """The modules that it computes with, as its fingerprint covers them; none if no plug-in is among them."""
        ...

    @property
    def place(self) -> str:
        """The place in the configuration that it comes from, for error messages."""
        ...

    def compute(self) -> None:
        """Read the inputs and write the outputs.

        Raises:
            StorageError: an input is missing, broken or of another build.
            OSError: the system refuses a file.
        """
        ...


def is_pending(job: Job) -> bool:
    """Whether an output is missing, broken, or made by other code, values or inputs than the present ones."""
    return not all(storage.carries(path, job.fingerprint) for path in job.outputs)


def files_of(jobs: Iterable[Job]) -> list[Path]:
    """The outputs of some jobs, each once."""
    return list(dict.fromkeys(path for job in jobs for path in job.outputs))
