import errno
import os

import pytest

from seedbed.errors import refused


@pytest.mark.parametrize(
    ("number", "remedy"),
    [(errno.ENOSPC, "make room for it"), (errno.EROFS, "let this user"), (errno.ENOTDIR, "move away")],
)
def test_a_refused_file_is_named_with_the_remedy(number: int, remedy: str) -> None:
    message = refused(OSError(number, os.strerror(number), "results/x"))
    assert message is not None
    assert message.startswith(f"results/x: {os.strerror(number)}; {remedy}")
    assert message.endswith("it goes on where it stopped")


def test_an_error_without_a_file_has_its_remedy_too() -> None:
    message = refused(OSError(errno.ENOSPC, "No space left on device"))
    assert message is not None
    assert message.startswith("No space left on device; make room")


def test_any_other_error_keeps_its_traceback() -> None:
    assert refused(OSError(errno.EBADF, "Bad file descriptor")) is None
    assert refused(OSError("no number")) is None
