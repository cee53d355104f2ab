import copy
import signal
from pathlib import Path

import pytest

from seedbed.building import build
from seedbed.building.build import Progress, _Stop

OUTPUT = """\
Job stats:
job             count
------------  -------
all                 1
train               2
total               3

rule train:
    jobid: 1
rule train:
    jobid: 2
Finished jobid: 1 (Rule: train)
1 of 3 steps (33%) done
Finished jobid: 2 (Rule: train)
2 of 3 steps (67%) done
localrule all:
    jobid: 0
Finished jobid: 0 (Rule: all)
3 of 3 steps (100%) done
"""


SECONDS = {"train": 20.0, "evaluate": 2.0}
#: Seconds of work of a training, and of two with the last rule.
TRAINING = SECONDS["train"] + build._START
WHOLE = 2 * TRAINING + build._START


def read(output: str) -> list[Progress]:
    """The progress after each line, a second apart."""
    progress, seen = Progress(cores=2, began=0.0, seconds=SECONDS), []
    for second, line in enumerate(output.splitlines(keepends=True)):
        progress.read(line, float(second))
        seen.append(copy.deepcopy(progress))
    return seen


def test_progress_weighs_trainings_and_counts_steps() -> None:
    seen = [progress.work() for progress in read(OUTPUT)]
    assert seen[-1] == (WHOLE, WHOLE)
    assert (TRAINING, WHOLE) in seen
    assert read(OUTPUT)[-1].steps == "3 of 3 steps"


def test_measuring_a_study_weighs_as_measuring_in_a_quick_build() -> None:
    progress = read("evaluate_two_words   3\n")[-1]
    assert progress.work() == (0, 3 * (SECONDS["evaluate"] + build._START))


@pytest.mark.parametrize("seconds", [build._SECONDS, build._QUICK])
def test_the_time_left_knows_each_rule_that_takes_its_time(seconds: dict[str, float]) -> None:
    assert seconds.keys() == {"train", "evaluate", "page"}


def test_a_job_lasts_from_its_own_start_to_its_own_end() -> None:
    assert read(OUTPUT)[-1].durations == {"train": [3.0, 3.0], "all": [1.0]}


def test_the_time_left_starts_at_a_guess_and_ends_at_nothing() -> None:
    seen = read(OUTPUT)
    assert seen[-1].left(15.0) == 0
    first = next(progress for progress in seen if progress.work()[1] == WHOLE)
    assert 15 < first.left(0.0) < 30


def test_the_time_left_follows_the_speed_so_far() -> None:
    progress = next(one for one in read(OUTPUT) if one.work()[0] == TRAINING)
    assert progress.left(1000.0) > 100 > progress.left(11.0)


def test_everything_from_the_first_error_on_is_kept() -> None:
    last = read("Building DAG of jobs...\nWorkflowError:\nconfig: no\n")[-1]
    assert last.errors == ["WorkflowError:\n", "config: no\n"]


FAILED = """\
Error in rule train:
    message: None
    jobid: 7
    output: results/runs/garden/flm/seed-0/model.safetensors
    log: results/logs/train/garden/flm/seed-0.log (check log file(s) for error details)
"""


def test_failed_jobs_are_known_by_their_logs() -> None:
    running = "rule train:\n    log: results/logs/train/garden/flm/seed-1.log\n"
    assert read(running + FAILED)[-1].failed == [Path("results/logs/train/garden/flm/seed-0.log")]


def test_a_hangup_that_nohup_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with _Stop():
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
