"""The machine that computes: what decides the last digits of a number beside code and libraries."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seedbed.randomness import stream

if TYPE_CHECKING:
    from torch import Tensor

#: What decides which kernels a library takes, as `machine` names it; one vector width can have several.
DECIDING = ("architecture", "vector_instructions", "processor_family", "arithmetic")
#: Rows, inner size and columns of the products that `arithmetic` computes, as models and their batches have them.
_SMALL = ((1, 64, 64), (7, 33, 5), (50, 64, 50))  # which numpy computes on one thread, whatever their number
_PRODUCTS = (*_SMALL, (64, 64, 64), (100, 64, 256), (301, 256, 64), (800, 64, 100))


def machine() -> dict[str, str]:
    """What decides the last digits of a training on this machine, by name."""
    import torch

    return {
        "processor": processor(),
        "processor_family": processor_family(),
        "architecture": platform.machine(),
        "vector_instructions": str(torch.backends.cpu.get_cpu_capability()),
        "arithmetic": arithmetic(),
        "system": platform.system(),
    }


def processor() -> str:
    """The processor's model name, or "unknown" if the system does not say."""
    return _processor().get("model name") or platform.processor() or "unknown"


def processor_family() -> str:
    """The numbers by which libraries know a processor; its name in a virtual machine may say less."""
    keys = ("vendor_id", "cpu family", "model", "CPU implementer", "CPU part")
    return " ".join(f"{key} {value}" for key in keys if (value := _processor().get(key))) or processor()


@cache
def _processor() -> dict[str, str]:
    """What the system says of its first processor."""
    try:
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")[0]
    except OSError:
        return {}
    parts = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in parts}


@cache
def arithmetic() -> str:
    """The hash of the bits of some products, sums and functions, on one thread.

    Two machines, wheels or settings of libraries with other kernels have other last digits here too.
    """
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        bits = b"".join(np.ascontiguousarray(one).tobytes() for one in [*_of_numpy(), *_of_torch()])
    finally:
        torch.set_num_threads(threads)
    return hashlib.sha256(bits).hexdigest()[:16]


def _of_numpy() -> Iterator[np.ndarray]:
    for one, other in _factors(_SMALL):
        yield one @ other
        yield np.exp(one).sum(axis=1)
        yield np.log(one + 2) @ np.tanh(one).T


def _of_torch() -> Iterator[np.ndarray]:
    import torch

    for one, other in _factors(_PRODUCTS):
        left = torch.tensor(one, dtype=torch.float32, requires_grad=True)
        right = torch.tensor(other, dtype=torch.float32, requires_grad=True)
        product = left @ right
        hidden = torch.nn.functional.layer_norm(torch.nn.functional.gelu(product), product.shape[-1:])
        attended = torch.bmm(hidden[None], hidden.T[None]).softmax(-1).tanh().sigmoid()
        (attended.log().sum() + product.logsumexp(-1).sum()).backward()  # type: ignore[no-untyped-call]
        yield from map(_numbers, (product, hidden, attended, left.grad, right.grad))


def _numbers(tensor: Tensor | None) -> np.ndarray:
    assert tensor is not None, "a gradient after a backward pass"
    found: np.ndarray = tensor.detach().numpy()
    return found


def _factors(sizes: Iterable[tuple[int, int, int]]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    draw = stream(0, "arithmetic")
    for rows, inner, columns in sizes:
        yield draw.random((rows, inner)) - 0.5, draw.random((inner, columns)) - 0.5
