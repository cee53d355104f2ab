"""A job run by a fork is the same job: its output, its exit code, its end."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import processes
import pytest

from seedbed.building.fork_client import ADDRESS
from seedbed.configuration.configuration import ROOT

CLIENT = [sys.executable, "-m", "seedbed.building.fork_client"]
SERVER = [sys.executable, "-m", "seedbed.building.fork_server"]
PLAIN = [sys.executable, "-m", "seedbed"]
JOB = [f"--root={ROOT}", "job", "results/runs/garden/flm/seed-0/model.safetensors", "--fingerprint=another"]
#: The same, but that it fails where it does not find a fork.
ONLY_FORKED = f"""
import sys
from seedbed.building.fork_client import main
sys.executable = "/bin/false"
raise SystemExit(main({JOB}))
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only there a build forks")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "results").mkdir()
    return tmp_path


def run(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    given = {"env": {"PATH": "/usr/bin:/bin"} | environment} if environment else {}
    return processes.run(command, cwd=folder, **given)


def test_a_forked_job_says_and_returns_what_the_plain_one_does(folder: Path) -> None:
    plain, forked = run(folder, *PLAIN, *JOB), run(folder, *SERVER, sys.executable, "-c", ONLY_FORKED)
    assert (forked.returncode, forked.stdout, forked.stderr) == (2, plain.stdout, plain.stderr)
    assert "asked for fingerprint another" in forked.stderr


def test_without_a_build_it_is_the_plain_command(folder: Path) -> None:
    assert run(folder, *CLIENT, "--help").stdout == run(folder, *PLAIN, "--help").stdout
    assert run(folder, sys.executable, "-c", ONLY_FORKED).returncode == 1


def test_every_job_imports_the_code_anew(folder: Path) -> None:
    package = folder / "src/seedbed"
    shutil.copytree(ROOT / "src/seedbed", package, ignore=shutil.ignore_patterns("__pycache__"))
    script = f"""
import pathlib, subprocess, sys
for text in ("first", "second"):
    path = pathlib.Path("src/seedbed/__main__.py")
    path.write_text(f"import sys; sys.exit('{{text}}')")
    assert subprocess.run([sys.executable, "-c", {ONLY_FORKED!r}]).returncode == 1
"""
    done = run(folder, *SERVER, sys.executable, "-c", script, PYTHONPATH=str(package.parent))
    assert (done.returncode, done.stderr) == (0, "first\nsecond\n")


def test_what_is_imported_before_a_fork_starts_no_thread_and_is_none_of_our_code(folder: Path) -> None:
    script = """
import importlib, os, sys
from seedbed.building import fork_server
fork_server.set_job_environment()
for name in fork_server.LIBRARIES:
    importlib.import_module(name)
print(len(os.listdir("/proc/self/task")), *(name for name in sys.modules if name.startswith("seedbed.")))
"""
    threads, *ours = run(folder, sys.executable, "-c", script).stdout.split()
    assert threads == "1"
    assert ours == [
        f"seedbed.{name}"
        for name in ("building", "building.fork_client", "building.job_environment", "building.fork_server")
    ]


def test_a_command_that_a_signal_ended_is_told(folder: Path) -> None:
    script = "import os; os.kill(os.getpid(), 9)"
    assert run(folder, *SERVER, sys.executable, "-c", script).returncode == 128 + 9


def test_only_its_owner_may_ask_and_nothing_is_left_behind(folder: Path) -> None:
    script = f"import os; print(oct(os.stat('{ADDRESS}').st_mode & 0o777))"
    assert run(folder, *SERVER, sys.executable, "-c", script).stdout == "0o700\n"
    assert not (folder / ADDRESS).exists()


def test_where_there_can_be_no_socket_the_command_runs_all_the_same(tmp_path: Path) -> None:
    script = "import os; print(oct(os.umask(0)))"  # there is no folder for a socket
    plain = run(tmp_path, sys.executable, "-c", script).stdout
    assert run(tmp_path, *SERVER, sys.executable, "-c", script).stdout == plain


def test_a_job_that_the_server_cannot_take_runs_without_it(folder: Path) -> None:
    script = f"""
import socket, subprocess, sys
with socket.socket(socket.AF_UNIX) as listener:
    listener.bind("{ADDRESS}")
    listener.listen()
    with subprocess.Popen({[*CLIENT, *JOB]}) as job:
        listener.accept()[0].close()
sys.exit(job.returncode)
"""
    assert run(folder, sys.executable, "-c", script).returncode == 2
