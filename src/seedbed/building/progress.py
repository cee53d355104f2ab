"""How far a build is, from the records of Snakemake's process (`snakemake_runner`), and how that is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

#: Seconds of one core that the speed guessed before the build counts for, against the measured speed.
_GUESS = 20.0
#: Seconds between two lines of progress where the output is no terminal.
_PAUSE = 15.0


@dataclass
class Progress:
    """What is known of a build under way.

    Attributes:
        cores: How many jobs may run at the same time.
        began: When the build began, in seconds.
        seconds: Seconds of one core that a job takes beside its start, by rule; see `_weight`.
        start: Seconds of one core that the start of a job takes.
        planned: How many jobs of each rule will run.
        durations: Seconds of each finished job, by rule.
        failed: The logs of the jobs that failed.
        errors: What Snakemake says of other failures.
        steps: Jobs done, and all jobs.
    """

    cores: int
    began: float
    seconds: Mapping[str, float]
    start: float
    planned: dict[str, int] = field(default_factory=dict)
    durations: dict[str, list[float]] = field(default_factory=dict)
    failed: list[Path] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    steps: tuple[int, int] = (0, 0)
    _running: dict[int, tuple[str, float]] = field(default_factory=dict)

    def read(self, record: Mapping[str, Any], now: float) -> None:
        """Take in one record, received at the time ``now`` (seconds)."""
        match record:
            case {"event": "planned", "jobs": jobs}:
                self.planned = jobs
            case {"event": "started", "job": job, "rule": rule}:
                self._running[job] = (rule, now)
            case {"event": "finished", "job": job} if job in self._running:
                rule, began = self._running.pop(job)
                self.durations.setdefault(rule, []).append(now - began)
            case {"event": "steps", "done": done, "all": whole}:
                self.steps = (done, whole)
            case {"event": "failed", "job": job, "logs": logs}:
                self._running.pop(job, None)
                self.failed += map(Path, logs)
            case {"event": "error", "text": text}:
                self.errors.append(text)

    def work(self) -> tuple[float, float]:
        """The work done and the whole work, in about seconds of one core."""
        done = sum(len(durations) * self._weight(rule) for rule, durations in self.durations.items())
        return done, sum(count * self._weight(rule) for rule, count in self.planned.items())

    def left(self, now: float) -> float:
        """About how many seconds are left: by the speed so far, and by the number of cores at the start."""
        done, whole = self.work()
        speed = (done + _GUESS * self.cores) / (now - self.began + _GUESS)
        return (whole - done) / speed

    def _weight(self, rule: str) -> float:
        """About how many seconds of one core a job takes; a rule like `evaluate_garden` counts as `evaluate`."""
        return self.seconds.get(rule, self.seconds.get(rule.partition("_")[0], 0.0)) + self.start


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
        left = tqdm.format_interval(progress.left(now))
        text = f"{said}, {tqdm.format_interval(now - progress.began)} gone, about {left} left"
        if not self._bar.disable:
            self._bar.n, self._bar.total = progress.work()
            self._bar.set_description_str(text)
        elif self._shown is None or now - self._shown[1] > _PAUSE:
            print(text, flush=True)
        else:
            return
        self._shown = (progress.steps, now)
