"""Named streams of random numbers.

A seed and a purpose, written in words, determine a stream. A new purpose changes no other stream and no shared
file. No number depends on Python's hash, on a global generator or on the order of calls.
"""

from __future__ import annotations

import hashlib
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
