"""Forks a process for each job of a build, from one Python that has imported the jobs' libraries.

    python -m seedbed.building.fork_server COMMAND ...

runs a command (Snakemake) and serves its jobs until it ends. The jobs ask through `fork_client`. Importing the
libraries takes longer than many jobs do. Seedbed's own code is imported after the fork, so that each job runs the
code that its fingerprint is taken from.
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

from seedbed.building.fork_client import ADDRESS
from seedbed.building.job_environment import set_job_environment

#: Libraries that start no thread when they are imported: a forked process would not have that thread.
LIBRARIES = (
    "jaxtyping",
    "jinja2",
    "matplotlib.figure",
    "pydantic",
    "safetensors.torch",
    "scipy.special",
    "torch",
    "typer",
    "yaml",
)
Handlers = Mapping[signal.Signals, Any]
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Seconds between two checks whether the command has ended.
_PAUSE = 0.1


def main(command: list[str]) -> int:
    """Run the command and fork for its jobs; returns its exit code, or 128 plus the signal that ended it.

    Raises:
        OSError: the command cannot be run.
    """
    set_job_environment()  # before numpy or torch read it
    with socket.socket(socket.AF_UNIX) as listener:
        if not _bind(listener):
            os.execv(command[0], command)
        listener.listen()
        # The command starts before the libraries are imported; jobs that connect meanwhile wait.
        with subprocess.Popen(command, close_fds=False) as process:
            # The server ends when the command ends, not at a signal. Its jobs get back the handlers of before.
            before = {one: signal.signal(one, lambda *_: None) for one in _SIGNALS}
            try:
                for name in LIBRARIES:
                    importlib.import_module(name)
                _serve(listener, process, before)
            finally:  # before `Popen` waits for the command, whose jobs would wait for this server
                Path(ADDRESS).unlink(missing_ok=True)
                listener.close()
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def _bind(listener: socket.socket) -> bool:
    """Bind the socket, readable by its owner only; False where the file system has no sockets."""
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
    """Fork a child for each connection until the process ends."""
    listener.settimeout(_PAUSE)
    children: set[int] = set()
    while process.poll() is None:
        # An OSError: nobody connected, or no process or descriptor is left. The client then runs the job itself.
        with suppress(OSError), listener.accept()[0] as connection:
            if (child := os.fork()) == 0:
                _run_child(connection, handlers)
            children.add(child)
        children = {child for child in children if not _has_ended(child)}


def _has_ended(child: int) -> bool:
    with suppress(ChildProcessError):
        return os.waitpid(child, os.WNOHANG) != (0, 0)
    return True


def _run_child(connection: socket.socket, handlers: Handlers) -> NoReturn:
    """Run one job in the forked child, then exit."""
    code = 1
    try:
        for one, handler in handlers.items():
            signal.signal(one, handler)
        code = _answer(connection)
    except BaseException:  # printed here, since the child does not return to the interpreter that would print it
        traceback.print_exc()
    finally:
        os._exit(code)


def _answer(connection: socket.socket) -> int:
    """Run the requested job with the client's stdout and stderr; sends the client its exit code and returns it."""
    # The command inherits descriptors, such as the build's lock; a job must not hold them.
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if int(link.name) > 2 and os.get_inheritable(int(link.name)):
                os.close(int(link.name))
    connection.settimeout(None)
    request, (output, errors), *_ = socket.recv_fds(connection, 1 << 16, 2)
    connection.send(b"\0")
    os.dup2(output, 1)
    os.dup2(errors, 2)
    threading.Thread(target=_exit_with_client, args=[connection], daemon=True).start()
    code = _run(json.loads(request)) & 0xFF
    connection.send(bytes([code]))
    return code


def _run(arguments: list[str]) -> int:
    """Run `python -m seedbed` with these arguments in this process; returns its exit code."""
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


def _exit_with_client(connection: socket.socket) -> None:
    """Exit when the client's process has ended: its end of the connection is then closed."""
    connection.recv(1)
    os._exit(1)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
