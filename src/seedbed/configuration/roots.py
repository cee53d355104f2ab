"""The folder that a command works on: its configuration is read, and its results are written there."""

from __future__ import annotations

from pathlib import Path

from seedbed.configuration import plugins
from seedbed.configuration.yaml import ConfigError

CONFIGURATION = Path("config/config.yaml")


def project_root(folder: Path) -> Path:
    """The folder as an absolute path.

    Raises:
        ConfigError: it has no configuration, or it is a checkout of Seedbed and the code of another one runs.
    """
    root = folder.resolve()
    if not (root / CONFIGURATION).is_file():
        raise ConfigError(
            f"{root} has no {CONFIGURATION}: go to the folder of a project, or name it with --root FOLDER"
        )
    own = root / "src" / plugins.PACKAGE.name
    if own.is_dir() and own.resolve() != plugins.PACKAGE.resolve():
        raise ConfigError(
            f"{root} has its own code, but that of {plugins.PACKAGE.parents[1]} runs: the environment was made "
            "there. Remove it to have one made here: rm -r .venv"
        )
    return root
