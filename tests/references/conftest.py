from __future__ import annotations

import pytest

from seedbed.configuration.configuration import ROOT
from seedbed.configuration.yaml import read
from seedbed.languages.automaton import Language
from seedbed.languages.compilation import read_language


@pytest.fixture(scope="session")
def garden() -> Language:
    path = ROOT / "config/languages/garden.yaml"
    return read_language(read(path), path.name)
