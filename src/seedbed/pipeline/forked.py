"""A job as Snakemake calls it: run by a fork of a Python that has imported everything, where a build has one.

    python -m seedbed.pipeline.forked ARGUMENTS ...

is `python -m seedbed ARGUMENTS ...` in every respect but the time that it takes to start.
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
        try:
            connection.connect(ADDRESS)
        except OSError:  # Snakemake was called without a build, or this system has no such sockets
            os.execv(sys.executable, [sys.executable, "-m", "seedbed", *arguments])
        socket.send_fds(connection, [json.dumps(arguments).encode()], [1, 2])
        return (connection.recv(1) or b"\1")[0]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
