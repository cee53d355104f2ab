import os
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
