from __future__ import annotations

import pytest

from seedbed.languages.automaton import Language
from seedbed.languages.compilation import read_language
from seedbed.pipeline.configuration import ROOT
from seedbed.pipeline.yaml import read


@pytest.fixture(scope="session")
def garden() -> Language:
    path = ROOT / "config/languages/garden.yaml"
    return read_language(read(path), path.name)
