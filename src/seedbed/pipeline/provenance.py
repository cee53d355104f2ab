"""Where the numbers of a page come from: fingerprints, versions, processor.

No date and no commit, since equal results must give equal pages.
"""

from __future__ import annotations

import platform
from pathlib import Path

from seedbed.pipeline.fingerprint import COMPUTING, REPORTING, versions
from seedbed.pipeline.plan import Plan


def provenance(plan: Plan, page: str) -> dict[str, dict[str, str]]:
    """What the page's last section lists, by heading."""
    libraries = tuple(sorted({*COMPUTING, *REPORTING, "pyarrow", "snakemake"}))
    own = {"this page": page, "table of observations": plan.observations()}
    parts = {f"{study}/{run}, {part}": plan.evaluate(study, run, part) for study, run, part in plan.evaluations()}
    machine = {
        "processor": processor(),
        "architecture": platform.machine(),
        "vector instructions": capability(),
        "system": platform.system(),
    }
    return {"Fingerprints": own | parts, "Versions": versions(libraries), "Machine": machine}


def processor() -> str:
    """The processor's model name, or "unknown" where the system does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def capability() -> str:
    """The vector instructions that torch uses here: results are the same only where these are."""
    import torch

    return str(torch.backends.cpu.get_cpu_capability())
