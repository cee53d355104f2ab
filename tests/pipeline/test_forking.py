"""A job run by a fork is the same job: its output, its exit code, its end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from seedbed.pipeline.forked import ADDRESS

FORKED = [sys.executable, "-m", "seedbed.pipeline.forked"]
FORKING = [sys.executable, "-m", "seedbed.pipeline.forking"]
PLAIN = [sys.executable, "-m", "seedbed"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only there a build forks")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "results").mkdir()
    return tmp_path


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_forked_job_says_and_returns_what_the_plain_one_does(folder: Path) -> None:
    job = ["job", "train", "garden", "flm", "0", "--fingerprint=another"]
    plain, forked = run(folder, *PLAIN, *job), run(folder, *FORKING, *FORKED, *job)
    assert (forked.returncode, forked.stdout, forked.stderr) == (2, plain.stdout, plain.stderr)
    assert "asked for fingerprint another" in forked.stderr


def test_without_a_build_it_is_the_plain_command(folder: Path) -> None:
    assert run(folder, *FORKED, "--help").stdout == run(folder, *PLAIN, "--help").stdout


def test_every_job_is_a_process_of_its_own_that_imports_the_code_anew(folder: Path) -> None:
    script = (
        "import subprocess, sys\n"
        "for _ in range(2):\n"
        f"    subprocess.run({[*FORKED, '--help']}, check=True, stdout=subprocess.DEVNULL)\n"
        "sys.exit(7)"
    )
    assert run(folder, *FORKING, sys.executable, "-c", script).returncode == 7
    loaded = (
        "import sys, seedbed.pipeline.forking as f; print([m for m in sys.modules if m.startswith('seedbed')])"
    )
    assert run(folder, sys.executable, "-c", loaded).stdout.split() == [
        "['seedbed',",
        "'seedbed.pipeline',",
        "'seedbed.pipeline.forked',",
        "'seedbed.pipeline.forking']",
    ]


def test_a_command_that_a_signal_ended_is_told(folder: Path) -> None:
    script = "import os; os.kill(os.getpid(), 9)"
    assert run(folder, *FORKING, sys.executable, "-c", script).returncode == 128 + 9


def test_only_its_owner_may_ask_and_nothing_is_left_behind(folder: Path) -> None:
    script = f"import os; print(oct(os.stat('{ADDRESS}').st_mode & 0o777))"
    assert run(folder, *FORKING, sys.executable, "-c", script).stdout == "0o700\n"
    assert not (folder / ADDRESS).exists()


def test_where_there_can_be_no_socket_the_command_runs_all_the_same(tmp_path: Path) -> None:
    assert run(tmp_path, *FORKING, sys.executable, "-c", "print(1)").stdout == "1\n"  # there is no folder for one
    assert not list(tmp_path.iterdir())
