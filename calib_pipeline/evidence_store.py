"""Where evidence lives: one Parquet file a rung and cell, and row tables and inputs under their content digest."""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from calib_pipeline.digests import digest_bytes, digest_frame

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from upath import UPath

    from calib_pipeline.sealing import SealingKey
    from calib_pipeline.tables.source import Source


ROWS = ".rows.parquet"
"""How the row table beside a record ends."""
SEALED = ".sealed"
OF_A_DRAW = frozenset(("item_id", "content_digest", "text_digest", "stratum", "group", "rank", "named"))
"""The columns of a table of items that holds no label."""


class DamagedEvidence(Exception):
    """A stored file is missing, or its content is not what its name says."""


class SealedEvidence(DamagedEvidence):
    """A stored file is sealed, and this is not the key."""


class EvidenceStore:
    """Evidence on a local folder or any fsspec URL. What one store has written itself it need not read again.

    Parameters
    ----------
    base
        Folder or URL of the store.
    key
        Seals what holds labels, and opens it again. Without it they are stored as they are, but for those that are
        sealed already: these stay so, and do not open.
    """

    def __init__(self, base: str, key: SealingKey | None = None) -> None:
        from upath import UPath

        self.base: UPath = UPath(base)
        self._key = key
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
        path, labels = self._table_path(digest), may_hold_labels(frame)
        if not self._stands(path, labels):
            self.write(path, parquet_bytes(frame), labels=labels)
        self._written[digest] = frame
        return digest

    def get_table(self, digest: str) -> pd.DataFrame:
        """The row table of a digest.

        Raises
        ------
        SealedEvidence
            When it is sealed, and the store has not its key.
        DamagedEvidence
            When it is missing or its rows have another digest.
        """
        if digest in self._written:
            return self._written[digest]
        path = self._table_path(digest)
        frame = read_parquet(self.read(path, "run the rung that wrote it again"), str(path))
        if digest_frame(frame) != digest:
            raise DamagedEvidence(f"{path} is not the table that its name says: run the rung that wrote it again")
        return frame

    def put_input(self, content: bytes, *, labels: bool) -> str:
        """Keep a copy of a table that people brought, under the SHA-256 of its bytes."""
        digest = digest_bytes(content)
        path = self._input_path(digest)
        if not self._stands(path, labels):
            self.write(path, content, labels=labels)
        return digest

    def get_input(self, digest: str) -> Source:
        """The copy of a brought table; errors as in :meth:`get_table`."""
        from calib_pipeline.tables.source import Source

        path = self._input_path(digest)
        content = self.read(path, "the record cannot be recomputed without it")
        if digest_bytes(content) != digest:
            raise DamagedEvidence(f"{path} is not the file that its name says")
        return Source(str(path), content, digest)

    def key_of_input(self, digest: str) -> str | None:
        """The id of the key that the copy of a brought table is sealed with, None where it is not sealed.

        Raises
        ------
        DamagedEvidence
            When the sealed file is damaged.
        """
        from calib_pipeline.sealing import CannotOpen, key_id_of

        envelope = sealed_path(self._input_path(digest))
        try:
            return key_id_of(envelope.read_bytes()) if envelope.exists() else None
        except CannotOpen as fault:
            raise DamagedEvidence(f"{envelope} does not open: {fault}") from fault

    def write(self, path: UPath, content: bytes, *, labels: bool) -> None:
        """Write a file, sealed where it holds labels and there is a key; the open one in its place goes.

        Raises
        ------
        SealedEvidence
            When it stands sealed, and the store has no key.
        """
        from calib_pipeline.sealing import sealed

        envelope = sealed_path(path)
        if self._key is not None and (labels or envelope.exists()):
            write_atomically(envelope, sealed(self._key, self._named(path), content))
            path.unlink(missing_ok=True)
        elif envelope.exists():
            raise SealedEvidence(f"{envelope} is sealed, and without its key no copy is written beside it")
        else:
            write_atomically(path, content)

    def read(self, path: UPath, otherwise: str) -> bytes:
        """The content of a file, or of the sealed file in its place; ``otherwise`` says what to do where it is gone.

        Raises
        ------
        SealedEvidence
            When it is sealed, and the store has not its key.
        DamagedEvidence
            When it is missing, or the sealed file was altered.
        """
        from calib_pipeline.sealing import CannotOpen, key_id_of, opened

        envelope = sealed_path(path)
        try:
            content = envelope.read_bytes()
        except FileNotFoundError:
            try:
                return path.read_bytes()
            except FileNotFoundError as error:
                raise DamagedEvidence(f"{path} is missing: {otherwise}") from error
        try:
            key_id = key_id_of(content)
            if self._key is None or key_id != self._key.key_id:
                raise SealedEvidence(f"{envelope} is sealed with the key {key_id}")
            return opened(self._key, self._named(path), content)
        except CannotOpen as fault:
            raise DamagedEvidence(f"{envelope} does not open: {fault}") from fault

    def files_with_labels(self) -> Iterator[UPath]:
        """Every open file that may hold labels: row tables with more than the draw of their items, the row tables of
        records, and copies of brought tables."""
        for path in sorted(self.base.glob("tables/*.parquet"), key=str):
            if may_hold_labels(read_parquet(path.read_bytes(), str(path))):
                yield path
        yield from sorted(self.base.glob(f"records/*/*/*{ROWS}"), key=str)
        yield from (path for path in sorted(self.base.glob("inputs/*"), key=str) if path.suffix != SEALED)

    def remove_leftovers(self, older_than: float) -> list[UPath]:
        """Remove what killed writes left beside the files that they wrote; return what is younger than so many seconds,
        which somebody may still be writing. Only local folders have any."""
        young = []
        for folder in LABELED_FOLDERS:
            for path in sorted(self.base.glob(f"{folder}/.*"), key=str):
                if not _LEFTOVER.fullmatch(path.name):
                    continue
                if time.time() - path.stat().st_mtime > older_than:
                    path.unlink(missing_ok=True)
                else:
                    young.append(path)
        return young

    def _stands(self, path: UPath, labels: bool) -> bool:
        """Whether a file whose name says what it holds need not be written."""
        is_open = path.exists()
        if self._key is None:
            return is_open
        return not labels if is_open else sealed_path(path).exists()

    def _named(self, path: UPath) -> str:
        return path.relative_to(self.base).as_posix()

    def _table_path(self, digest: str) -> UPath:
        return self.base / "tables" / f"{digest}.parquet"

    def _input_path(self, digest: str) -> UPath:
        return self.base / "inputs" / digest


LABELED_FOLDERS = ("tables", "records/*/*", "inputs")
_LEFTOVER = re.compile(r"\..+\.[0-9a-f]{32}")
"""The names of the temporary files of `write_atomically`."""


def may_hold_labels(frame: pd.DataFrame) -> bool:
    """Whether a row table says more of an item than its draw."""
    return not set(frame.columns) <= OF_A_DRAW


def sealed_path(path: UPath) -> UPath:
    """Where a file stands when it is sealed."""
    return path.with_name(f"{path.name}{SEALED}")


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
