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
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from seedbed.building.locking import hold_build
from seedbed.configuration.configuration import ROOT, Configuration, overrides
from seedbed.configuration.yaml import ConfigError
from seedbed.pipeline.jobs.job import RESULTS
from seedbed.pipeline.plan import Plan, check
from seedbed.pipeline.rehearsal import rehearse
from seedbed.pipeline.storage import naming

PAGE = RESULTS / "report" / "index.html"
LOG = RESULTS / "logs" / "build.log"
#: Seconds of one core that a job of a rule takes beside its start, about; only the time left depends on them.
_SECONDS = {"train": 25.0, "evaluate": 3.0, "page": 10.0}
#: The same in a quick build, where one job measures a whole study.
_QUICK = {"train": 5.0, "evaluate": 12.0, "page": 5.0}
_START = 0.6 if sys.platform == "linux" else 2.0
#: Seconds of work that the guess of the speed is worth, against what is measured.
_GUESS = 20.0
#: Seconds between two lines of progress where the output is no terminal.
_PAUSE = 15.0
#: Lines of a failed job's log that are shown, where it says no place in the code.
_LINES = 5
#: Seconds that Snakemake has to end itself; where nobody reads its last words it was seen to hang.
_MOMENT = 20.0
#: For glibc, of what a process frees: to keep it. Else every step's tensors are given back and cleared anew.
_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(1 << 25), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def build(config: Sequence[str], cores: str) -> int:
    """Build everything; returns 0, Snakemake's exit code, or 128 and the number of the signal that stopped it.

    Raises:
        ConfigError: before any job, if the configuration or the number of cores is wrong.
        BusyError: before any job, if another build runs here.
    """
    if cores != "all" and not (cores.isascii() and cores.isdigit() and int(cores) > 0):
        raise ConfigError(f"--cores {cores}: expected all or a whole number from 1")
    with _Stop() as stop:
        try:
            code = _build(config, cores, stop)
        except KeyboardInterrupt:
            code = stop.code
        if code and stop.code:
            print("Stopped. Run the same command to go on where it stopped.", file=sys.stderr)
            return stop.code
    return code


def _build(config: Sequence[str], cores: str, stop: _Stop) -> int:
    plan = Plan(Configuration(overrides(config)))
    with placed(plan.configuration), hold_build() as lock:
        if plan.configuration.quick:
            print(f"In {Path.cwd()}, apart from a full build:")
        if not plan.pending():
            print("Everything is up to date.")
        elif code := _make(plan, _Snakemake(config, cores, lock, stop)):
            return code
        print(f"The page: {PAGE.resolve()}")
        return 0


@contextmanager
def placed(configuration: Configuration) -> Iterator[None]:
    """Work in the folder where the results of the configuration stand, below the present one."""
    configuration.folder.mkdir(exist_ok=True)
    with chdir(configuration.folder):
        yield


def _make(plan: Plan, snakemake: _Snakemake) -> int:
    """Make what is pending; returns Snakemake's exit code."""
    print("Checking everything, on a few documents first ...", flush=True)
    check(plan.configuration)
    rehearse(plan)
    for part in RESULTS.rglob(".*.part"):  # of a job that was killed while it wrote
        part.unlink()
    if any(Path(".snakemake/locks").glob("*")):
        with snakemake.running("--unlock") as process:
            process.communicate()
    # Named, since Snakemake would keep what is broken or foreign, and everything if its own records were lost.
    stale = [str(path) for path in plan.stale()]
    cores = os.cpu_count() or 1 if snakemake.cores == "all" else int(snakemake.cores)
    progress = Progress(cores, time.monotonic(), _QUICK if plan.configuration.quick else _SECONDS)
    code = _follow(snakemake, progress, ["--forcerun", *stale] if stale else [])
    if not code:
        _show_times(progress)
    elif not snakemake.stop.code:
        _show_failure(progress, code)
        if PAGE in plan.stale():
            print(f"Until then {PAGE} shows an earlier build.", file=sys.stderr)
    return code


def _follow(snakemake: _Snakemake, progress: Progress, arguments: Sequence[str]) -> int:
    """Run Snakemake, and show and note what it says; returns its exit code."""
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with (
        snakemake.running(*arguments) as process,
        LOG.open("w", buffering=1, encoding="utf-8") as log,
        Display() as display,
    ):
        for line in process.stdout or ():
            with naming(LOG):
                log.write(line)
            progress.read(line, time.monotonic())
            display.show(progress, time.monotonic())
    code = process.wait()
    return code if code >= 0 else 128 - code


def _show_times(progress: Progress) -> None:
    for stage, durations in progress.durations.items():
        if stage != "all":
            print(f"  {stage:<14}{len(durations):5} jobs {sum(durations):8.1f} s")
    beside = ", jobs side by side" if progress.cores > 1 else ""
    print(f"  all together{' ' * 13}{time.monotonic() - progress.began:8.1f} s{beside}")


def _show_failure(progress: Progress, code: int) -> None:
    """Each failed job with the end of its log; jobs that ended alike stand together."""
    ends: dict[str, list[Path]] = {}
    for log in progress.failed:
        ends.setdefault(_end_of(log), []).append(log)
    said = "".join(progress.errors) or f"Snakemake ended with code {code} and gave no reason; see {LOG}\n"
    print("The build failed." if ends else f"The build failed:\n\n{said}", file=sys.stderr)
    for end, logs in ends.items():
        print("", *(f"{_job(log)}, {log}" for log in logs), end, sep="\n", file=sys.stderr)
    print("\nMend the cause and run the same command: it goes on where it stopped.", file=sys.stderr)


