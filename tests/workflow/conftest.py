from __future__ import annotations

from pathlib import Path

import pytest
from miniature import Project, make


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A miniature that has been built with two cores; tests copy it before they change it."""
    project = make(tmp_path_factory.mktemp("project") / "with a space")
    project.build(cores=2)
    return project


@pytest.fixture
def project(built: Project, tmp_path: Path) -> Project:
    """A copy of the built miniature to change."""
    return built.copy(tmp_path / "copy")
