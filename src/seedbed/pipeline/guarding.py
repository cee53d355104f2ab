"""Jobs under guard: what they read of the project's own files is what their fingerprint covers.

An audit hook sees each file that Python opens, imported modules among them. Only reading by code that computes
counts: the carriers read configuration and results on purpose. A module that is loaded already opens nothing, but
each job of a full build has a process of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import source_from_cache
from pathlib import Path
from types import FrameType

from seedbed.configuration.plugins import PACKAGE
from seedbed.configuration.yaml import ConfigError
from seedbed.pipeline.fingerprint import MESSAGES, PAGES, declared_files
from seedbed.pipeline.jobs.job import RESULTS, Job
from seedbed.pipeline.noise import load

ROOT = PACKAGE.parents[1]
#: What pages are made from, which each of their fingerprints covers.
_TEMPLATES = ROOT / "report"
#: The folders and modules of the package that only pass results on.
_CARRIERS = ("building", "commands", "configuration", "pipeline", "__main__.py", "errors.py")
#: Libraries that read the source of calls to show it in messages, such as those of an error.
_SHOWING = ("inspect", "linecache", "tokenize")


class _Guard:
    """What the present job may read, and what it has read beside."""

    covered: frozenset[Path] | None = None
    found: str = ""


def compute(job: Job) -> None:
    """Compute a job.

    Raises:
        ConfigError: a plug-in reads a file of the project that its fingerprint does not cover; it names the line.
    """
    job.fingerprint  # noqa: B018 - reads the sources that it hashes, before the guard looks
    if not job.modules:
        job.compute()
        return
    with _guarded(_covered(job)):
        load(job.modules)
        job.compute()


def _covered(job: Job) -> frozenset[Path]:
    """The files that its fingerprint covers, and the sentences of messages, which no fingerprint does."""
    pages = any(name.startswith(PAGES) for name in job.modules)
    return frozenset(
        [
            *declared_files(job.modules),
            PACKAGE / f"{MESSAGES.rpartition('.')[2]}.py",
            *(_TEMPLATES.rglob("*") if pages else []),
        ]
    )


@contextmanager
def _guarded(covered: frozenset[Path]) -> Iterator[None]:
    _install()
    _Guard.covered, _Guard.found = covered, ""
    try:
        yield
    finally:
        _Guard.covered = None
    if _Guard.found:  # also if the plug-in has caught the error
        raise ConfigError(_Guard.found)


@cache
def _install() -> None:
    sys.addaudithook(_see)  # which cannot be taken away again


def _see(event: str, arguments: tuple[object, ...]) -> None:
    if event != "open" or _Guard.covered is None or not isinstance(arguments[0], str | bytes | os.PathLike):
        return
    flags = arguments[2] if isinstance(arguments[2], int) else 0
    if flags & os.O_ACCMODE == os.O_WRONLY:
        return
    path = _source(Path(os.fsdecode(arguments[0])).resolve())
    if _is_own(path) and path not in _Guard.covered and (reader := _reader(sys._getframe(1))):
        _Guard.found = _Guard.found or _message(path, reader)
        raise ConfigError(_Guard.found)


def _source(path: Path) -> Path:
    """The source of a compiled module, and any other path as it is."""
    with suppress(ValueError):  # another tool's file, which has no source
        return Path(source_from_cache(str(path)))
    return path


def _is_own(path: Path) -> bool:
    """Whether a file is one of the project's own: in its folder, and not of an environment, a tool or a build."""
    if not path.is_relative_to(ROOT) or any(path.is_relative_to(one) for one in (sys.prefix, sys.base_prefix)):
        return False
    parts = path.relative_to(ROOT).parts
    hidden = any(part.startswith(".") or part.endswith(".egg-info") for part in parts)
    return not hidden and RESULTS.name not in parts


def _reader(frame: FrameType | None) -> tuple[Path, int] | None:
    """The file and line of the package's innermost call, if that is code that computes."""
    while frame and frame.f_globals.get("__name__") not in _SHOWING:
        path = Path(frame.f_code.co_filename).resolve()
        if path.is_relative_to(PACKAGE):
            carries = path.relative_to(PACKAGE).parts[0] in _CARRIERS
            return None if carries else (path, frame.f_lineno)
        frame = frame.f_back
    return None


def _message(path: Path, reader: tuple[Path, int]) -> str:
    place, line = reader
    if path.suffix == ".py":
        remedy = "import it with an import statement, from src/seedbed"
    else:
        remedy = f"name it in the constant FILES of {place.name}, relative to that file"
    return (
        f"{place.relative_to(ROOT).as_posix()}:{line}: reads {path.relative_to(ROOT).as_posix()}, which no "
        f"fingerprint of this job covers, so an edit of it would leave old numbers; {remedy}"
    )
