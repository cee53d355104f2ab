"""A command works on the folder that it is called in, or that is named, and with that folder's own code."""

from __future__ import annotations

import sys
from pathlib import Path

import processes
import pytest

from seedbed.configuration import plugins
from seedbed.configuration.configuration import ROOT
from seedbed.configuration.roots import project_root
from seedbed.configuration.yaml import ConfigError


def project(root: Path) -> Path:
    (root / "config").mkdir(parents=True)
    (root / "config/config.yaml").write_text("studies: [farm]\nseeds: 1\n")
    return root


def test_a_folder_without_a_configuration_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"has no config/config\.yaml: go to the folder of a"):
        project_root(tmp_path)


def test_a_project_without_code_of_its_own_uses_this_one(tmp_path: Path) -> None:
    assert project_root(project(tmp_path)) == tmp_path.resolve()
    assert project_root(ROOT) == ROOT.resolve()


def test_a_copy_of_the_checkout_is_not_built_with_the_code_of_the_original(tmp_path: Path) -> None:
    (project(tmp_path) / "src" / plugins.PACKAGE.name).mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"has its own code, but that of .* runs: .*rm -r \.venv"):
        project_root(tmp_path)


def test_a_link_to_the_checkout_is_the_checkout(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(ROOT)
    assert project_root(tmp_path / "link") == ROOT.resolve()


@pytest.mark.parametrize("arguments", [["check-config"], ["build"], ["check"], ["claim", "a:b"]])
def test_no_command_falls_back_to_another_folder(tmp_path: Path, arguments: list[str]) -> None:
    done = processes.run([sys.executable, "-m", "seedbed", *arguments], cwd=tmp_path)
    assert done.returncode == 2
    assert f"{tmp_path} has no config/config.yaml" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_may_be_named(tmp_path: Path) -> None:
    project(tmp_path / "named")
    command = [sys.executable, "-m", "seedbed", "--root", "named", "check-config"]
    done = processes.run(command, cwd=tmp_path)
    assert "config/studies/farm.yaml" in done.stderr  # that of the named folder, which is not there
