"""The environment variables of every job: those that a user sets for other programs must not change a result.

Libraries read them once, so they are set before numpy, torch or Matplotlib is imported.
"""

from __future__ import annotations

import os

#: One thread a process: results must not depend on the number of cores.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
#: Matplotlib cannot be imported if MPLBACKEND names a backend that is not installed, such as a notebook's.
JOB_ENVIRONMENT = ONE_THREAD | {"MPLBACKEND": "agg"}
#: Variables that choose other kernels than the processor's own, whose last digits differ.
KERNEL_CHOICES = (
    "ATEN_CPU_CAPABILITY",
    "DNNL_MAX_CPU_ISA",
    "MKL_CBWR",
    "MKL_DEBUG_CPU_TYPE",
    "MKL_ENABLE_INSTRUCTIONS",
    "ONEDNN_MAX_CPU_ISA",
    "OPENBLAS_CORETYPE",
)


def set_job_environment() -> None:
    """Set the variables of this process; before numpy, torch and Matplotlib are imported."""
    os.environ |= JOB_ENVIRONMENT
    for name in KERNEL_CHOICES:
        os.environ.pop(name, None)
