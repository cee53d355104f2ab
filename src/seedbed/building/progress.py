"""How far a build is, from the records of Snakemake's process (`snakemake_runner`), and how that is shown.

The kind of a job is a path from the general to the particular without the seed, such as ``train/garden/flm``. What
a job will take is known from the last build, or else guessed from its rule. The jobs that have run say how much
slower or faster this build is, kind by kind.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

from seedbed.pipeline import storage

#: Seconds for which it counts that all cores were busy, against how many of them have been so far.
_GUESS = 20.0
#: The last part of a build that tells how fast the machine is now: others may have begun or ceased to use it.
_LATELY = 0.2
#: Seconds between two lines of progress where the output is no terminal.
_PAUSE = 15.0


class Durations:
    """About how many seconds a job takes, by its kind.

    Args:
        guesses: A guess for each rule, and for kinds that differ from it; `evaluate_garden` counts as `evaluate`.
        start: Seconds that each of these jobs takes to start.
        past: The seconds of each kind in earlier builds.
    """

    def __init__(
        self, guesses: Mapping[str, float], start: float, past: Mapping[str, float] | None = None
    ) -> None:
        self._guesses, self._start = guesses, start
        self._past: dict[str, list[float]] = defaultdict(list)
        for kind, seconds in (past or {}).items():
            for level in _levels(kind):
                self._past[level].append(seconds)

    def expected(self, kind: str) -> float:
        """Of this kind in the last build, else of the kinds next to it, else as guessed."""
        levels = _levels(kind)
        for level in levels:
            if found := self._past.get(level):
                return sum(found) / len(found)
        guesses = (self._guesses[one] for one in [*levels, levels[-1].partition("_")[0]] if one in self._guesses)
        return next(guesses, 0.0) + self._start


@dataclass
class Progress:
    """What is known of a build under way.

    Attributes:
        cores: How many jobs may run at the same time.
        began: When the build began, in seconds.
        guesses: What is known of durations before the build.
        planned: The kind of each job that will run, by its number.
        durations: Seconds of each finished job, by kind.
        ended: When each job finished, its kind and its seconds, in this order.
        failed: The logs of the jobs that failed.
        errors: What Snakemake says of other failures.
        steps: Jobs done, and all jobs.
    """

    cores: int
    began: float
    guesses: Durations
    planned: dict[int, str] = field(default_factory=dict)
    durations: dict[str, list[float]] = field(default_factory=dict)
    ended: list[tuple[float, str, float]] = field(default_factory=list)
    failed: list[Path] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    steps: tuple[int, int] = (0, 0)
    _running: dict[int, float] = field(default_factory=dict)
    _waiting: dict[int, str] = field(default_factory=dict)

    def read(self, record: Mapping[str, Any], now: float) -> None:
        """Take in one record, received at the time ``now`` (seconds)."""
        match record:
            case {"event": "planned", "jobs": jobs}:
                self.planned = dict(jobs)
                self._waiting = dict(self.planned)
            case {"event": "started", "job": job} if job in self._waiting:
                del self._waiting[job]
                self._running[job] = now
            case {"event": "finished", "job": job} if job in self._running:
                seconds = now - self._running.pop(job)
                self.durations.setdefault(self.planned[job], []).append(seconds)
                self.ended.append((now, self.planned[job], seconds))
            case {"event": "steps", "done": done, "all": whole}:
                self.steps = (done, whole)
            case {"event": "failed", "job": job, "logs": logs}:
                self._running.pop(job, None)
                self.failed += map(Path, logs)
            case {"event": "error", "text": text}:
                self.errors.append(text)

    def left(self, now: float) -> float:
        """About how many seconds are left: the work that is left, by as many cores as were busy so far."""
        expected = self._expected(now)
        left = [expected[kind] for kind in self._waiting.values()]
        left += [max(0.0, expected[self.planned[job]] - (now - began)) for job, began in self._running.items()]
        used = sum(map(sum, self.durations.values())) + sum(now - began for began in self._running.values())
        busy = (used + _GUESS * self.cores) / (now - self.began + _GUESS)
        return max(sum(left) / busy, *left, 0.0)

    def _expected(self, now: float) -> dict[str, float]:
        """What a job of each kind will take: as expected, by its ratio, and by how fast jobs were lately."""
        ratios = self._ratios(now)
        seconds = {kind: self.guesses.expected(kind) * ratio for kind, ratio in ratios.items()}
        lately = [one for one in self.ended if one[0] >= now - (now - self.began) * _LATELY]
        usual = sum(seconds[kind] for _, kind, _ in lately)
        speed = (sum(actual for _, _, actual in lately) + _GUESS) / (usual + _GUESS)
        return {kind: one * speed for kind, one in seconds.items()}

    def _ratios(self, now: float) -> dict[str, float]:
        """For each kind, how much longer than expected its jobs take in this build.

        Each level of a kind, from all jobs down to the kind itself, begins with the ratio of the level above, as
        if one job of the kind had shown it, and adds what its own jobs have shown.
        """
        actual: dict[str, float] = defaultdict(float)
        expected: dict[str, float] = defaultdict(float)
        for kind, seconds, guess in self._seen(now):
            for level in ("", *_levels(kind)):
                actual[level] += seconds
                expected[level] += guess
        found = {}
        for kind in set(self.planned.values()):
            ratio, own = 1.0, self.guesses.expected(kind)
            for level in ("", *reversed(_levels(kind))):
                if whole := expected[level] + own:
                    ratio = (actual[level] + own * ratio) / whole
            found[kind] = ratio
        return found

    def _seen(self, now: float) -> Iterator[tuple[str, float, float]]:
        """What jobs took and should have taken: those that have ended, and those that already run for too long."""
        for kind, durations in self.durations.items():
            yield kind, sum(durations), len(durations) * self.guesses.expected(kind)
        for job, began in self._running.items():
            guess = self.guesses.expected(self.planned[job])
            if now - began > guess:
                yield self.planned[job], now - began, guess


def _levels(kind: str) -> list[str]:
    """A kind and the levels above it, the rule last."""
    parts = kind.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]


def read_durations(path: Path) -> dict[str, float]:
    """The seconds of each kind in earlier builds; nothing where there is no such file, or it is broken."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {str(kind): float(seconds) for kind, seconds in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):  # the times are of use, but no build needs them
        return {}


