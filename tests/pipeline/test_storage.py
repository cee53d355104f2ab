import errno
import os
import resource
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from seedbed.documents import Documents
from seedbed.pipeline import storage
from seedbed.pipeline.storage import StorageError

TABLE = pa.table({"a": [1, 2], "b": ["x", None]})


def test_a_table_comes_back_as_it_was(tmp_path: Path) -> None:
    storage.write_table(tmp_path / "t.parquet", TABLE, "f" * 64)
    assert storage.read_table(tmp_path / "t.parquet", "f" * 64).to_pydict() == TABLE.to_pydict()


def test_equal_tables_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        storage.write_table(tmp_path / name, TABLE, "f" * 64)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@given(st.lists(st.lists(st.integers(0, 99), max_size=5), max_size=5))
def test_documents_come_back_as_they_were(texts: list[list[int]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "d.parquet")
        storage.write_documents(path, Documents.of(texts), "f")
        assert [one.tolist() for one in storage.read_documents(path, "f")] == texts


def test_weights_come_back_bit_by_bit(tmp_path: Path) -> None:
    weights = {"b": torch.randn(3, 4, generator=torch.Generator().manual_seed(0)), "a": torch.zeros(1)}
    storage.write_weights(tmp_path / "w", weights, "f")
    back = storage.read_weights(tmp_path / "w", "f")
    assert back.keys() == weights.keys()
    assert all(torch.equal(back[name], weights[name]) for name in weights)


def test_equal_weights_give_equal_bytes(tmp_path: Path) -> None:
    weights = {"b": torch.ones(3), "a": torch.zeros(1)}
    for index in range(20):
        storage.write_weights(tmp_path / f"{index}", weights, "f" * 64)
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


def test_token_ids_beyond_two_bytes_come_back(tmp_path: Path) -> None:
    storage.write_documents(tmp_path / "d", Documents.of([[40_000, 3]]), "f")
    assert storage.read_documents(tmp_path / "d", "f").tokens.tolist() == [40_000, 3]


def test_results_of_another_build_are_refused_with_the_remedy(tmp_path: Path) -> None:
    storage.write_table(tmp_path / "t", TABLE, "a" * 64)
    storage.write_weights(tmp_path / "w", {"a": torch.zeros(1)}, "a" * 64)
    with pytest.raises(StorageError, match=r"other code, values or inputs.*make report"):
        storage.read_table(tmp_path / "t", "b" * 64)
    with pytest.raises(StorageError, match=r"other code, values or inputs.*make report"):
        storage.read_weights(tmp_path / "w", "b" * 64)


def test_another_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage.write_table(tmp_path / "t", TABLE, "f")
    monkeypatch.setattr(storage, "FORMAT", storage.FORMAT + 1)
    with pytest.raises(StorageError, match=f"format {storage.FORMAT - 1}, expected {storage.FORMAT}"):
        storage.read_table(tmp_path / "t", "f")


def test_foreign_tables_are_refused(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(TABLE, tmp_path / "t")
    with pytest.raises(StorageError, match="no file of this version"):
        storage.read_table(tmp_path / "t")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1 and some bytes PAR1", bytes(200)])
def test_broken_files_are_refused_with_the_remedy(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t").write_bytes(content)
    for read in (storage.read_table, storage.read_weights):
        with pytest.raises(StorageError, match="delete it and run"):
            read(tmp_path / "t", "f")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_file_is_refused(tmp_path: Path, share: float) -> None:
    storage.write_table(tmp_path / "t", TABLE, "f" * 64)
    storage.write_weights(tmp_path / "w", {"a": torch.ones(100)}, "f" * 64)
    for name, read in (("t", storage.read_table), ("w", storage.read_weights)):
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content[: int(len(content) * share)])
        with pytest.raises(StorageError, match="make report"):
            read(tmp_path / name, "f" * 64)


def test_a_missing_file_is_refused_with_the_remedy(tmp_path: Path) -> None:
    for read in (storage.read_table, storage.read_weights):
        with pytest.raises(StorageError, match=r"no such file; run `make report`"):
            read(tmp_path / "absent", "f")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "t"
    storage.write_text(path, "old")

    def interrupted() -> None:
        with storage.atomic(path) as temporary:
            temporary.write_text("half of the ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_fingerprint_is_found_without_reading_the_file(tmp_path: Path) -> None:
    large = pa.table({"x": np.random.default_rng(0).random(200_000)})
    storage.write_table(tmp_path / "t", large, "a" * 64)
    storage.write_weights(tmp_path / "w", {"x": torch.ones(200_000)}, "a" * 64)
    for name in ("t", "w"):
        assert storage.carries(tmp_path / name, "a" * 64)
        assert not storage.carries(tmp_path / name, "b" * 64)
    assert not storage.carries(tmp_path / "absent", "a" * 64)


def test_what_lacks_its_end_carries_nothing(tmp_path: Path) -> None:
    storage.write_table(tmp_path / "t.parquet", TABLE, "f" * 64)
    storage.write_weights(tmp_path / "w.safetensors", {"a": torch.ones(100), "b": torch.ones(3)}, "f" * 64)
    storage.write_page(tmp_path / "p.html", f"<html>{'f' * 64}</html>\n")
    for path in tmp_path.iterdir():
        assert storage.carries(path, "f" * 64)
        path.write_bytes(path.read_bytes()[:-5])
        assert not storage.carries(path, "f" * 64)


def test_a_page_carries_its_fingerprint_in_its_head(tmp_path: Path) -> None:
    storage.write_page(tmp_path / "p.html", f"<html>{'f' * 64}{' ' * 500_000}</html>\n")
    assert storage.carries(tmp_path / "p.html", "f" * 64)


@pytest.mark.parametrize("kind", ["t.parquet", "w.safetensors", "p.html"])
def test_a_changed_byte_anywhere_is_noticed(tmp_path: Path, kind: str) -> None:
    path, draw = tmp_path / kind, np.random.default_rng(0)
    if kind == "p.html":
        storage.write_page(path, f"<html>{'f' * 64}{' text' * 500}</html>\n")
    elif kind == "t.parquet":
        storage.write_table(path, pa.table({"x": draw.random(500)}), "f" * 64)
    else:
        storage.write_weights(path, {"x": torch.ones(500)}, "f" * 64)
    content = path.read_bytes()
    for place in draw.integers(0, len(content), 300):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert not storage.carries(path, "f" * 64)
        assert storage.is_damaged(path)
    path.write_bytes(content)
    assert storage.carries(path, "f" * 64)
    assert not storage.is_damaged(path)


@pytest.mark.parametrize(
    "damage", [lambda one: one[:99] + bytes(100) + one[199:], lambda one: one[:99] + one[199:]]
)
def test_damage_is_refused_by_every_reader_with_the_remedy(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    storage.write_table(tmp_path / "t", pa.table({"x": np.arange(500.0)}), "f")
    storage.write_weights(tmp_path / "w", {"x": torch.ones(500)}, "f")
    storage.write_documents(tmp_path / "d", Documents.of([[number] for number in range(500)]), "f")
    readers = {"t": storage.read_table, "w": storage.read_weights, "d": storage.read_documents}
    for name, read in readers.items():
        path = tmp_path / name
        path.write_bytes(damage(path.read_bytes()))
        with pytest.raises(StorageError, match=r"damaged; delete it and run `make report`"):
            read(path, "f")


def test_weights_with_a_foreign_header_carry_nothing(tmp_path: Path) -> None:
    (tmp_path / "w.safetensors").write_bytes(b"\xff" * 8 + b"f" * 64)
    assert not storage.carries(tmp_path / "w.safetensors", "f" * 64)


def write(kind: str, path: Path) -> None:
    """Write something of each kind, more than a thousand bytes."""
    if kind == "table":
        storage.write_table(path, pa.table({"x": np.random.default_rng(0).random(2000)}), "f")
    elif kind == "weights":
        storage.write_weights(path, {"x": torch.ones(2000)}, "f")
    else:
        storage.write_text(path, "x" * 2000)


@pytest.mark.parametrize("kind", ["table", "weights", "text"])
def test_a_full_disk_is_an_error_that_names_the_file_and_leaves_nothing(tmp_path: Path, kind: str) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            write(kind, tmp_path / "x")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.filename == str(tmp_path / "x")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP])
@pytest.mark.parametrize("kind", ["table", "weights", "text"])
def test_a_file_system_without_fsync_or_permissions_takes_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, number: int
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refuse)
    monkeypatch.setattr(os, "chmod", refuse)
    write(kind, tmp_path / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_disk_that_fails_is_no_file_system_without_fsync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output error"):
        storage.write_text(tmp_path / "x", "text")
    assert not list(tmp_path.iterdir())
