from __future__ import annotations

import copy
import heapq
import io
import itertools
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seedbed.building import build
from seedbed.building.progress import Display, Durations, Progress, read_durations, write_durations
from seedbed.configuration.configuration import ROOT, Configuration
from seedbed.pipeline.plan import Plan

SECONDS = {"train": 20.0, "evaluate": 2.0, "evaluate_all": 7.0, "train/garden/large": 100.0}
START = 0.5
#: Two trainings and the last rule, one record a second.
RECORDS: list[dict[str, Any]] = [
    {"event": "planned", "jobs": [[0, "all"], [1, "train/garden/flm"], [2, "train/garden/flm"]]},
    {"event": "started", "job": 1},
    {"event": "started", "job": 2},
    {"event": "finished", "job": 1},
    {"event": "steps", "done": 1, "all": 3},
    {"event": "finished", "job": 2},
    {"event": "steps", "done": 2, "all": 3},
    {"event": "started", "job": 0},
    {"event": "finished", "job": 0},
    {"event": "steps", "done": 3, "all": 3},
]


def read(records: list[dict[str, Any]]) -> list[Progress]:
    """The progress after each record, a second apart."""
    progress, seen = Progress(cores=2, began=0.0, guesses=Durations(SECONDS, START)), []
    for second, record in enumerate(records):
        progress.read(record, float(second))
        seen.append(copy.deepcopy(progress))
    return seen


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [
        ("train/garden/flm", 20.0),
        ("train/garden/large", 100.0),
        ("evaluate_two_words", 2.0),
        ("evaluate_all", 7.0),
        ("other", 0.0),
    ],
)
def test_a_job_is_guessed_from_its_kind_else_from_its_rule(kind: str, seconds: float) -> None:
    assert Durations(SECONDS, START).expected(kind) == seconds + START


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [
        ("train/garden/flm", 8.0),
        ("train/garden/new", 10.0),
        ("train/new/flm", 8.0),
        ("evaluate/garden/prompts/flm", 2.0 + START),
    ],
)
def test_what_the_last_build_took_counts_more_than_a_guess(kind: str, seconds: float) -> None:
    past = {"train/garden/flm": 8.0, "train/garden/large": 12.0, "train/farm/gpt": 4.0}
    assert Durations(SECONDS, START, past).expected(kind) == seconds


def test_durations_are_kept_from_build_to_build(tmp_path: Path) -> None:
    path = tmp_path / "logs/durations.json"
    write_durations(path, {"train/garden/flm": [1.0, 2.0], "corpus/garden/text": [0.5]})
    write_durations(path, {"train/garden/flm": [4.0]})
    assert read_durations(path) == {"train/garden/flm": 4.0, "corpus/garden/text": 0.5}


@pytest.mark.parametrize("text", [None, "", "[1]", '{"train": "long"}', '{"train": null}', "\xff"])
def test_without_durations_that_can_be_read_there_are_none(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "durations.json").write_text(text, encoding="latin-1")
    assert read_durations(tmp_path / "durations.json") == {}


def test_a_training_is_guessed_by_what_it_reads() -> None:
    plan = Plan(Configuration({"studies": ["garden"]}))
    guesses = build._guesses(plan)
    assert guesses["train/garden/flm"] == guesses["train"]
    assert guesses["train/garden/flm-one-epoch"] == pytest.approx(guesses["train"] / 6)


@pytest.mark.parametrize("seconds", [build._SECONDS, build._QUICK])
def test_the_time_left_knows_each_rule_that_takes_its_time(seconds: dict[str, float]) -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "workflow/rules").glob("*.smk")]
    rules = {name for text in texts for name in re.findall(r"rule (\w+):", text)}
    assert seconds.keys() <= rules | {rule.partition("_")[0] for rule in rules}
    assert {"train", "evaluate"} <= seconds.keys()


def test_a_job_lasts_from_its_own_start_to_its_own_end() -> None:
    assert read(RECORDS)[-1].durations == {"train/garden/flm": [2.0, 3.0], "all": [1.0]}


def test_the_time_left_starts_at_a_guess_and_ends_at_nothing() -> None:
    first, *_, last = read(RECORDS)
    assert last.left(15.0) == 0
    assert first.left(0.0) == pytest.approx((2 * 20 + 3 * START) / 2)


def test_the_time_left_is_at_least_that_of_the_longest_job() -> None:
    progress = Progress(cores=8, began=0.0, guesses=Durations(SECONDS, START))
    progress.read({"event": "planned", "jobs": [[0, "train/garden/large"]]}, 0.0)
    assert progress.left(0.0) == 100 + START


#: Seconds of a job of each kind on the machine that the guesses are for, and how many jobs of the kind there are.
MIXES = {
    "like all three studies": {
        **{f"corpus/study/{index}": (1.2, 3) for index in range(12)},
        **{f"train/farm/{index}": (16.0 + index / 2, 8) for index in range(12)},
        **{f"train/recall/{index}": (4.0 + index, 4) for index in range(26)},
        **{f"train/garden/{index}": (14.0 + index, 4) for index in range(30)},
        "train/garden/large": (110.0, 5),
        **{f"evaluate/garden/{index}": (1.0 + 0.1 * index, 10) for index in range(40)},
        "page": (6.0, 3),
    },
    "mostly short jobs": {f"evaluate/garden/{index}": (0.5 + 0.1 * index, 12) for index in range(30)},
    "one long kind after short ones": {"evaluate/farm/a": (2.0, 60), "train/garden/flm": (25.0, 30)},
    "many trainings of one run": {"train/garden/flm": (12.0, 60)},
}


