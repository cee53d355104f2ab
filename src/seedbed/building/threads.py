"""One thread a process: results must not depend on the number of cores. It knows nothing else.

Libraries read this once, so it is put into the environment before numpy or torch are imported.
"""

from __future__ import annotations

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
