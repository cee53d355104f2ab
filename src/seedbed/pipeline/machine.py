"""The machine that computes: what decides the last digits of a number beside code and libraries."""

from __future__ import annotations

import platform
from pathlib import Path


def machine() -> dict[str, str]:
    """What decides the last digits of a training on this machine, by name."""
    import torch

    return {
        "processor": processor(),
        "architecture": platform.machine(),
        "vector_instructions": str(torch.backends.cpu.get_cpu_capability()),
        "system": platform.system(),
    }


def processor() -> str:
    """The processor's model name, or "unknown" if the system does not say."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
