import errno
import fcntl
import os
import signal
import sys
from pathlib import Path

import processes
import pytest

from seedbed.building.locking import BusyError, hold_build, hold_job


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_second_build_is_told_who_builds() -> None:
    with hold_build(), pytest.raises(BusyError, match=f"begun by process {os.getpid()}"), hold_build():
        pass


def test_a_lock_ends_with_its_build() -> None:
    for _ in range(2):
        with hold_build():
            pass


def test_jobs_run_side_by_side_and_hold_off_a_new_build() -> None:
    with hold_job(), hold_job(), pytest.raises(BusyError, match="interrupted build still run"), hold_build():
        pass


def test_a_killed_build_leaves_no_lock(tmp_path: Path) -> None:
    program = (
        "import os, signal; from seedbed.building.locking import hold_build; hold_build().__enter__();"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert processes.run([sys.executable, "-c", program], cwd=tmp_path).returncode == -9
    with hold_build():
        pass


def test_what_a_killed_build_left_is_named_and_not_the_build(tmp_path: Path) -> None:
    program = (
        "import subprocess, sys, time; from seedbed.building.locking import hold_build\n"
        "with hold_build() as lock:\n"
        "    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)'], pass_fds=[lock])\n"
        "    print(child.pid, flush=True)\n"
        "    time.sleep(3600)"
    )
    with processes.start([sys.executable, "-c", program], cwd=tmp_path, stderr=None) as builder:
        left = int(builder.stdout.readline())
        with pytest.raises(BusyError, match=f"begun by process {builder.pid};"), hold_build():
            pass
        builder.kill()
        builder.wait()
        try:
            with (
                pytest.raises(BusyError, match=f"interrupted build still run.*: kill -KILL {left}$"),
                hold_build(),
            ):
                pass
        finally:
            os.kill(left, signal.SIGKILL)


def test_a_process_that_has_the_number_of_a_killed_build_is_not_named(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    with (tmp_path / "results/.build.lock").open("w") as file:
        file.write("1")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        holder = [sys.executable, "-c", "print(flush=True); import time; time.sleep(3600)"]
        with processes.start(holder, pass_fds=[file.fileno()]) as process:
            file.close()
            process.stdout.readline()
            with pytest.raises(BusyError, match=f": kill -KILL {process.pid}$"), hold_build():
                pass


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_without_locks_a_build_runs_and_says_what_is_not_protected(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with hold_build(), hold_job():
        pass
    said = capsys.readouterr().err
    assert said.startswith("results: this file system has no locks (")
    assert "start none before this one has ended" in said
    assert len(said.splitlines()) == 1


def test_another_error_of_a_lock_does_not_pass_for_a_file_system_without_locks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EBADF, "on purpose")

    monkeypatch.setattr(fcntl, "flock", refuse)
    for hold in (hold_build, hold_job):
        with pytest.raises(OSError, match="on purpose"), hold():
            pass
