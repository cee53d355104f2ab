"""Fixtures of the tests of evaluations and of what they share: both languages, and test documents of each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from seedbed.configuration.configuration import ROOT
from seedbed.configuration.yaml import read
from seedbed.languages.automaton import Language
from seedbed.languages.compilation import read_language
from seedbed.measuring.context import Context
from seedbed.observations import Observation
from seedbed.randomness import stream

OverDocuments = Callable[[list[Observation]], float]


@pytest.fixture(scope="session")
def garden() -> Language:
    path = ROOT / "config/languages/garden.yaml"
    return read_language(read(path), path.name)


@pytest.fixture(scope="session")
def farm() -> Language:
    path = ROOT / "config/languages/farm.yaml"
    return read_language(read(path), path.name)


@pytest.fixture(scope="session")
def farm_context(farm: Language) -> Context:
    return Context(farm, farm.sample(stream(0, "evaluation tests"), 300))


@pytest.fixture(scope="session")
def context(garden: Language) -> Context:
    return Context(garden, garden.sample(stream(0, "evaluation tests"), 300))


@pytest.fixture(scope="session")
def error_over_documents() -> OverDocuments:
    """The linearised standard error of a mean over items, from the mean over the items of each document."""

    def error(documents: list[Observation]) -> float:
        counts = np.array([one.n for one in documents if one.n])
        totals = np.array([one.value * one.n for one in documents if one.n])
        deviations = totals - totals.sum() / counts.sum() * counts
        return float(np.sqrt(len(counts)) * deviations.std(ddof=1) / counts.sum())

    return error
