"""`make report` as a command: what it says, and that it never leaves old numbers."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import processes
import pytest
from miniature import Project

HOLD = """
import sys, time
from seedbed.building.locking import hold_build
with hold_build():
    print("held", flush=True)
    time.sleep(3600)
"""


def test_with_nothing_to_do_it_says_so_and_where_the_page_is(project: Project) -> None:
    done = project.command("build")
    assert done.returncode == 0
    assert "Everything is up to date." in done.stdout
    assert str(project.root / "results/report/index.html") in done.stdout


def test_what_changed_is_built_and_each_stage_is_timed(project: Project) -> None:
    project.edit("config/studies/garden.yaml", "title: Miniature", "title: Another")
    done = project.command("build", "--cores", "1")
    assert done.returncode == 0, done.stdout
    assert "index_page        1 jobs" in done.stdout
    assert "side by side" not in done.stdout
    assert "Another" in (project.root / "results/report/index.html").read_text()


#: What people set for other workflows. Each alone keeps Snakemake's command line from building the page.
PROFILE = """
dry-run: true
until: [held_out]
quiet: [rules, progress]
executor: unknown-to-this-machine
config: [seeds=1]
"""


@pytest.mark.parametrize("named", [True, False], ids=["SNAKEMAKE_PROFILE", "default"])
def test_what_a_user_has_set_for_snakemake_and_matplotlib_changes_no_build(
    project: Project, tmp_path: Path, named: bool
) -> None:
    for place in ["given"] if named else ["home/.config/snakemake/default", "copy/default"]:
        (tmp_path / place).mkdir(parents=True)
        for name in ("profile.yaml", "config.yaml"):
            (tmp_path / place / name).write_text(PROFILE, encoding="utf-8")
    project.edit("config/studies/garden.yaml", "title: Miniature", "title: Another")
    done = project.command(
        "build",
        HOME=str(tmp_path / "home"),
        SNAKEMAKE_PROFILE=str(tmp_path / "given") if named else "",
        SNAKEMAKE_CONDA_PREFIX="/nowhere",
        SNAKEMAKE_OUTPUT_CACHE="/nowhere",
        MPLBACKEND="module://matplotlib_inline.backend_inline",
    )
    assert done.returncode == 0, done.stdout
    assert "index_page        1 jobs" in done.stdout
    assert "Another" in (project.root / "results/report/index.html").read_text()
    assert project.pending() == []


def test_a_build_after_which_a_result_is_missing_names_it_and_fails(project: Project) -> None:
    page = project.root / "results/report/index.html"
    page.unlink()
    project.edit("Snakefile", "files_of(PLAN.jobs)", "files_of(PLAN.jobs[:-1])")
    done = project.command("build")
    assert done.returncode == 1
    assert "The build is not complete" in done.stdout
    assert "    results/report/index.html\n" in done.stdout
    assert "The first page:" not in done.stdout


def test_an_error_of_the_workflow_is_shown_with_its_place(project: Project) -> None:
    (project.root / "results/report/index.html").unlink()
    project.edit("Snakefile", "rule all:", "rule all:\n    wrong: 3")
    done = project.command("build")
    assert done.returncode == 1
    assert f'in file "{project.root}/Snakefile"' in done.stdout
    assert "Unexpected keyword wrong in rule definition" in done.stdout


def test_a_second_build_stops_at_once_and_says_who_builds(project: Project) -> None:
    environment = {"PYTHONPATH": str(project.root / "src")}
    (project.root / "results/report/index.html").unlink()
    with processes.start([sys.executable, "-c", HOLD], cwd=project.root, env=environment) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        second = project.command("build")
    assert second.returncode == 2
    assert f"a build runs in this folder, begun by process {first.pid}" in second.stdout


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


@pytest.mark.parametrize(
    ("file", "old", "new", "named"),
    [
        ("config/studies/garden.yaml", "heads: 2", "heads: 3", "heads"),
        ("config/languages/garden.yaml", "given: noun.class", "given: noun.clas", "class"),
        (
            "config/claims/objectives.yaml",
            "divergence, where: {sentences: all}}\n      at",
            "x}\n      at",
            "nothing measures",
        ),
    ],
)
def test_what_only_its_own_code_can_check_stops_the_build_before_any_job(
    project: Project, file: str, old: str, new: str, named: str
) -> None:
    project.edit(file, old, new)
    done = project.command("build")
    assert done.returncode == 2
    assert f"seedbed: {file}" in done.stdout
    assert named in done.stdout


def test_failed_jobs_are_shown_by_name_with_the_end_of_their_logs_and_the_remedy(project: Project) -> None:
    project.edit(
        "src/seedbed/evaluations/training.py",
        "log, corpus = model.log, model.corpus",
        # A rehearsal has fewer documents, and passes.
        "log, corpus = model.log, model.corpus\n"
        '    if len(corpus) > 64:\n        raise ArithmeticError("on purpose")',
    )
    done = project.command("build")
    assert done.returncode == 1
    for run in ("flm", "window"):
        log = f"results/logs/evaluate/garden/{run}/training.log"
        assert f"evaluate garden/{run}/training, {log}\n" in done.stdout
    assert done.stdout.count("ArithmeticError: on purpose") == 1
    assert "run the same command" in done.stdout
    assert "results/report/index.html shows an earlier build" in done.stdout
    assert len(done.stdout.splitlines()) < 15


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


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize(
    ("code", "command"),
    [
        (0, ["claim", "objectives:time"]),
        (0, ["claim", "objectives:best"]),
        (2, ["claim", "≤"]),
        (3, ["check"]),
        (0, ["check-config"]),
        (0, ["build"]),
        (0, ["--help"]),
    ],
)
def test_every_command_prints_to_any_encoding(
    project: Project, code: int, command: list[str], encoding: str
) -> None:
    project.edit("config/claims/excluded.yaml", "Seconds belong", "Seconds – für ≤ 3 – belong")
    environment = os.environ | {"PYTHONPATH": "src", "PYTHONIOENCODING": encoding}
    done = processes.run(
        [sys.executable, "-m", "seedbed", *command], cwd=project.root, env=environment, text=False
    )
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr
    assert "\N{EN DASH}".encode() not in done.stdout + done.stderr


def test_what_a_job_says_is_read_in_any_encoding(project: Project) -> None:
    project.edit(
        "src/seedbed/evaluations/training.py",
        "log, corpus = model.log, model.corpus",
        'log, corpus = model.log, model.corpus\n    if len(corpus) > 64:\n        raise ValueError("x ≤ 3")',
    )
    done = project.command("build", PYTHONIOENCODING="ascii")
    assert done.returncode == 1
    assert "ValueError: x \\u2264 3" in done.stdout


def test_a_command_whose_output_nobody_reads_ends_without_an_error(project: Project) -> None:
    piped = '{ "$0" -m seedbed "$@"; echo $? >&2; } | true'
    for command in (["claim", "objectives:best"], ["check"], ["--help"]):
        environment = os.environ | {"PYTHONPATH": "src"}
        done = processes.run(["sh", "-c", piped, sys.executable, *command], cwd=project.root, env=environment)
        assert done.stderr == f"{128 + signal.SIGPIPE}\n"


def test_a_verdict_of_other_claims_is_not_shown(project: Project) -> None:
    project.edit("config/claims/objectives.yaml", "at_most: 0.001", "at_most: 100")
    done = project.command("claim", "objectives:best")
    assert done.returncode == 2
    assert "run `make report`" in done.stdout
