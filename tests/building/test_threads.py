import subprocess
import sys

READ = """
import sys
from seedbed.building.threads import ONE_THREAD
print(*ONE_THREAD.values(), *({"numpy", "torch"} & set(sys.modules)))
"""


def test_the_number_of_threads_is_known_before_numpy_and_torch_read_it() -> None:
    assert subprocess.run([sys.executable, "-c", READ], capture_output=True, check=True).stdout == b"1 1 1\n"
