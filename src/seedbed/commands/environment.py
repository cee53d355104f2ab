"""requirements.lock and environment.yml, generated from pyproject.toml (`make lock`).

The lock pins what pip installs for the project and its tests with PyTorch's CPU build. It pins public versions
without hashes, so any build of the same release satisfies it. The packages that only a CUDA build needs are not
pinned: macOS does not have them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from seedbed.configuration.configuration import ROOT
from seedbed.errors import SeedbedError
from seedbed.pipeline.fingerprint import digest
from seedbed.pipeline.storage import write_text

LOCK = "requirements.lock"
ENVIRONMENT = "environment.yml"
#: How the names of packages begin that only PyTorch's CUDA build for Linux needs.
_CUDA = ("nvidia-", "cuda-", "triton", "pytorch-triton")


def lock(root: Path = ROOT) -> None:
    """Resolve the dependencies anew and write both files.

    Raises:
        SeedbedError: pip finds no versions that fit; pip itself prints why.
    """
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    command += ["--report", "-", f"{root}[test]"]
    report = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=root, check=False)
    if report.returncode:
        raise SeedbedError("pyproject.toml: pip finds no versions of all dependencies, for the reason above")
    pins = _pinned([item["metadata"] for item in json.loads(report.stdout)["install"]])
    write_text(root / LOCK, lock_text(root, pins))
    write_text(root / ENVIRONMENT, environment_text(pins))


def _pinned(found: Iterable[Mapping[str, str]]) -> list[str]:
    """Pins of what pip would install, by name and public version."""
    versions = {one["name"].lower(): one["version"].partition("+")[0] for one in found}
    return sorted(
        f"{name}=={version}"
        for name, version in versions.items()
        if name != "seedbed" and not name.replace("_", "-").startswith(_CUDA)
    )


def lock_text(root: Path, pins: list[str]) -> str:
    """The lock file for these pins."""
    return f"# Generated from pyproject.toml by `make lock`.\n# dependencies: {declared(root)}\n" + "".join(
        f"{pin}\n" for pin in pins
    )


def environment_text(pins: list[str]) -> str:
    """The conda environment for these pins: conda installs Python, pip the rest."""
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
    """A hash of what pyproject.toml asks for; the lock contains the hash that it was made from."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    keys = ("requires-python", "dependencies", "optional-dependencies")
    return digest({key: project[key] for key in keys})[:16]
