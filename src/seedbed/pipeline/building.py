"""A whole build: `make report`.

It checks the configuration, takes the folder, throws away what other code or values made, and lets Snakemake run
what is missing, with the steps done, the time left and, at the end, how long each stage took.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from seedbed.pipeline.configuration import ROOT, Configuration, overrides
from seedbed.pipeline.locking import hold_build
from seedbed.pipeline.plan import PAGE, RESULTS, Plan, check

LOG = RESULTS / "logs" / "build.log"
#: Seconds a job of each stage takes beside its start, about; they only make the time left a better guess.
_SECONDS = {"train": 20.0}
_START = 2.0


def build(config: Sequence[str], cores: str) -> int:
    """Build everything; returns Snakemake's exit code.

    Raises:
        ConfigError: before any job, if the configuration is wrong.
        BusyError: before any job, if another build runs here.
    """
    plan = Plan(Configuration(overrides(config)))
    check(plan.configuration)
    with hold_build():
        discard(plan)
        if any(Path(".snakemake/locks").glob("*")):
            _snakemake(["--unlock"], config, cores).wait()
        return _run(config, cores)


def discard(plan: Plan) -> None:
    """Delete results that do not carry the fingerprint they should have.

    Snakemake would rebuild them, unless its own records were lost, and then it would not.
    """
    for path in plan.stale():
        path.unlink()


def _run(config: Sequence[str], cores: str) -> int:
    LOG.parent.mkdir(parents=True, exist_ok=True)
    progress = Progress()
    process = _snakemake([], config, cores)
    assert process.stdout is not None
    with LOG.open("w", encoding="utf-8") as log, tqdm(bar_format=_BAR, dynamic_ncols=True) as bar:
        for line in process.stdout:
            log.write(line)
            progress.read(line, time.monotonic())
            bar.total, bar.n = progress.work()
            bar.set_postfix_str(progress.steps)
        bar.bar_format = "{postfix}" if progress.steps else "{desc}"
    return _report(process.wait(), progress)


_BAR = "{percentage:3.0f}% |{bar}| {postfix}, {elapsed} gone, about {remaining} left"


def _report(code: int, progress: Progress) -> int:
    if code:
        print(f"\nThe build failed; what Snakemake said ({LOG}):\n", file=sys.stderr)
        print("".join(progress.errors), file=sys.stderr)
        print("Mend the cause and run the same command: it goes on where it stopped.", file=sys.stderr)
        return code
    for stage, seconds in progress.stages():
        print(f"  {stage:<14}{seconds:7.1f} s")
    print(f"The page: {PAGE.resolve()}")
    return 0


def _snakemake(arguments: Iterable[str], config: Sequence[str], cores: str) -> subprocess.Popen[str]:
    given = ["--config", *config] if config else []
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--cores", cores]
    return subprocess.Popen(
        [*command, "--nocolor", *arguments, *given],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )


@dataclass
class Progress:
    """What Snakemake's output says of a build under way."""

    planned: dict[str, int] = field(default_factory=dict)
    done: dict[str, int] = field(default_factory=dict)
    began: dict[str, float] = field(default_factory=dict)
    ended: dict[str, float] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    steps: str = ""

    def read(self, line: str, now: float) -> None:
        """Take in one line of output, read at the time ``now`` (seconds)."""
        if self.errors or re.match(r"\w*(Error|Exception)\b", line):
            self.errors.append(line)
        if found := re.match(r"(\w+) +(\d+)$", line):
            self.planned[found[1]] = int(found[2])
        elif found := re.match(r"(?:local)?rule (\w+):", line):
            self.began.setdefault(found[1], now)
        elif found := re.match(r"Finished jobid: \d+ \(Rule: (\w+)\)", line):
            self.done[found[1]] = self.done.get(found[1], 0) + 1
            self.ended[found[1]] = now
        elif found := re.match(r"(\d+ of \d+ steps)", line):
            self.steps = found[1]

    def work(self) -> tuple[float, float]:
        """The whole work and the work done, in about seconds of one core."""
        whole = sum(count * _weight(rule) for rule, count in self.planned.items() if rule != "total")
        return whole, sum(count * _weight(rule) for rule, count in self.done.items())

    def stages(self) -> list[tuple[str, float]]:
        """Each stage with the seconds from its first job's start to its last job's end."""
        return [(rule, self.ended[rule] - start) for rule, start in self.began.items() if rule in self.ended]


def _weight(rule: str) -> float:
    return _SECONDS.get(rule, 0.0) + _START