def simulate(
    mix: dict[str, tuple[float, int]], cores: int, speed: Callable[[float], float], past: dict[str, float]
) -> list[tuple[float, float]]:
    """A build, study by study in the order of the mix; the time and what is said to be left, after each job."""
    draw = random.Random(0)
    kinds: list[str] = []
    for _, group in itertools.groupby(mix, key=lambda kind: kind.split("/")[:2]):
        jobs = [kind for kind in group for _ in range(mix[kind][1])]
        kinds += draw.sample(jobs, len(jobs))
    progress = Progress(cores, began=0.0, guesses=Durations(SECONDS, START, past))
    progress.read({"event": "planned", "jobs": list(enumerate(kinds))}, 0.0)
    running: list[tuple[float, int]] = []
    now, seen = 0.0, [(0.0, progress.left(0.0))]
    for job, kind in enumerate(kinds):
        if len(running) == cores:
            now, ended = heapq.heappop(running)
            progress.read({"event": "finished", "job": ended}, now)
            seen.append((now, progress.left(now)))
        progress.read({"event": "started", "job": job}, now)
        heapq.heappush(running, (now + mix[kind][0] * draw.uniform(0.8, 1.25) / speed(now), job))
    for now, ended in sorted(running):
        progress.read({"event": "finished", "job": ended}, now)
        seen.append((now, progress.left(now)))
    return seen


def worst(seen: list[tuple[float, float]], begin: float, end: float = 0.9) -> float:
    """By which factor the time left is off at most, between two shares of the whole time."""
    whole = seen[-1][0]
    pairs = [(left, whole - now) for now, left in seen if begin * whole <= now < end * whole]
    return max(max(left / true, true / left) for left, true in pairs)


@pytest.mark.parametrize("cores", [1, 2, 8])
@pytest.mark.parametrize("speed", [1 / 3, 1.0, 3.0])
@pytest.mark.parametrize("mix", MIXES)
def test_from_the_first_tenth_on_the_time_left_is_right_within_a_factor_of_two(
    mix: str, speed: float, cores: int
) -> None:
    assert worst(simulate(MIXES[mix], cores, lambda _: speed, {}), begin=0.1) < 2


@pytest.mark.parametrize("speed", [1 / 3, 1.0, 3.0])
@pytest.mark.parametrize("mix", MIXES)
def test_with_the_durations_of_the_last_build_the_time_left_is_nearly_right(mix: str, speed: float) -> None:
    past = {kind: seconds for kind, (seconds, _) in MIXES[mix].items()}
    seen = simulate(MIXES[mix], 2, lambda _: speed, past)
    assert worst(seen, begin=0.1) < 1.5
    assert worst(seen, begin=0.0) < 4


def test_a_build_that_goes_on_where_it_stopped_counts_only_what_is_left() -> None:
    rest = dict(list(MIXES["like all three studies"].items())[60:])
    assert worst(simulate(rest, 2, lambda _: 1.0, {}), begin=0.1) < 2


def test_the_time_left_follows_a_machine_that_others_begin_to_use() -> None:
    past = {kind: seconds for kind, (seconds, _) in MIXES["like all three studies"].items()}
    seen = simulate(MIXES["like all three studies"], 2, lambda now: 1.0 if now < 1000 else 0.4, past)
    assert worst(seen, begin=1600 / seen[-1][0]) < 2


def test_a_job_that_runs_for_too_long_counts_before_it_ends() -> None:
    first, second = read(RECORDS[:3])[-1].left(2.0), read(RECORDS[:3])[-1].left(60.0)
    assert first < 30
    assert second > 0


def test_failed_jobs_are_known_by_their_logs_and_other_errors_by_their_text() -> None:
    log = "results/logs/train/garden/flm/seed-0.log"
    failed = {"event": "failed", "job": 1, "logs": [log]}
    last = read([*RECORDS[:3], failed, {"event": "error", "text": "a job failed"}])[-1]
    assert last.failed == [Path(log)]
    assert last.errors == ["a job failed"]
    assert last.durations == {}


def test_a_record_of_an_unknown_job_or_event_changes_nothing() -> None:
    before, after = read([RECORDS[0], {"event": "finished", "job": 9}])
    unknown = read([RECORDS[0], {"event": "news"}])[-1]
    for one in (before, after, unknown):
        assert (one.steps, one.durations, one.left(9.0)) == ((0, 0), {}, before.left(9.0))


def test_without_a_terminal_a_line_is_shown_at_the_start_and_at_intervals(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Display() as display:
        for progress, now in zip(read(RECORDS), [0, 1, 2, 3, 4, 5, 30, 31, 32, 33], strict=True):
            display.show(progress, float(now))
    begun, later = capsys.readouterr().out.splitlines()
    assert begun.startswith("begun, 00:00 gone, about 00:")
    assert later.startswith("2 of 3 steps, 00:30 gone, about 00:")


def test_on_a_terminal_the_bar_shows_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr", terminal)
    with Display() as display:
        display.show(read(RECORDS)[4], 4.0)
    assert "1 of 3 steps, 00:04 gone" in terminal.getvalue()
