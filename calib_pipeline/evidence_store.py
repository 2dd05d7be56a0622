"""Where evidence lives: one Parquet file a rung and cell, and row tables and inputs under their content digest."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from calib_pipeline.digests import digest_bytes, digest_frame

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from upath import UPath


class DamagedEvidence(Exception):
    """A stored file is missing, or its content is not what its name says."""


class EvidenceStore:
    """Evidence on a local folder or any fsspec URL. What one store has written itself it need not read again.

    Parameters
    ----------
    base
        Folder or URL of the store.
    """

    def __init__(self, base: str) -> None:
        from upath import UPath

        self.base: UPath = UPath(base)
        self._written: dict[str, pd.DataFrame] = {}

    def evidence_path(self, asset: str, population: str, study: str) -> UPath:
        """Where the evidence of one rung and cell stands."""
        return self.base / "evidence" / asset / population / f"{study}.parquet"

    def read_evidence(self, asset: str, population: str, study: str) -> pd.DataFrame | None:
        """The stored evidence, None where there is none.

        Raises
        ------
        DamagedEvidence
            When the file is no readable Parquet table.
        """
        path = self.evidence_path(asset, population, study)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        return read_parquet(content, str(path))

    def put_table(self, frame: pd.DataFrame) -> str:
        """Store a row table under its content digest and return the digest."""
        digest = digest_frame(frame)
        path = self._table_path(digest)
        if not path.exists():
            write_atomically(path, parquet_bytes(frame))
        self._written[digest] = frame
        return digest

    def get_table(self, digest: str) -> pd.DataFrame:
        """The row table of a digest.

        Raises
        ------
        DamagedEvidence
            When it is missing or its rows have another digest.
        """
        if digest in self._written:
            return self._written[digest]
        path = self._table_path(digest)
        try:
            frame = read_parquet(path.read_bytes(), str(path))
        except FileNotFoundError as error:
            raise DamagedEvidence(f"{path} is missing: run the rung that wrote it again") from error
        if digest_frame(frame) != digest:
            raise DamagedEvidence(f"{path} is not the table that its name says: run the rung that wrote it again")
        return frame

    def put_input(self, content: bytes) -> str:
        """Keep a copy of a table that people brought, under the SHA-256 of its bytes."""
        digest = digest_bytes(content)
        path = self.base / "inputs" / digest
        if not path.exists():
            write_atomically(path, content)
        return digest

    def input_path(self, digest: str) -> UPath:
        """Where the copy of a brought table stands.

        Raises
        ------
        DamagedEvidence
            When it is missing or its bytes have another digest.
        """
        path = self.base / "inputs" / digest
        try:
            content = path.read_bytes()
        except FileNotFoundError as error:
            raise DamagedEvidence(f"{path} is missing: the record cannot be recomputed without it") from error
        if digest_bytes(content) != digest:
            raise DamagedEvidence(f"{path} is not the file that its name says")
        return path

    def _table_path(self, digest: str) -> UPath:
        return self.base / "tables" / f"{digest}.parquet"


def parquet_bytes(frame: pd.DataFrame) -> bytes:
    """A table as Parquet."""
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False, compression="zstd")
    return buffer.getvalue()


def read_parquet(content: bytes, shown: str) -> pd.DataFrame:
    """A Parquet table with text as objects and None for what is missing, whatever the version of pandas.

    Raises
    ------
    DamagedEvidence
        When the bytes are no Parquet table.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False)
    except (pa.ArrowInvalid, OSError, ValueError) as error:
        raise DamagedEvidence(f"{shown} cannot be read as Parquet: run the rung that wrote it again") from error
    return pd.DataFrame({name: _plain(table.column(name)) for name in table.column_names})


def _plain(column: pa.ChunkedArray) -> pd.Series[Any]:
    import pandas as pd
    import pyarrow as pa

    whole = pa.types.is_boolean(column.type) and not column.null_count
    if whole or pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return pd.Series(column.to_numpy())
    return pd.Series(column.to_pylist(), dtype="object")


def write_atomically(path: UPath, content: bytes) -> None:
    """Write all or nothing: temporary file, fsync, rename on a local disk; one put on an object store.

    Raises
    ------
    OSError
        Where the system refuses; it names the path.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.protocol not in ("", "file", "local"):
        path.write_bytes(content)
        return
    target = Path(path.path)
    temporary = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as refused:
        # A write that finds no room does not say where.
        refused.filename = refused.filename or str(target)
        raise
    finally:
        temporary.unlink(missing_ok=True)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
