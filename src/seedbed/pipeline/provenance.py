"""Where the numbers of a page come from: fingerprints, versions, and the processors that trained.

No date and no commit, since equal results must give equal pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from seedbed.pipeline.fingerprint import COMPUTING, REPORTING, versions
from seedbed.pipeline.machine import machine

if TYPE_CHECKING:
    import pyarrow as pa


def provenance(fingerprints: Mapping[str, str], timings: pa.Table) -> dict[str, dict[str, str]]:
    """The end of the index, by heading: fingerprints, versions and the machines that trained.

    Args:
        fingerprints: The name of each result → its fingerprint.
        timings: The table of timings, where each training notes its machine.
    """
    machines = {metric: _texts(timings, metric) for metric in machine()}
    return {
        "Fingerprints": dict(fingerprints),
        "Versions": versions(tuple(sorted({*COMPUTING, *REPORTING}))),
        "Machines that trained": {metric.replace("_", " "): text for metric, text in machines.items()},
    }


def _texts(timings: pa.Table, metric: str) -> str:
    """The different texts of a metric."""
    return (
        ", ".join(sorted({str(row["text"]) for row in timings.to_pylist() if row["metric"] == metric})) or "none"
    )
