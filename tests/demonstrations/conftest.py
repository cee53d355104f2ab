from __future__ import annotations

import pytest

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
