"""A whole build: `make report`.

It checks the configuration, locks the folder, and lets Snakemake make what is missing or was made by other code or
values. It shows the steps done and the time left and, at the end, how long each rule took.
"""

from __future__ import annotations

import shutil
import signal
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, suppress
from pathlib import Path
from typing import Any

from seedbed.building.locking import hold_build
from seedbed.building.progress import Display, Durations, Progress, read_durations, write_durations
from seedbed.building.snakemake_process import Snakemake, Stop
from seedbed.configuration.configuration import Configuration, overrides
from seedbed.configuration.schema import whole_number
from seedbed.configuration.yaml import ConfigError
from seedbed.pipeline import reference_files
from seedbed.pipeline.jobs.job import RESULTS, is_pending
from seedbed.pipeline.plan import Plan, check
from seedbed.pipeline.rehearsal import rehearse

PAGE = RESULTS / "report" / "index.html"
LOG = RESULTS / "logs" / "build.log"
#: How long each kind of job took in earlier builds; only the time left depends on it.
DURATIONS = RESULTS / "logs" / "durations.json"
#: About how many seconds of one core a job of a rule takes beside its start; only the time left depends on them.
_SECONDS = {"train": 25.0, "evaluate": 5.0, "demonstrate": 20.0, "study": 3.0, "claims": 3.0, "index": 3.0}
#: The same in a quick build, where one job measures a whole study.
_QUICK = {"train": 5.0, "evaluate": 12.0, "demonstrate": 10.0, "study": 2.0, "claims": 2.0, "index": 2.0}
#: The same for the start of a job: a fork on Linux, elsewhere a Python that imports torch.
_START = 0.6 if sys.platform == "linux" else 2.0
#: How many last lines of a log are shown if it has no traceback.
_LINES = 5
#: A disk with fewer bytes left counts as full: a job that failed has given back what it wrote.
_ROOM = 10_000_000
#: How many missing results are named.
_NAMED = 5


def build(config: Sequence[str], cores: str, root: Path) -> int:
    """Build everything of a project's folder; returns 0 if every result is there and up to date.

    Otherwise it returns Snakemake's exit code, 1 if results are missing all the same, or 128 plus the signal that
    stopped the build.

    Raises:
        ConfigError: before any job, if the configuration or the number of cores is wrong.
        BusyError: before any job, if another build runs here.
    """
    count = _count_cores(cores)
    with Stop() as stop:
        try:
            code = _build(config, count, stop, root)
        except KeyboardInterrupt:
            code = stop.code
        except BrokenPipeError:  # nobody reads the output
            code = 128 + signal.SIGPIPE
        if code and stop.code:
            print("Stopped. Run the same command to go on where it stopped.", file=sys.stderr)
            return stop.code
    return code


def _count_cores(cores: str) -> int:
    if cores == "all":
        from seedbed import timer  # jobs load nothing that their fingerprint does not cover

        return timer.cores()
    if not (cores.isascii() and cores.isdigit() and int(cores) > 0):
        raise ConfigError(f"--cores {cores}: expected all or a whole number from 1")
    return int(cores)


def _build(config: Sequence[str], cores: int, stop: Stop, root: Path) -> int:
    plan = Plan(Configuration(overrides(config), root))
    with enter_results_folder(plan.configuration):
        print(f"In {Path.cwd()}{', apart from a full build' if plan.configuration.quick else ''}:")
        if not plan.pending():  # then nothing is written, and the folder may be read-only
            print("Everything is up to date.")
        else:
            with hold_build() as lock:
                if code := _make(plan, Snakemake(config, cores, lock, stop, root)):
                    return code
        for line in _verdict_lines([row for one in plan.all_verdicts for row in one.read()]):
            print(line)
        print(f"The first page: {PAGE.resolve()}")
        return 0


