"""How the command line ends, which scripts decide by."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from seedbed.__main__ import run
from seedbed.commands import checking


def ended(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    """The exit code of a command."""
    monkeypatch.setattr(sys, "argv", ["seedbed", *arguments])
    with pytest.raises(SystemExit) as end:
        run()
    return end.value.code


@pytest.mark.parametrize("error", [RuntimeError("on purpose"), FileNotFoundError(2, "on purpose")])
def test_a_fault_of_our_own_is_no_moved_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    def fail(*_: object) -> int:
        raise error

    monkeypatch.setattr(checking, "check", fail)
    assert ended(monkeypatch, "check") == 4
    said = capsys.readouterr().err
    assert said.startswith("Traceback")
    assert "on purpose" in said


@pytest.mark.parametrize(("config", "code"), [("scope=quik", 2), ("scope=quick", 3)])
def test_an_older_outcome_of_a_check_does_not_outlive_one_that_has_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, config: str, code: int
) -> None:
    older = tmp_path / "check.xml"
    older.touch()
    assert ended(monkeypatch, "--config", config, "check", "--junit", str(older)) == code
    assert not older.exists()
