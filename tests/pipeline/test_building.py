from seedbed.pipeline.building import Progress

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


def test_progress_weighs_trainings_and_counts_steps() -> None:
    progress = Progress()
    seen = []
    for second, line in enumerate(OUTPUT.splitlines(keepends=True)):
        progress.read(line, float(second))
        seen.append(progress.work())
    whole = 2 * 22 + 2
    assert seen[-1] == (whole, whole)
    assert (whole, 22) in seen
    assert progress.steps == "3 of 3 steps"


def test_a_stage_lasts_from_its_first_start_to_its_last_end() -> None:
    progress = Progress()
    for second, line in enumerate(OUTPUT.splitlines(keepends=True)):
        progress.read(line, float(second))
    assert dict(progress.stages()) == {"train": 6.0, "all": 2.0}


def test_everything_from_the_first_error_on_is_kept() -> None:
    progress = Progress()
    for line in ("Building DAG of jobs...\n", "WorkflowError:\n", "config: no\n"):
        progress.read(line, 0.0)
    assert progress.errors == ["WorkflowError:\n", "config: no\n"]
