"""Global generators for what a plug-in draws from them: streams of a seed and a purpose, in whatever process."""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from seedbed.configuration.yaml import ConfigError
from seedbed.pipeline.fingerprint import imports
from seedbed.randomness import global_streams


@contextmanager
def noise(seed: int | None, purpose: str, modules: Iterable[str]) -> Iterator[None]:
    """`global_streams` of the seed, or of 0 for what has none, in which some modules compute.

    If they use torch, it is imported first: its generator would keep its own state in a process that has not
    imported it yet, and be a stream in one that has.
    """
    if imports(modules, "torch"):
        importlib.import_module("torch")
    with global_streams(seed or 0, purpose):
        yield


def load(modules: Iterable[str]) -> None:
    """Import the modules of a job before anything is computed.

    Raises:
        ConfigError: one of them draws from a global generator while it is imported. What it draws there would
            depend on what the process has imported before.
    """
    modules = list(modules)
    with noise(0, "import", modules):
        before = _states(modules)
        for name in modules:
            importlib.import_module(name)
            if _states(modules) != before:
                raise ConfigError(
                    f"{name} draws random numbers while it is imported, which belong to no seed; draw them in the "
                    "functions and classes that a job calls"
                )


def _states(modules: Iterable[str]) -> tuple[object, ...]:
    torch = importlib.import_module("torch").get_rng_state().tolist() if imports(modules, "torch") else None
    return random.getstate(), str(np.random.get_state(legacy=False)["state"]), torch  # noqa: NPY002
