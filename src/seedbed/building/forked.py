"""A job as Snakemake calls it: run by a fork of a Python that has imported its libraries, where a build has one.

    python -m seedbed.building.forked ARGUMENTS ...

does what `python -m seedbed ARGUMENTS ...` does, and begins sooner. The job's environment is that of the build.
"""

from __future__ import annotations

import json
import os
import socket
import sys

#: Relative to the project, so that it is short enough for a socket however long the project's path is.
ADDRESS = "results/.jobs.socket"


def main(arguments: list[str]) -> int:
    """Have the job run; returns its exit code, 1 where it was ended from outside."""
    with socket.socket(socket.AF_UNIX) as connection:
        if not _begun(connection, arguments):
            os.execv(sys.executable, [sys.executable, "-m", "seedbed", *arguments])
        code = connection.recv(1)
    if not code:
        print("Killed", file=sys.stderr)
    return (code or b"\1")[0]


def _begun(connection: socket.socket, arguments: list[str]) -> bool:
    """Ask for a fork; not there where Snakemake was called without a build, or where the system refuses it."""
    try:
        connection.connect(ADDRESS)
        socket.send_fds(connection, [json.dumps(arguments).encode()], [1, 2])
        return connection.recv(1) == b"\0"
    except OSError:
        return False


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
