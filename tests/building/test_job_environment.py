"""What a user has set for other programs changes no job."""

import os
import sys

import processes
import pytest

from seedbed.building.job_environment import KERNEL_CHOICES, ONE_THREAD

READ = """
import sys
from seedbed.building.job_environment import ONE_THREAD
print(*ONE_THREAD.values(), *({"numpy", "torch"} & set(sys.modules)))
"""
DRAW = """
import seedbed.__main__
import matplotlib, torch
print(matplotlib.get_backend(), torch.get_num_threads(), torch.backends.cpu.get_cpu_capability() == "DEFAULT")
"""


def test_the_number_of_threads_is_known_before_numpy_and_torch_read_it() -> None:
    assert processes.run([sys.executable, "-c", READ], check=True).stdout == "1 1 1\n"


@pytest.mark.parametrize("backend", ["module://matplotlib_inline.backend_inline", "nonsense", ""])
def test_a_job_draws_and_computes_alike_whatever_its_user_has_set(backend: str) -> None:
    chosen = dict.fromkeys(KERNEL_CHOICES, "default")
    environment = os.environ | dict.fromkeys(ONE_THREAD, "7") | {"MPLBACKEND": backend} | chosen
    done = processes.run([sys.executable, "-c", DRAW], env=environment)
    assert done.stdout == "agg 1 False\n", done.stderr
