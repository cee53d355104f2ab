"""Tests start processes in one way, which has a limit and default signals."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import processes
import pytest

HERE = Path(__file__).parent
STARTS = {"run", "Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput"}


def test_no_test_starts_a_process_by_itself() -> None:
    found = {
        path.relative_to(HERE).as_posix()
        for path in HERE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in STARTS
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "subprocess"
    }
    assert found == {"support/processes.py"}


def test_a_process_has_default_signals_whatever_is_inherited() -> None:
    before = {one: signal.signal(one, signal.SIG_IGN) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT)}
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        for number in (signal.SIGTERM, signal.SIGQUIT):
            program = f"import os; os.kill(os.getpid(), {int(number)})"
            assert processes.run([sys.executable, "-c", program]).returncode == -number
        interrupted = processes.run([sys.executable, "-c", "import os; os.kill(os.getpid(), 2)"])
        assert "KeyboardInterrupt" in interrupted.stderr
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        for one, handler in before.items():
            signal.signal(one, handler)


def test_a_process_that_does_not_end_fails_and_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(processes, "LIMIT", 0.5)
    program = "import os, pathlib, time; pathlib.Path('pid').write_text(str(os.getpid())); time.sleep(3600)"
    with pytest.raises(subprocess.TimeoutExpired):
        processes.run([sys.executable, "-c", program], cwd=tmp_path)
    if (tmp_path / "pid").exists():
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text()), 0)
