"""Files of results: written whole or not at all, and read only if they are what the reader expects.

Every file carries the fingerprint of the job that made it. This module knows file formats, but not what a number
means.
"""

from __future__ import annotations

import errno
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from seedbed.documents import Documents
from seedbed.errors import SeedbedError

if TYPE_CHECKING:
    import pyarrow as pa
    import torch

#: Part of every fingerprint. Raise it when the meaning of a file changes.
FORMAT = 2
_KEY = "seedbed"
#: The most bytes of a safetensors header; a file that names more is not one of ours.
_HEADER = 100_000_000


class StorageError(SeedbedError):
    """A file of results is missing, broken or of another build; the message says what to run."""


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that becomes ``path`` when the block ends well, and vanishes if not.

    Raises:
        OSError: the system refuses to write; its ``filename`` is ``path``.
    """
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            _synchronise(temporary)
            with _where_supported():
                temporary.chmod(0o644)
            temporary.replace(path)
            _synchronise(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Errors of the system name the file that is written; that of a full disk does not do so by itself."""
    try:
        yield
    except OSError as error:
        error.filename, error.strerror = str(path), os.strerror(error.errno or 0)
        raise


def _synchronise(path: Path) -> None:
    """Have the system write a file or a folder to the disk now, so that a loss of power cannot take it."""
    handle = os.open(path, os.O_RDONLY)
    try:
        with _where_supported():
            os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _where_supported() -> Iterator[None]:
    """Go without what some file systems do not offer, and no result needs: fsync of a folder, permissions."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM):
            raise


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_table(path: Path, table: pa.Table, fingerprint: str, more: Mapping[str, str] | None = None) -> None:
    """Write a parquet file that carries its fingerprint; equal tables give equal bytes."""
    import pyarrow.parquet as pq

    metadata = {"fingerprint": fingerprint, "format": str(FORMAT), **(more or {})}
    with atomic(path) as temporary:
        pq.write_table(table.replace_schema_metadata(metadata), temporary, compression="zstd")


def read_table(path: Path, fingerprint: str | None = None) -> pa.Table:
    """Read a parquet file of this build.

    Args:
        path: The file.
        fingerprint: What it must carry; None takes any.

    Raises:
        StorageError: missing, broken, of another format or of another build.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _explained(path, (OSError, pa.ArrowException)):
        table = pq.read_table(path, partitioning=None)
    metadata = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    _expect(path, metadata, fingerprint)
    return table


def write_documents(path: Path, documents: Documents, fingerprint: str) -> None:
    """Write documents, one row a document, its tokens as a list."""
    import pyarrow as pa

    values = pa.array(documents.tokens.astype(np.int32))
    lists = pa.ListArray.from_arrays(pa.array(documents.offsets.astype(np.int32)), values)
    write_table(path, pa.table({"tokens": lists}), fingerprint)


def read_documents(path: Path, fingerprint: str) -> Documents:
    """Read documents; raises as `read_table` does."""
    column = read_table(path, fingerprint)["tokens"].combine_chunks()
    tokens = column.values.to_numpy(zero_copy_only=False).astype(np.int64)
    return Documents(tokens, column.offsets.to_numpy().astype(np.int64))


def write_weights(path: Path, weights: Mapping[str, torch.Tensor], fingerprint: str) -> None:
    """Write named tensors as safetensors."""
    from safetensors.torch import save

    # One entry: safetensors writes several in an order that changes from call to call.
    metadata = json.dumps({"fingerprint": fingerprint, "format": str(FORMAT)}, sort_keys=True)
    content = save(dict(weights), {_KEY: metadata})
    with atomic(path) as temporary:
        temporary.write_bytes(content)


def read_weights(path: Path, fingerprint: str) -> dict[str, torch.Tensor]:
    """Read named tensors; raises as `read_table` does."""
    from safetensors import SafetensorError, safe_open

    with _explained(path, (OSError, SafetensorError)), safe_open(path, "pt") as file:
        _expect(path, json.loads((file.metadata() or {}).get(_KEY, "{}")), fingerprint)
        return {name: file.get_tensor(name) for name in sorted(file.keys())}


def carries(path: Path, fingerprint: str) -> bool:
    """Whether a file of any of our formats is whole and carries this fingerprint, without reading it all.

    A parquet footer, a safetensors header and a page's head hold it as plain text, so it is enough to look at both
    ends of the file. This imports no library, and hundreds of files take milliseconds.
    """
    try:
        with path.open("rb") as file:
            head, size = file.read(4096), path.stat().st_size
            file.seek(max(0, size - 65536))
            tail = file.read()
            whole = _weights_size(file) == size if path.suffix == ".safetensors" else _ended(path.suffix, tail)
            return whole and fingerprint.encode() in head + tail
    except OSError:
        return False


def _ended(suffix: str, tail: bytes) -> bool:
    """Whether a file has its end: a copy that was cut off must not pass for up to date."""
    return tail.rstrip().endswith({".parquet": b"PAR1", ".html": b"</html>"}.get(suffix, b""))


def _weights_size(file: BinaryIO) -> int:
    """The size that a safetensors file says it has: the header's length, the header, and the tensors in it."""
    file.seek(0)
    length = int.from_bytes(file.read(8), "little")
    if length > _HEADER:
        return -1
    ends = re.findall(rb'"data_offsets":\[\d+,(\d+)\]', file.read(length))
    return 8 + length + max(map(int, ends), default=0)


@contextmanager
def _explained(path: Path, errors: tuple[type[Exception], ...]) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise StorageError(f"{path}: no such file; run `make report` to build it") from None
    except errors as error:
        raise StorageError(
            f"{path}: cannot be read ({error}); delete it and run `make report` to build it again"
        ) from error


def _expect(path: Path, metadata: Mapping[str, str], fingerprint: str | None) -> None:
    if metadata.get("format") != str(FORMAT) or "fingerprint" not in metadata:
        found = metadata.get("format", "none")
        raise StorageError(
            f"{path}: no file of this version of Seedbed (format {found}, expected {FORMAT}); "
            "delete it and run `make report`"
        )
    if fingerprint is not None and metadata["fingerprint"] != fingerprint:
        raise StorageError(
            f"{path}: comes from other code, values or inputs than the present ones "
            f"(fingerprint {metadata['fingerprint'][:12]}, expected {fingerprint[:12]}); run `make report`, "
            "or name the STUDY and SEEDS of the last build"
        )
