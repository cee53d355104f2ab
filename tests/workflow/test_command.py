"""`make report` as a command: what it says, and that it never leaves old numbers."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from miniature import Project

HOLD = """
import sys, time
from seedbed.pipeline.locking import hold_build
with hold_build():
    print("held", flush=True)
    time.sleep(60)
"""


def test_with_nothing_to_do_it_says_so_and_where_the_page_is(project: Project) -> None:
    done = project.command("build")
    assert done.returncode == 0
    assert "Everything is up to date." in done.stdout
    assert str(project.root / "results/report/index.html") in done.stdout


def test_what_changed_is_built_and_each_stage_is_timed(project: Project) -> None:
    project.edit("config/studies/garden.yaml", "title: Miniature", "title: Another")
    done = project.command("build")
    assert done.returncode == 0, done.stdout
    assert "page              1 jobs" in done.stdout
    assert "Another" in (project.root / "results/report/index.html").read_text()


def test_without_snakemakes_records_everything_of_other_values_is_made_again(project: Project) -> None:
    shutil.rmtree(project.root / ".snakemake")
    project.edit("config/studies/garden.yaml", "epochs: 2", "epochs: 1")
    done = project.command("build")
    assert done.returncode == 0, done.stdout
    log = pq.read_table(project.root / "results/runs/garden/flm/seed-0/log.parquet", partitioning=None)
    assert set(log["epoch"].to_pylist()) == {1}


def test_a_foreign_file_among_the_results_is_made_again(project: Project) -> None:
    path = project.root / "results/observations/garden/flm/perplexity.parquet"
    before = path.read_bytes()
    path.write_bytes(before[: len(before) // 2])
    assert project.command("build").returncode == 0
    assert path.read_bytes() == before


def test_a_second_build_stops_at_once_and_says_who_builds(project: Project) -> None:
    environment = {"PYTHONPATH": str(project.root / "src")}
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], cwd=project.root, env=environment, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        began = time.monotonic()
        second = project.command("build")
        first.kill()
    assert second.returncode == 2
    assert f"a build runs in this folder, begun by process {first.pid}" in second.stdout
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("cores", ["0", "-1", "two"])
def test_a_number_of_cores_that_means_nothing_is_refused(project: Project, cores: str) -> None:
    done = project.command("build", "--cores", cores)
    assert done.returncode == 2
    assert f"--cores {cores}: expected all or a whole number from 1" in done.stdout


def test_a_wrong_configuration_is_a_message_not_a_traceback(project: Project) -> None:
    project.edit("config/studies/garden.yaml", "kind: flm", "kind: flmm")
    done = project.command("build")
    assert done.returncode == 2
    assert "runs.flm.objective.kind: no objectives/flmm.py; did you mean flm?" in done.stdout
    assert "Traceback" not in done.stdout


def test_options_that_contradict_each_other_stop_the_build_before_any_job(project: Project) -> None:
    project.edit("config/studies/garden.yaml", "heads: 2", "heads: 3")
    done = project.command("build")
    assert done.returncode == 2
    assert "heads" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_claim_about_what_nothing_measures_stops_the_build_before_any_job(project: Project) -> None:
    project.edit("config/claims/objectives.yaml", "run: flm, metric: divergence", "run: flm, metric: divergense")
    done = project.command("build")
    assert done.returncode == 2
    assert "objectives:best.check: metric divergense: nothing measures it; did you mean divergence" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_grammar_that_means_nothing_stops_the_build_before_any_job(project: Project) -> None:
    project.edit("config/languages/garden.yaml", "given: noun.class", "given: noun.clas")
    done = project.command("check-config")
    assert done.returncode == 2
    assert "config/languages/garden.yaml" in done.stdout
    assert "class" in done.stdout


def test_a_failed_job_is_shown_with_its_log_and_the_remedy(project: Project) -> None:
    project.edit(
        "src/seedbed/evaluations/training.py",
        "log, corpus = model.log, model.corpus",
        # A rehearsal has fewer documents, and passes.
        "log, corpus = model.log, model.corpus\n"
        '    if len(corpus) > 64:\n        raise ArithmeticError("on purpose")',
    )
    done = project.command("build")
    assert done.returncode != 0
    assert "on purpose" in done.stdout
    assert "run the same command" in done.stdout


def test_a_claim_is_shown_with_its_verdict_and_every_seed(project: Project) -> None:
    done = project.command("claim", "objectives:best")
    assert done.returncode == 0, done.stdout
    assert "The Transformer is the language." in done.stdout
    assert "Contradicted: " in done.stdout
    evidence = done.stdout.partition("garden/flm divergence sentences=all\n")[2].split()
    assert len([float(value) for value in evidence]) == 2


def test_an_item_without_a_claim_says_why_and_an_unknown_one_what_is_near(project: Project) -> None:
    assert "No claim (machine): Seconds" in project.command("claim", "objectives:time").stdout
    done = project.command("claim", "objectives:bets")
    assert done.returncode == 2
    assert "did you mean objectives:best" in done.stdout


def test_a_verdict_of_other_claims_is_not_shown(project: Project) -> None:
    project.edit("config/claims/objectives.yaml", "at_most: 0.001", "at_most: 100")
    done = project.command("claim", "objectives:best")
    assert done.returncode == 2
    assert "run `make report`" in done.stdout


def test_a_killed_build_keeps_its_folder_until_its_jobs_have_ended(project: Project) -> None:
    project.edit("config/studies/garden.yaml", "epochs: 2", "epochs: 40")
    command = [sys.executable, "-m", "seedbed", "build"]
    environment = os.environ | {"PYTHONPATH": str(project.root / "src")}
    first = subprocess.Popen(
        command, cwd=project.root, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    jobs = project.root / "results/.jobs.lock"
    while not _is_locked(jobs):
        time.sleep(0.05)
    first.kill()
    first.wait()
    second = project.command("build")
    assert second.returncode == 2
    assert f"begun by process {first.pid}" in second.stdout
    while _is_locked(jobs) or _is_locked(project.root / "results/.build.lock"):
        time.sleep(0.2)
    assert project.command("build").returncode == 0
    assert project.planned() == []


@pytest.mark.parametrize("signal_name", ["SIGINT", "SIGTERM"])
def test_an_interrupted_build_ends_its_jobs_and_goes_on_later(project: Project, signal_name: str) -> None:
    project.edit("config/studies/garden.yaml", "epochs: 2", "epochs: 400")
    command = [sys.executable, "-m", "seedbed", "build"]
    environment = os.environ | {"PYTHONPATH": str(project.root / "src")}
    first = subprocess.Popen(
        command, cwd=project.root, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while not _is_locked(project.root / "results/.jobs.lock"):
        time.sleep(0.05)
    time.sleep(2)
    first.send_signal(getattr(signal, signal_name))
    assert first.wait(timeout=60) != 0
    assert not _is_locked(project.root / "results/.jobs.lock")
    assert not list((project.root / "results").rglob("*.part"))
    project.edit("config/studies/garden.yaml", "epochs: 400", "epochs: 2")
    assert project.command("build").returncode == 0
    assert project.planned() == []


def _is_locked(path: Path) -> bool:
    """Whether a process holds the lock in any way."""
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
