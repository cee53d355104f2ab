"""Named streams of random numbers.

A stream is fixed by a seed and a purpose written in words. A new purpose therefore changes no other stream and
no shared file, and no number here depends on Python's hash, a global generator or an order of calls.
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
    """The numpy generator of this seed for this purpose, always from its start."""
    return np.random.Generator(np.random.PCG64(_sequence(seed, purpose)))


def torch_stream(seed: int, purpose: str) -> torch.Generator:
    """The torch generator (CPU) of this seed for this purpose, always from its start."""
    import torch

    state = _sequence(seed, purpose).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(state[0] >> np.uint64(1)))
