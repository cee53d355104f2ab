"""The environment variables of every job: those that a user sets for other programs must not change a result.

Libraries read them once, so they are set before numpy, torch or Matplotlib is imported.
"""

from __future__ import annotations

#: One thread a process: results must not depend on the number of cores.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
#: Matplotlib cannot be imported if MPLBACKEND names a backend that is not installed, such as a notebook's.
JOB_ENVIRONMENT = ONE_THREAD | {"MPLBACKEND": "agg"}
