"""Named streams of random numbers.

A stream is fixed by a seed and a purpose written in words. A new purpose therefore changes no other stream and
no shared file, and no number here depends on Python's hash, a global generator or an order of calls. Where other
code draws from global generators, as a dropout layer does, these are streams too, see `global_streams`.
"""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


def _sequence(seed: int, purpose: str) -> np.random.SeedSequence:
    word = int.from_bytes(hashlib.blake2b(purpose.encode(), digest_size=8).digest(), "little")
    return np.random.SeedSequence([seed, word])


def stream(seed: int, purpose: str) -> np.random.Generator:
    """A new numpy generator for this seed and purpose, at its start."""
    return np.random.Generator(np.random.PCG64(_sequence(seed, purpose)))


def torch_stream(seed: int, purpose: str) -> torch.Generator:
    """A new torch generator (CPU) for this seed and purpose, at its start."""
    import torch

    state = _sequence(seed, purpose).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(state[0] >> np.uint64(1)))


@contextmanager
def global_streams(seed: int, purpose: str) -> Iterator[None]:
    """While the context lasts, the global generators are streams of this seed and purpose.

    These are the generators of Python's ``random``, of numpy and, if it has been imported, of torch (CPU). They
    begin at their start, whatever was drawn before; afterwards each generator is as it was.
    """
    torch = sys.modules.get("torch")  # not imported here: jobs that need no torch stay quick
    before = random.getstate(), np.random.get_state(), torch and torch.get_rng_state()  # noqa: NPY002
    words = _sequence(seed, purpose).generate_state(4)
    # The one place where global generators are seeded.
    random.seed(words.tobytes())
    np.random.seed(words)  # noqa: NPY002
    if torch:
        torch.manual_seed(int(words[:2].view(np.uint64)[0] >> np.uint64(1)))
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002
        if torch:
            torch.set_rng_state(before[2])
