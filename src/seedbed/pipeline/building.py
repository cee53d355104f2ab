"""A whole build: `make report`.

It checks the configuration, takes the folder, and lets Snakemake run what is missing or was made by other code or
values, with the steps done, the time left and, at the end, how long each stage took.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from seedbed.pipeline.configuration import ROOT, Configuration, overrides
from seedbed.pipeline.locking import hold_build
from seedbed.pipeline.plan import PAGE, RESULTS, Plan, check
from seedbed.pipeline.rehearsal import rehearse
from seedbed.pipeline.yaml import ConfigError

LOG = RESULTS / "logs" / "build.log"
#: Seconds of one core that a job of each stage takes beside its start, about; only the time left depends on them.
_SECONDS = {"train": 20.0}
_START = 2.0
#: Seconds of work that the guess of the speed is worth, against what is measured.
_GUESS = 20.0
#: Seconds between two lines of progress where the output is no terminal.
_PAUSE = 15.0


def build(config: Sequence[str], cores: str) -> int:
    """Build everything; returns Snakemake's exit code.

    Raises:
        ConfigError: before any job, if the configuration or the number of cores is wrong.
        BusyError: before any job, if another build runs here.
    """
    if cores != "all" and not (cores.isascii() and cores.isdigit() and int(cores) > 0):
        raise ConfigError(f"--cores {cores}: expected all or a whole number from 1")
    plan = Plan(Configuration(overrides(config)))
    with hold_build() as lock:
        if plan.pending():
            print("Checking everything, on a few documents first ...", flush=True)
            check(plan.configuration)
            rehearse(plan)
            for part in RESULTS.rglob(".*.part"):  # of a job that was killed while it wrote
                part.unlink()
            snakemake = _Snakemake(config, cores, lock)
            if any(Path(".snakemake/locks").glob("*")):
                snakemake.start("--unlock").communicate()
            if code := _run(snakemake, plan.stale(), cores):
                return code
        else:
            print("Everything is up to date.")
    print(f"The page: {PAGE.resolve()}")
    return 0


def _run(snakemake: _Snakemake, stale: Sequence[Path], cores: str) -> int:
    LOG.parent.mkdir(parents=True, exist_ok=True)
    progress = Progress(os.cpu_count() or 1 if cores == "all" else int(cores), time.monotonic())
    # Named, since Snakemake would keep what is broken or foreign, and everything if its own records were lost.
    process = snakemake.start(*(["--forcerun", *map(str, stale)] if stale else []))
    assert process.stdout is not None
    with _forwarded(process), LOG.open("w", encoding="utf-8") as log, Display() as display:
        for line in process.stdout:
            log.write(line)
            progress.read(line, time.monotonic())
            display.show(progress, time.monotonic())
    return _report(process.wait(), progress)


def _report(code: int, progress: Progress) -> int:
    if code:
        print(f"The build failed; what Snakemake said ({LOG}):\n", file=sys.stderr)
        print("".join(progress.errors), file=sys.stderr)
        print("Mend the cause and run the same command: it goes on where it stopped.", file=sys.stderr)
        return code
    for stage, durations in progress.durations.items():
        if stage != "all":
            print(f"  {stage:<14}{len(durations):5} jobs {sum(durations):8.1f} s")
    print(f"  all together{' ' * 13}{time.monotonic() - progress.began:8.1f} s, jobs side by side")
    return 0


@dataclass(frozen=True)
class _Snakemake:
    """How Snakemake is called: in a process group of its own, and with the build's lock."""

    config: Sequence[str]
    cores: str
    lock: int

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start it; its output is in ``stdout``."""
        given = ["--config", *self.config] if self.config else []
        command = ["-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--cores", self.cores, "--nocolor"]
        return subprocess.Popen(
            [sys.executable, *command, *given, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=os.environ | {"SEEDBED_BUILD": "1"},
            pass_fds=[self.lock],
            start_new_session=True,
        )


@contextmanager
def _forwarded(process: subprocess.Popen[str]) -> Iterator[None]:
    """Whatever would end this process interrupts Snakemake and its jobs, and they end first."""

    def interrupt(*_: object) -> None:
        os.killpg(process.pid, signal.SIGTERM)  # SIGINT is ignored where a script put the build behind

    ends = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(one, interrupt) for one in ends]
    try:
        yield
    finally:
        for one, handler in zip(ends, before, strict=True):
            signal.signal(one, handler)


@dataclass
class Progress:
    """What Snakemake's output says of a build under way.

    Attributes:
        cores: How many jobs may run side by side.
        began: When the build began, in seconds.
        planned: How many jobs of each rule will run.
        durations: Seconds of each finished job, by rule.
        errors: Everything from the first error on.
        steps: "5 of 19 steps".
    """

    cores: int
    began: float
    planned: dict[str, int] = field(default_factory=dict)
    durations: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    steps: str = ""
    _starts: dict[str, float] = field(default_factory=dict)

    def read(self, line: str, now: float) -> None:
        """Take in one line of output, read at the time ``now`` (seconds)."""
        if self.errors or re.match(r"\w*(Error|Exception)\b", line):
            self.errors.append(line)
        if found := re.match(r"(\w+) +(\d+)$", line):
            self.planned[found[1]] = int(found[2])
        elif found := re.match(r"    jobid: (\d+)", line):
            self._starts[found[1]] = now
        elif found := re.match(r"Finished jobid: (\d+) \(Rule: (\w+)\)", line):
            self.durations.setdefault(found[2], []).append(now - self._starts[found[1]])
        elif found := re.match(r"(\d+ of \d+ steps)", line):
            self.steps = found[1]

    def work(self) -> tuple[float, float]:
        """The work done and the whole work, in about seconds of one core."""
        done = sum(len(durations) * _weight(rule) for rule, durations in self.durations.items())
        return done, sum(count * _weight(rule) for rule, count in self.planned.items() if rule != "total")

    def left(self, now: float) -> float:
        """About how many seconds are left: by the speed so far, and by the number of cores at the start."""
        done, whole = self.work()
        speed = (done + _GUESS * self.cores) / (now - self.began + _GUESS)
        return (whole - done) / speed


def _weight(rule: str) -> float:
    return _SECONDS.get(rule, 0.0) + _START


class Display:
    """Progress for the eye: a bar on a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        self._bar = tqdm(bar_format="{percentage:3.0f}% |{bar:30}| {desc}", disable=None, leave=False)
        self._shown = ("", 0.0)

    def __enter__(self) -> Display:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def show(self, progress: Progress, now: float) -> None:
        """Show the progress, if there is something new to show."""
        steps, last = self._shown
        said = progress.steps or ("begun" if progress.planned.get("total") else "")
        if said == steps:
            return
        left = tqdm.format_interval(progress.left(now))
        text = f"{said}, {tqdm.format_interval(now - progress.began)} gone, about {left} left"
        if not self._bar.disable:
            self._bar.n, self._bar.total = progress.work()
            self._bar.set_description_str(text)
        elif now - last > _PAUSE or not steps:
            print(text, flush=True)
        else:
            return
        self._shown = (said, now)
