"""Processes that tests start: none depends on the signals of its parent, outlives its test, or runs for ever."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

#: Seconds that anything may take on a busy machine; only a fault reaches this limit.
LIMIT = 900.0


def run(command: Sequence[str], *, check: bool = False, **options: object) -> subprocess.CompletedProcess[Any]:
    """Run a command to its end; options as those of `start`.

    Raises:
        TimeoutExpired: it does not end within `LIMIT` seconds.
        CalledProcessError: it fails, and ``check`` is true.
    """
    with start(command, **options) as process:
        output, errors = process.communicate(timeout=LIMIT)
    done = subprocess.CompletedProcess(command, process.returncode, output, errors)
    if check:
        done.check_returncode()
    return done


@contextmanager
def start(
    command: Sequence[str], *, prepare: Callable[[], object] = lambda: None, **options: object
) -> Iterator[subprocess.Popen[Any]]:
    """A process, killed at the end of the block if it still runs then.

    Args:
        command: The program and its arguments.
        prepare: Called in the new process first, which has the default handlers of all signals and blocks none,
            also if they are ignored here, as under nohup.
        options: As those of `subprocess.Popen`; both streams are pipes, and text.
    """

    def begin() -> None:
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        prepare()

    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    with subprocess.Popen(command, preexec_fn=begin, **given) as process:
        try:
            yield process
        finally:
            process.kill()