def _verdict_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The outcomes of the claims that count, and how many of them ask for more seeds than there are."""
    judged = [
        row for row in rows if not row["same_as"] and not row["by_construction"] and row["outcome"] != "not run"
    ]
    outcomes = Counter(str(row["outcome"]) for row in judged)
    if judged:
        yield f"Claims: {', '.join(f'{number} {outcome}' for outcome, number in outcomes.most_common())}."
    if few := sum(row["possible"] is not None and len(row["possible"]) < 2 for row in judged):
        yield f"{few} of these ask for a share of more seeds than were built; their rows say what can be decided."


@contextmanager
def enter_results_folder(configuration: Configuration) -> Iterator[None]:
    """Inside the block, the current folder is the one that holds results/ of this configuration."""
    folder = configuration.root / configuration.folder
    for made in (folder, folder / RESULTS):
        if made.is_symlink() and not made.exists():
            raise ConfigError(
                f"{made} is a link to {made.readlink()}, which is not there: make that folder, or remove the link"
            )
        made.mkdir(exist_ok=True)
    with chdir(folder):
        yield


def _make(plan: Plan, snakemake: Snakemake) -> int:
    """Make what is pending; returns 0 only if nothing is pending afterwards."""
    print("Checking everything, on a few documents first ...", flush=True)
    if any(map(is_pending, plan.computing)):
        check(plan.configuration)
    rehearse(plan)
    for part in RESULTS.rglob(".*.part"):  # of a job that was killed while it wrote
        part.unlink()
    guesses = Durations(_guesses(plan), _START, known_durations(plan.configuration))
    progress = Progress(snakemake.cores, time.monotonic() - snakemake.stop.paused, guesses)
    code = _run(snakemake, progress, plan.stale())
    if code and snakemake.stop.code:
        return code
    if code:
        _show_failure(progress, code)
    elif missing := plan.pending():
        code = 1
        _show_missing([job.outputs[0] for job in missing])
    else:
        _show_times(progress, time.monotonic() - snakemake.stop.paused)
    if code and PAGE in plan.stale():
        print(f"Until then {PAGE} shows an earlier build.", file=sys.stderr)
    return code


def known_durations(configuration: Configuration) -> dict[str, float]:
    """The seconds of each kind of job in earlier builds here, and else in the build of the reference.

    That was of whole studies, so that a quick build has nothing from it.
    """
    reference = {} if configuration.quick else read_durations(configuration.root / reference_files.DURATIONS)
    return reference | read_durations(DURATIONS)


def _guesses(plan: Plan) -> dict[str, float]:
    """About how many seconds a job takes, by rule; a training by what it reads, as others of its study do."""
    found = dict(_QUICK if plan.configuration.quick else _SECONDS)
    train, read = found["train"], defaultdict[str, dict[str, int]](dict)
    for one in plan.trainings:
        read[one.study][one.run] = one.corpus.entry.training * whole_number(one.entry.training, "epochs")
    for study, runs in read.items():
        usual = statistics.median(runs.values())
        found |= {f"train/{study}/{run}": train * size / usual for run, size in runs.items()}
    return found


def _run(snakemake: Snakemake, progress: Progress, stale: Sequence[Path]) -> int:
    """Run Snakemake and show its progress; returns its exit code.

    The stale results are named to it: otherwise it keeps broken and foreign files, or all files if its records
    are lost.
    """
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with LOG.open("w", encoding="utf-8") as log, Display() as display:

        def take(record: Mapping[str, Any]) -> None:
            now = time.monotonic() - snakemake.stop.paused
            progress.read(record, now)
            display.show(progress, now)

        code = snakemake.run([str(path) for path in stale], log, take)
    with suppress(OSError):  # such as a full disk, which the failed jobs tell
        write_durations(DURATIONS, progress.durations)
    return code


def _show_times(progress: Progress, now: float) -> None:
    rules: dict[str, list[float]] = {}
    for kind, durations in progress.durations.items():
        rules.setdefault(kind.partition("/")[0], []).extend(durations)
    for rule, durations in rules.items():
        if rule != "all":
            print(f"  {rule:<14}{len(durations):5} jobs {sum(durations):8.1f} s")
    beside = ", jobs side by side" if progress.cores > 1 else ""
    print(f"  all together{' ' * 13}{now - progress.began:8.1f} s{beside}")


def _show_missing(missing: Sequence[Path]) -> None:
    """Name results that are missing or stale although Snakemake reports success."""
    print(
        f"The build is not complete. Snakemake reports success, but {len(missing)} results are missing or from\n"
        "other code or values:\n",
        *(f"    {path}" for path in missing[:_NAMED]),
        *(["    ..."] if len(missing) > _NAMED else []),
        f"\nSee {LOG}. If code or configuration changed during the build, run the same command again.",
        sep="\n",
        file=sys.stderr,
    )


def _show_failure(progress: Progress, code: int) -> None:
    """Show each failed job with the end of its log, jobs with the same end together; else Snakemake's errors."""
    ends: dict[str, list[Path]] = {}
    for log in progress.failed:
        ends.setdefault(_end_of(log), []).append(log)
    if ends:
        print("The build failed.", file=sys.stderr)
    else:
        reason = "\n".join(progress.errors) or f"Snakemake ended with code {code}, see {LOG}:\n\n{_end_of(LOG)}"
        print(f"The build failed:\n\n{reason}", file=sys.stderr)
    for end, logs in ends.items():
        print("", *(f"{_job(log)}, {log}" for log in logs), end, sep="\n", file=sys.stderr)
    print("\nMend the cause and run the same command: it goes on where it stopped.", file=sys.stderr)


def _job(log: Path) -> str:
    """A job's name by its log: its rule, then study, run and seed or the like."""
    rule, *names = log.relative_to(LOG.parent).with_suffix("").parts
    return " ".join([rule, *filter(None, ["/".join(names)])])


def _end_of(log: Path) -> str:
    """The end of a log: the error from the place where it was raised, or the last lines."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    raised = [number for number, line in enumerate(lines) if line.startswith('  File "')]
    last = lines[raised[-1] :] if raised else lines[-_LINES:]
    if not last or "Killed" in last[-1]:
        last.append(_outside_cause())
    return "\n".join(f"    {line}" for line in last)


def _outside_cause() -> str:
    """What ends a job that says nothing itself, and what to do."""
    if (free := shutil.disk_usage(RESULTS).free) < _ROOM:
        return f"The disk that holds {RESULTS.resolve()} is full, {free // 1000} kB are left; make room for it."
    return "Something ended it from outside, perhaps for want of memory: fewer cores need less."
