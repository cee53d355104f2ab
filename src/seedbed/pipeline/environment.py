"""requirements.lock and environment.yml, generated from pyproject.toml (`make lock`).

The lock pins what pip installs for the project and its tests beside PyTorch's CPU build, by public version and
without hashes, so that any build of the same release satisfies it; what a CUDA build brings along is not pinned.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

from seedbed.pipeline.configuration import ROOT
from seedbed.pipeline.fingerprint import digest
from seedbed.pipeline.storage import write_text

LOCK = "requirements.lock"
ENVIRONMENT = "environment.yml"


def lock(root: Path = ROOT) -> None:
    """Resolve the dependencies anew and write both files."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    report = subprocess.run(
        [*command, "--report", "-", f"{root}[test]"], check=True, capture_output=True, text=True, cwd=root
    )
    found = [item["metadata"] for item in json.loads(report.stdout)["install"]]
    pins = sorted(
        f"{item['name'].lower()}=={item['version'].partition('+')[0]}"
        for item in found
        if item["name"] != "seedbed"
    )
    write_text(root / LOCK, lock_text(root, pins))
    write_text(root / ENVIRONMENT, environment_text(pins))


def lock_text(root: Path, pins: list[str]) -> str:
    """The lock file for these pins."""
    return f"# Generated from pyproject.toml by `make lock`.\n# dependencies: {declared(root)}\n" + "".join(
        f"{pin}\n" for pin in pins
    )


def environment_text(pins: list[str]) -> str:
    """The conda environment for these pins; conda brings Python alone, pip the rest."""
    lines = "".join(f"      - {pin}\n" for pin in pins)
    return (
        "# Generated from pyproject.toml by `make lock`.\nname: seedbed\nchannels:\n  - conda-forge\n"
        f"dependencies:\n  - python=3.11\n  - pip\n  - pip:\n{lines}"
    )


def pins(root: Path = ROOT) -> list[str]:
    """The pins of the lock file."""
    lines = (root / LOCK).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def declared(root: Path = ROOT) -> str:
    """A hash of what pyproject.toml asks for, by which the lock says what it was made from."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    keys = ("requires-python", "dependencies", "optional-dependencies")
    return digest({key: project[key] for key in keys})[:16]