def write_durations(path: Path, durations: Mapping[str, Sequence[float]]) -> None:
    """Add the mean seconds of each kind of a build to those of earlier ones."""
    new = {kind: round(sum(seconds) / len(seconds), 1) for kind, seconds in durations.items()}
    storage.write_text(path, json.dumps(read_durations(path) | new, indent=0, sort_keys=True) + "\n")


class Display:
    """Shows progress: a bar on a terminal, elsewhere a line at intervals."""

    def __init__(self) -> None:
        self._bar = tqdm(bar_format="{percentage:3.0f}% |{bar:30}| {desc}", disable=None, leave=False)
        self._shown: tuple[tuple[int, int], float] | None = None

    def __enter__(self) -> Display:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def show(self, progress: Progress, now: float) -> None:
        """Show the progress if its steps have changed."""
        if not progress.planned or (self._shown and progress.steps == self._shown[0]):
            return
        done, whole = progress.steps
        said = f"{done} of {whole} steps" if done else "begun"
        gone, left = now - progress.began, progress.left(now)
        text = f"{said}, {tqdm.format_interval(gone)} gone, about {tqdm.format_interval(left)} left"
        if not self._bar.disable:
            self._bar.n, self._bar.total = gone, gone + left
            self._bar.set_description_str(text)
        elif self._shown is None or now - self._shown[1] > _PAUSE:
            print(text, flush=True)
        else:
            return
        self._shown = (progress.steps, now)