def _job(log: Path) -> str:
    """A job's name by its log: its rule, then study, run and seed or the like."""
    rule, *names = log.relative_to(LOG.parent).with_suffix("").parts
    return " ".join([rule, *filter(None, ["/".join(names)])])


def _end_of(log: Path) -> str:
    """What a failed job said last: its error, from the place where it was raised on."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    raised = [number for number, line in enumerate(lines) if line.startswith('  File "')]
    last = lines[raised[-1] :] if raised else lines[-_LINES:]
    if not last or "Killed" in last[-1]:
        last.append("Something ended it from outside, perhaps for want of memory: fewer cores need less.")
    return "\n".join(f"    {line}" for line in last)


class _Stop:
    """A signal that would end this process ends Snakemake and its jobs first, and interrupts what comes before.

    Attributes:
        code: 128 and the signal's number, as shells have it; 0 without a signal.
        starts: Whether Snakemake has begun to start; from then on it has to be ended.
    """

    def __init__(self) -> None:
        self.code = 0
        self.starts = False
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> _Stop:
        # SIGINT too, which is ignored where a script put the build behind; but nohup means what it says.
        heeded = [one for one in _SIGNALS if one != signal.SIGHUP or signal.getsignal(one) != signal.SIG_IGN]
        self._before = {one: signal.signal(one, self._heed) for one in heeded}
        return self

    def __exit__(self, *_: object) -> None:
        for one, handler in self._before.items():
            signal.signal(one, handler)

    @contextmanager
    def watching(self, process: subprocess.Popen[str]) -> Iterator[None]:
        """End this process group at a signal, also at one that came before."""
        self._process = process
        if self.code:
            self.end()
        yield
        self._process = None

    def end(self) -> None:
        """End what is watched with all its jobs; by force, if that takes longer than a moment."""
        self._signal(signal.SIGTERM)
        force = threading.Timer(_MOMENT, self._signal, [signal.SIGKILL])
        force.daemon = True
        force.start()

    def _signal(self, number: signal.Signals) -> None:
        if self._process:
            with suppress(ProcessLookupError):  # also where its leader has ended and its jobs have not
                os.killpg(self._process.pid, number)

    def _heed(self, number: int, _: object) -> None:
        self.code = 128 + number
        if not self.starts:
            raise KeyboardInterrupt
        self.end()


@dataclass(frozen=True)
class _Snakemake:
    """How Snakemake is called: in a process group of its own, and with the build's lock."""

    config: Sequence[str]
    cores: str
    lock: int
    stop: _Stop

    @contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Start it, its output in ``stdout``; it never outlives the block."""
        given = ["--config", *self.config] if self.config else []
        command = [
            sys.executable,
            "-m",
            "snakemake",
            "--snakefile",
            str(ROOT / "Snakefile"),
            "--cores",
            self.cores,
        ]
        if sys.platform == "linux":  # elsewhere the libraries that jobs use may not be forked
            command = [sys.executable, "-m", "seedbed.building.forking", *command]
        self.stop.starts = True
        with (
            subprocess.Popen(
                [*command, "--nocolor", *given, *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                errors="replace",
                env=_MEMORY | os.environ | {"SEEDBED_BUILD": "1"},
                pass_fds=[self.lock],
                start_new_session=True,
            ) as process,
            self.stop.watching(process),
        ):
            try:
                yield process
            except BaseException:  # the disk is full, or nobody reads what is printed
                self.stop.end()
                process.communicate()
                raise


@dataclass
class Progress:
    """What Snakemake's output says of a build under way.

    Attributes:
        cores: How many jobs may run side by side.
        began: When the build began, in seconds.
        seconds: What a job takes beside its start, by the first word of its rule.
        planned: How many jobs of each rule will run.
        durations: Seconds of each finished job, by rule.
        errors: Everything from the first error on.
        failed: The logs of the jobs that failed.
        steps: "5 of 19 steps".
    """

    cores: int
    began: float
    seconds: Mapping[str, float]
    planned: dict[str, int] = field(default_factory=dict)
    durations: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    failed: list[Path] = field(default_factory=list)
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
        elif found := re.match(r"    log: (\S+) \(check log file", line):
            self.failed.append(Path(found[1]))
        elif found := re.match(r"(\d+ of \d+ steps)", line):
            self.steps = found[1]

    def work(self) -> tuple[float, float]:
        """The work done and the whole work, in about seconds of one core."""
        done = sum(len(durations) * self._weight(rule) for rule, durations in self.durations.items())
        return done, sum(count * self._weight(rule) for rule, count in self.planned.items() if rule != "total")

    def left(self, now: float) -> float:
        """About how many seconds are left: by the speed so far, and by the number of cores at the start."""
        done, whole = self.work()
        speed = (done + _GUESS * self.cores) / (now - self.began + _GUESS)
        return (whole - done) / speed

    def _weight(self, rule: str) -> float:
        """About how many seconds of one core a job of a rule takes, `evaluate_garden` as `evaluate`."""
        return self.seconds.get(rule.partition("_")[0], 0.0) + _START


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
