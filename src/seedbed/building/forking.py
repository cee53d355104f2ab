"""A Python that has imported what jobs import, and forks a process for each: importing costs more than many jobs.

    python -m seedbed.building.forking COMMAND ...

runs a command, Snakemake, and forks as long as that runs; jobs ask for it through `forked`. Of Seedbed nothing is
imported before a fork, so that each job runs the code that its fingerprint is taken from.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from seedbed.building.forked import ADDRESS
from seedbed.building.threads import ONE_THREAD

#: Those that start no thread, which a fork would not have.
LIBRARIES = ("jaxtyping", "pydantic", "safetensors.torch", "scipy.special", "torch", "typer", "yaml")
Handlers = Mapping[signal.Signals, Any]
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Seconds between two looks at whether the command has ended.
_PAUSE = 0.1


def main(command: list[str]) -> int:
    """Run the command and fork for its jobs; returns its exit code, 128 and the number of a signal that ended it.

    Raises:
        OSError: the command cannot be run.
    """
    os.environ |= ONE_THREAD  # before numpy or torch read it
    with socket.socket(socket.AF_UNIX) as listener:
        if not _bound(listener):
            os.execv(command[0], command)
        listener.listen()
        # Begun first: jobs that ask while libraries are imported wait for it.
        with subprocess.Popen(command, close_fds=False) as process:
            # The command decides when it is over. Jobs take signals as it does, which may ignore some.
            before = {one: signal.signal(one, lambda *_: None) for one in _SIGNALS}
            try:
                for name in LIBRARIES:
                    importlib.import_module(name)
                _serve(listener, process, before)
            finally:  # before the command is waited for, so that its jobs do not wait for us
                Path(ADDRESS).unlink(missing_ok=True)
                listener.close()
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def _bound(listener: socket.socket) -> bool:
    """Take the address, for its owner alone; there are file systems without sockets."""
    before = os.umask(0o077)
    try:
        Path(ADDRESS).unlink(missing_ok=True)
        listener.bind(ADDRESS)
    except OSError:
        return False
    finally:
        os.umask(before)
    return True


def _serve(listener: socket.socket, process: subprocess.Popen[bytes], handlers: Handlers) -> None:
    listener.settimeout(_PAUSE)
    children: set[int] = set()
    while process.poll() is None:
        # No process or descriptor may be left for a fork; who asked sees the connection close, and helps itself.
        with suppress(OSError), listener.accept()[0] as connection:
            if (child := os.fork()) == 0:
                _end(connection, handlers)
            children.add(child)
        children = {child for child in children if not _has_ended(child)}


def _has_ended(child: int) -> bool:
    with suppress(ChildProcessError):
        return os.waitpid(child, os.WNOHANG) != (0, 0)
    return True


def _end(connection: socket.socket, handlers: Handlers) -> NoReturn:
    """Be the process of one job, and of nothing else."""
    code = 1
    try:
        for one, handler in handlers.items():
            signal.signal(one, handler)
        code = _answer(connection)
    except BaseException:  # what Python itself would print at its end
        traceback.print_exc()
    finally:
        os._exit(code)


def _answer(connection: socket.socket) -> int:
    """Run a job as `python -m seedbed` would, with the output of who asks; returns its exit code, and tells it."""
    for link in Path("/proc/self/fd").iterdir():  # the build's lock, which the command has and a job must not
        with suppress(OSError):
            if int(link.name) > 2 and os.get_inheritable(int(link.name)):
                os.close(int(link.name))
    connection.settimeout(None)
    request, (output, errors), *_ = socket.recv_fds(connection, 1 << 16, 2)
    connection.send(b"\0")
    os.dup2(output, 1)
    os.dup2(errors, 2)
    threading.Thread(target=_end_with, args=[connection], daemon=True).start()
    code = _run(json.loads(request)) & 0xFF
    connection.send(bytes([code]))
    return code


def _run(arguments: list[str]) -> int:
    """The exit code of the command line with these arguments."""
    sys.argv = ["seedbed", *arguments]
    try:
        runpy.run_module("seedbed", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def _end_with(connection: socket.socket) -> None:
    """End the job where the process that asked for it was ended."""
    connection.recv(1)
    os._exit(1)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
