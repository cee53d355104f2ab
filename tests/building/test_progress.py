from __future__ import annotations

import copy
import io
import re
from pathlib import Path
from typing import Any

import pytest

from seedbed.building import build
from seedbed.building.progress import Display, Progress
from seedbed.configuration.configuration import ROOT

SECONDS = {"train": 20.0, "evaluate": 2.0}
START = 0.5
#: Seconds of work of a training, and of two with the last rule.
TRAINING = SECONDS["train"] + START
WHOLE = 2 * TRAINING + START
#: Two trainings and the last rule, one record a second.
RECORDS: list[dict[str, Any]] = [
    {"event": "planned", "jobs": {"all": 1, "train": 2}},
    {"event": "started", "job": 1, "rule": "train"},
    {"event": "started", "job": 2, "rule": "train"},
    {"event": "finished", "job": 1},
    {"event": "steps", "done": 1, "all": 3},
    {"event": "finished", "job": 2},
    {"event": "steps", "done": 2, "all": 3},
    {"event": "started", "job": 0, "rule": "all"},
    {"event": "finished", "job": 0},
    {"event": "steps", "done": 3, "all": 3},
]


def read(records: list[dict[str, Any]]) -> list[Progress]:
    """The progress after each record, a second apart."""
    progress, seen = Progress(cores=2, began=0.0, seconds=SECONDS, start=START), []
    for second, record in enumerate(records):
        progress.read(record, float(second))
        seen.append(copy.deepcopy(progress))
    return seen


def test_progress_weighs_trainings_and_counts_steps() -> None:
    seen = read(RECORDS)
    assert [progress.work()[0] for progress in seen] == [
        0,
        0,
        0,
        *[TRAINING] * 2,
        *[2 * TRAINING] * 3,
        WHOLE,
        WHOLE,
    ]
    assert {progress.work()[1] for progress in seen} == {WHOLE}
    assert seen[-1].steps == (3, 3)


def test_measuring_a_study_weighs_as_measuring_in_a_quick_build() -> None:
    progress = read([{"event": "planned", "jobs": {"evaluate_two_words": 3}}])[-1]
    assert progress.work() == (0, 3 * (SECONDS["evaluate"] + START))


def test_a_rule_has_its_own_weight_before_that_of_its_first_word() -> None:
    progress = Progress(cores=1, began=0.0, seconds={"evaluate": 2.0, "evaluate_all": 7.0}, start=0.0)
    progress.read({"event": "planned", "jobs": {"evaluate_all": 1, "evaluate_garden": 1, "other": 5}}, 0.0)
    assert progress.work() == (0, 9)


@pytest.mark.parametrize("seconds", [build._SECONDS, build._QUICK])
def test_the_time_left_knows_each_rule_that_takes_its_time(seconds: dict[str, float]) -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "workflow/rules").glob("*.smk")]
    rules = {name for text in texts for name in re.findall(r"rule (\w+):", text)}
    assert seconds.keys() <= rules | {rule.partition("_")[0] for rule in rules}
    assert {"train", "evaluate"} <= seconds.keys()


def test_a_job_lasts_from_its_own_start_to_its_own_end() -> None:
    assert read(RECORDS)[-1].durations == {"train": [2.0, 3.0], "all": [1.0]}


def test_the_time_left_starts_at_a_guess_and_ends_at_nothing() -> None:
    first, *_, last = read(RECORDS)
    assert last.left(15.0) == 0
    assert 15 < first.left(0.0) < 30


def test_the_time_left_follows_the_speed_so_far() -> None:
    progress = next(one for one in read(RECORDS) if one.work()[0] == TRAINING)
    assert progress.left(1000.0) > 100 > progress.left(11.0)


def test_failed_jobs_are_known_by_their_logs_and_other_errors_by_their_text() -> None:
    log = "results/logs/train/garden/flm/seed-0.log"
    failed = {"event": "failed", "job": 1, "logs": [log]}
    last = read([*RECORDS[:3], failed, {"event": "error", "text": "a job failed"}])[-1]
    assert last.failed == [Path(log)]
    assert last.errors == ["a job failed"]
    assert last.durations == {}


def test_a_record_of_an_unknown_job_or_event_changes_nothing() -> None:
    before, after = read([RECORDS[0], {"event": "finished", "job": 9}])
    assert after == before == read([RECORDS[0], {"event": "news"}])[-1]


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
