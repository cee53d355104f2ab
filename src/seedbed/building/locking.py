"""One build at a time, also after a build was killed and its jobs were not.

Locks are the kernel's (flock): they end with the processes that hold them, so none is ever stale.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from seedbed.errors import SeedbedError
from seedbed.pipeline.jobs.job import RESULTS

_BUILD = RESULTS / ".build.lock"
_JOBS = RESULTS / ".jobs.lock"


class BusyError(SeedbedError):
    """Another process builds in this folder; the message says which."""


@contextmanager
def hold_build() -> Iterator[int]:
    """Take the folder for a build; yields the lock's file descriptor.

    A process that inherits the descriptor holds the lock too, so that it outlives a builder that is killed.

    Raises:
        BusyError: another build runs, or jobs of a killed one do.
    """
    with _open(_BUILD) as build:
        if not _taken(build):
            owner = build.read().strip() or "unknown"
            raise BusyError(
                f"a build runs in this folder, begun by process {owner}; wait for it, or end it and run again"
            )
        with _open(_JOBS) as jobs:
            if not _taken(jobs):
                raise BusyError("jobs of an interrupted build still run in this folder; wait for them to end")
        build.truncate(0)
        build.write(str(os.getpid()))
        build.flush()
        yield build.fileno()


@contextmanager
def hold_job() -> Iterator[None]:
    """Mark a running job, so that no other build begins beside it."""
    with _open(_JOBS) as jobs:
        fcntl.flock(jobs, fcntl.LOCK_SH)
        yield


def _open(path: Path) -> IO[str]:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("a+", encoding="utf-8")


def _taken(file: IO[str]) -> bool:
    """Take the lock alone, if nobody has it."""
    file.seek(0)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
