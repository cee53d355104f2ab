"""Where the numbers of a page come from: fingerprints, versions, and the processors that trained.

No date and no commit, since equal results must give equal pages.
"""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING

from seedbed.pipeline.fingerprint import COMPUTING, REPORTING, versions
from seedbed.pipeline.plan import Plan

if TYPE_CHECKING:
    import pyarrow as pa


def provenance(plan: Plan, page: str, timings: pa.Table) -> dict[str, dict[str, str]]:
    """What the page's last section lists, by heading: all that its fingerprint covers, and the machines.

    Args:
        plan: The plan of the build.
        page: The page's own fingerprint.
        timings: The table of timings, where each training notes its machine.
    """
    own = {"this page": page, "table of observations": plan.observations(), "verdicts": plan.verdicts()}
    parts = {f"{study}/{run}, {part}": plan.evaluate(study, run, part) for study, run, part in plan.evaluations()}
    machines = {metric: _texts(timings, metric) for metric in machine()}
    return {
        "Fingerprints": own | parts,
        "Versions": versions(tuple(sorted({*COMPUTING, *REPORTING}))),
        "Machines that trained": {metric.replace("_", " "): text for metric, text in machines.items()},
    }


def machine() -> dict[str, str]:
    """What decides the last digits of a training on this machine."""
    import torch

    return {
        "processor": processor(),
        "architecture": platform.machine(),
        "vector_instructions": str(torch.backends.cpu.get_cpu_capability()),
        "system": platform.system(),
    }


def processor() -> str:
    """The processor's model name, or "unknown" where the system does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def _texts(timings: pa.Table, metric: str) -> str:
    """The different texts of a metric."""
    return (
        ", ".join(sorted({str(row["text"]) for row in timings.to_pylist() if row["metric"] == metric})) or "none"
    )
