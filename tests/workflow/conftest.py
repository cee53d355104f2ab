from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest
from miniature import Project, make


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A miniature that has been built with two cores; tests copy it before they change it.

    Test processes that run side by side share it: the first to come builds it.
    """
    temporary = tmp_path_factory.getbasetemp()
    shared = temporary.parent if "PYTEST_XDIST_WORKER" in os.environ else temporary
    project = Project(shared / "built with a space")
    with (shared / "built.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not project.root.exists():
            make(project.root).build(cores=2)
    return project


@pytest.fixture
def project(built: Project, tmp_path: Path) -> Project:
    """A copy of the built miniature to change."""
    return built.copy(tmp_path / "copy")
