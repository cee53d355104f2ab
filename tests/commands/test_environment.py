"""pyproject.toml is the source; the generated files must agree with it."""

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from seedbed.commands.environment import ENVIRONMENT, LOCK, declared, environment_text, lock, lock_text, pins
from seedbed.configuration.configuration import ROOT
from seedbed.errors import SeedbedError

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DIRECT = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]]


def test_the_lock_was_made_from_the_present_dependencies() -> None:
    assert f"# dependencies: {declared()}\n" in (ROOT / LOCK).read_text(), (
        "pyproject.toml changed: run `make lock`"
    )


def test_lock_and_environment_are_what_their_pins_give() -> None:
    assert (ROOT / LOCK).read_text() == lock_text(ROOT, pins())
    assert (ROOT / ENVIRONMENT).read_text() == environment_text(pins())


@pytest.mark.parametrize("requirement", DIRECT)
def test_every_direct_dependency_is_pinned_as_pyproject_says(requirement: str) -> None:
    assert requirement.lower().replace("_", "-") in {pin.replace("_", "-") for pin in pins()}


def test_pins_are_public_versions_without_hashes_or_addresses() -> None:
    text = (ROOT / LOCK).read_text()
    assert "+cpu" not in text
    assert "--hash" not in text
    assert "://" not in text
    assert all(pin.count("==") == 1 for pin in pins())


def test_the_lock_brings_what_builds_seedbed_itself() -> None:
    """`make` installs it without isolation, so that a changed pyproject.toml needs no network."""
    assert any(pin.startswith("setuptools==") for pin in pins())


REPORT = {
    "install": [
        {"metadata": {"name": name, "version": version}}
        for name, version in [
            ("torch", "2.13.0+cpu"),
            ("seedbed", "0.1.0"),
            ("nvidia-cublas-cu12", "12.8.4.1"),
            ("nvidia_nccl_cu12", "2.27.5"),
            ("cuda-bindings", "12.9.4"),
            ("triton", "3.6.0"),
            ("PyYAML", "6.0.4"),
        ]
    ]
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with pyproject.toml, in which pip would install what the report says."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    answer = subprocess.CompletedProcess([], 0, json.dumps(REPORT))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: answer)
    return tmp_path


def test_what_only_linux_has_is_not_pinned(project: Path) -> None:
    lock(project)
    assert pins(project) == ["pyyaml==6.0.4", "torch==2.13.0"]


def test_where_pip_fails_it_says_why_and_nothing_is_written(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SeedbedError, match="for the reason above"):
        lock(tmp_path)
    assert "pyproject.toml" in capfd.readouterr().err
    assert not list(tmp_path.iterdir())
