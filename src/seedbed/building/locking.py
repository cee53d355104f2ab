"""One build at a time in a folder, also while jobs of a killed build still run.

The locks are the kernel's (flock): they end with the processes that hold them, so a lock is never stale.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from seedbed.errors import SeedbedError
from seedbed.pipeline.jobs.job import RESULTS

_BUILD = RESULTS / ".build.lock"
_JOBS = RESULTS / ".jobs.lock"
#: What the system answers where a file system knows no locks, or its server of locks does not answer.
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL)


class BusyError(SeedbedError):
    """Another process builds in this folder; the message names it."""


@contextmanager
def hold_build() -> Iterator[int]:
    """Hold the build lock of the current folder; yields the lock's file descriptor.

    A process that inherits the descriptor holds the lock too: Snakemake keeps it if the builder is killed. Where
    the file system knows no locks, a warning says what is not protected.

    Raises:
        BusyError: another build runs, or jobs of a killed build do.
        OSError: the lock's file cannot be written.
    """
    with _open(_BUILD) as build:
        if not _try_lock(build):
            raise BusyError(_whose(build))
        with _open(_JOBS) as jobs:
            if not _try_lock(jobs):
                raise BusyError(_left_behind(jobs))
        build.truncate(0)
        build.write(str(os.getpid()))
        build.flush()
        yield build.fileno()


@contextmanager
def hold_job() -> Iterator[None]:
    """Hold a share of the job lock: jobs run side by side, and no new build starts meanwhile."""
    with _open(_JOBS) as jobs:
        try:
            fcntl.flock(jobs, fcntl.LOCK_SH)
        except OSError as error:  # the build has warned
            if error.errno not in _NO_LOCKS:
                raise
        yield


def _open(path: Path) -> IO[str]:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("a+", encoding="utf-8")


def _try_lock(file: IO[str]) -> bool:
    """Lock the file exclusively; False if another process holds a lock on it."""
    file.seek(0)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        if file.name == str(_BUILD):
            print(
                f"{RESULTS}: this file system has no locks ({error.strerror}), so nothing keeps a second build "
                "out of this folder: start none before this one has ended with all its jobs.",
                file=sys.stderr,
            )
    return True


def _whose(build: IO[str]) -> str:
    """Who builds in the folder: the process that began it or, if that was killed, those that it left."""
    owner, holders = build.read().strip() or "unknown", _holders(build)
    if holders and owner not in holders:
        return _left_behind(build)
    return f"a build runs in this folder, begun by process {owner}; wait for it, or end it and run again"


def _left_behind(lock: IO[str]) -> str:
    """Which processes of a killed build still run."""
    holders = " ".join(_holders(lock))
    end = f", or end them: kill -KILL {holders}" if holders else ""
    return f"jobs of an interrupted build still run in this folder; wait for them{end}"


def _holders(lock: IO[str]) -> list[str]:
    """The processes that have a lock's file open, but for this one; none where the system does not say it.

    The number in the file does not tell: its process may have been killed, and another may have its number now.
    """
    own, found = os.fstat(lock.fileno()), set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):  # it has ended meanwhile, or belongs to another user
            if os.path.samestat(link.stat(), own):
                found.add(link.parts[2])
    return sorted(found - {str(os.getpid())}, key=int)
