"""What a build says of jobs that say nothing themselves."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from seedbed.building import build


@pytest.mark.parametrize(
    ("free", "said"),
    [(60_000, "is full, 60 kB are left; make room for it"), (10**10, "perhaps for want of memory")],
)
@pytest.mark.parametrize("text", ["", "Killed\n"])
def test_a_full_disk_is_not_told_as_want_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, said: str, text: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    log = tmp_path / "job.log"
    log.write_text(text)
    assert said in build._end_of(log)
