"""Runs a job for Snakemake: in a process that the build's fork server forks, or here if no server runs.

    python -m seedbed.building.fork_client ARGUMENTS ...

does what `python -m seedbed ARGUMENTS ...` does, and starts sooner, since the server has imported the libraries.
The environment variables of the job are those of the server.
"""

from __future__ import annotations

import json
import os
import socket
import sys

#: The server's socket. Its path is relative, since the path of a socket may have at most 108 bytes.
ADDRESS = "results/.jobs.socket"


def main(arguments: list[str]) -> int:
    """Have the job run; returns its exit code, or 1 if something killed its process."""
    with socket.socket(socket.AF_UNIX) as connection:
        if not _request_fork(connection, arguments):
            os.execv(sys.executable, [sys.executable, "-m", "seedbed", *arguments])
        code = connection.recv(1)
    if not code:
        print("Killed", file=sys.stderr)
    return (code or b"\1")[0]


def _request_fork(connection: socket.socket, arguments: list[str]) -> bool:
    """Ask the server for a process; False if no server runs, or if the system lets it start no process."""
    try:
        connection.connect(ADDRESS)
        socket.send_fds(connection, [json.dumps(arguments).encode()], [1, 2])
        return connection.recv(1) == b"\0"
    except OSError:
        return False


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
