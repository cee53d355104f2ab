from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from demonstration_projects import Project

import seedbed.demonstrations
from seedbed.configuration import plugins
from seedbed.configuration.configuration import ROOT, Configuration
from seedbed.configuration.yaml import read
from seedbed.languages.automaton import Language
from seedbed.languages.compilation import read_language


@pytest.fixture(scope="session")
def configuration() -> Configuration:
    """That of the project."""
    return Configuration()


@pytest.fixture(scope="session")
def garden() -> Language:
    return _language("garden")


@pytest.fixture(scope="session")
def farm() -> Language:
    return _language("farm")


def _language(name: str) -> Language:
    path = ROOT / f"config/languages/{name}.yaml"
    return read_language(read(path), path.name)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A project whose only demonstrations are those that a test writes."""
    package = tmp_path / "src/seedbed"
    (package / "demonstrations").mkdir(parents=True)
    for folder in ("models", "objectives", "tasks", "references", "evaluations", "training"):
        (package / folder).symlink_to(plugins.PACKAGE / folder)
    loaded = set(sys.modules)
    with monkeypatch.context() as patch:
        patch.setattr(plugins, "PACKAGE", package)
        patch.setattr(seedbed.demonstrations, "__path__", [str(package / "demonstrations")])
        yield Project(tmp_path)
    for name in set(sys.modules) - loaded:
        if name.startswith("seedbed.demonstrations."):
            del sys.modules[name]
