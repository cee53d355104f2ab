"""A reference is a file of the repository, and says so where it cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from seedbed.pipeline.reference_files import read_reference
from seedbed.pipeline.storage import StorageError


@pytest.mark.parametrize("content", [b"", b"PAR1 and some bytes PAR1"])
def test_a_damaged_reference_is_taken_from_the_repository(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "garden.parquet"
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"garden\.parquet: .*take the file from the repository again"):
        read_reference(path)
