"""Snakemake as a process of the build: how it is started, and how a signal ends it with all its jobs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

#: Seconds that Snakemake and its jobs have to end at SIGTERM, before they are killed.
_GRACE = 20.0
#: Settings of glibc: keep freed memory. By default each training step gives its tensors back to the system, which
#: clears them anew.
_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(1 << 25), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP)
#: Those that stay ignored where they are ignored: nohup ignores SIGHUP, a shell without jobs SIGTSTP.
_OPTIONAL = (signal.SIGHUP, signal.SIGTSTP)
#: The variable that tells the workflow that a build holds the lock, and which folder the build is of.
BUILD = "SEEDBED_BUILD"
_RUNNER = ["-m", "seedbed.building.snakemake_runner"]
_FORK_SERVER = ["-m", "seedbed.building.fork_server"]


class Stop:
    """While it is entered, a signal to end or to pause this process ends or pauses Snakemake and its jobs first.

    Before Snakemake is started, a signal to end raises KeyboardInterrupt.

    Attributes:
        code: 128 plus the signal's number, as in shells; 0 without a signal.
        paused: How many seconds the process was paused.
    """

    def __init__(self) -> None:
        self.code, self.paused = 0, 0.0
        self._starts = False
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Stop:
        # SIGINT also where it is ignored, as in the background of a script.
        handlers = dict.fromkeys(_SIGNALS, self._handle) | {signal.SIGTSTP: self._pause}
        ignored = [one for one in _OPTIONAL if signal.getsignal(one) == signal.SIG_IGN]
        self._before = {one: signal.signal(one, do) for one, do in handlers.items() if one not in ignored}
        # A closed output is then an error, which ends Snakemake first; elsewhere this signal ends the process.
        self._before[signal.SIGPIPE] = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        return self

    def __exit__(self, *_: object) -> None:
        for one, handler in self._before.items():
            signal.signal(one, handler)

    def announce_start(self) -> None:
        """From now on a signal raises nothing: a process may exist that has to be ended."""
        self._starts = True

    @contextmanager
    def watch(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """Inside the block, a signal ends this process group; so does one that came after `announce_start`."""
        self._process = process
        if self.code:
            self.end()
        yield
        self._process = None

    def end(self) -> None:
        """End the watched process group: by SIGTERM, and after `_GRACE` seconds by SIGKILL."""
        self._signal(signal.SIGTERM)
        force = threading.Timer(_GRACE, self._signal, [signal.SIGKILL])
        force.daemon = True
        force.start()

    def _signal(self, number: signal.Signals) -> None:
        if self._process:
            with suppress(ProcessLookupError):  # the whole group has ended
                os.killpg(self._process.pid, number)

    def _handle(self, number: int, _: object) -> None:
        self.code = 128 + number
        if not self._starts:
            raise KeyboardInterrupt
        self.end()

    def _pause(self, *_: object) -> None:
        """Pause the watched process group and this process, as the signal does by itself, until both go on."""
        began = time.monotonic()
        self._signal(signal.SIGSTOP)
        handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # the system ignores it where no shell could have it go on
        signal.signal(signal.SIGTSTP, handler)
        self._signal(signal.SIGCONT)
        self.paused += time.monotonic() - began


@dataclass(frozen=True)
class Snakemake:
    """How a build calls Snakemake.

    Attributes:
        config: ``KEY=VALUE`` texts over config/config.yaml.
        cores: How many jobs may run at the same time.
        lock: The file descriptor of the build's lock, which Snakemake inherits.
        stop: What ends Snakemake at a signal.
        root: The folder of the project.
    """

    config: Sequence[str]
    cores: int
    lock: int
    stop: Stop
    root: Path

    def run(self, forced: Sequence[str], log: IO[str], take: Callable[[Mapping[str, Any]], None]) -> int:
        """Run the workflow; returns Snakemake's exit code, or 128 plus the signal that ended it.

        Args:
            forced: The results that are made again whatever Snakemake knows of them.
            log: Where Snakemake prints.
            take: Called with each record of `snakemake_runner`.
        """
        reader, writer = os.pipe()
        with os.fdopen(reader, encoding="utf-8") as records:
            try:
                self.stop.announce_start()
                process = self._start(forced, log, writer)
            finally:
                os.close(writer)
            with process, self.stop.watch(process):
                try:
                    for line in records:
                        if line.endswith("\n"):  # else Snakemake was killed while it wrote
                            take(json.loads(line))
                    if process.wait():  # jobs of a Snakemake that was killed may still run
                        self.stop.end()
                except BaseException:  # such as a closed output or a full disk
                    records.close()  # so that Snakemake does not wait for a reader
                    self.stop.end()
                    raise
        return process.returncode if process.returncode >= 0 else 128 - process.returncode

    def _start(self, forced: Sequence[str], log: IO[str], records: int) -> subprocess.Popen[bytes]:
        """Start Snakemake in a process group of its own."""
        command = [sys.executable, *_RUNNER, f"--cores={self.cores}", f"--records={records}"]
        command += [f"--config={text}" for text in self.config]
        if forced:
            command += ["--forcerun", *forced]
        if sys.platform == "linux":  # elsewhere the jobs' libraries may not be forked
            command = [sys.executable, *_FORK_SERVER, *command]
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=_MEMORY | os.environ | {BUILD: str(self.root), "PYTHONIOENCODING": "utf-8:backslashreplace"},
            pass_fds=[self.lock, records],
            start_new_session=True,
        )
