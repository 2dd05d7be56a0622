"""Where a project keeps its evidence and its ledger: addresses made absolute, or refused where nothing can be."""

from __future__ import annotations

import re
from pathlib import Path

from calib_pipeline.errors import InputError

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
SQLITE = "sqlite:///"


def absolute(root: Path, address: str) -> str:
    """A path from the project folder as an absolute one; a URL as it is."""
    return address if _URL.match(address) else str(root / address)


def store_address(root: Path, declared: str, where: str) -> str:
    """The folder or URL of the evidence.

    Raises
    ------
    InputError
        When it is a file, or a URL of a kind that no installed package reads.
    """
    url = _URL.match(declared)
    if url is None:
        if (root / declared).exists() and not (root / declared).is_dir():
            raise InputError(f"'store' names the file {declared}", where=where, expected="a folder or a URL")
        return str(root / declared)
    from upath import UPath

    try:
        _ = UPath(declared).fs
    except ImportError as error:
        raise InputError(f"'store' needs another package: {error}", where=where, todo="install it") from None
    except ValueError:
        raise InputError(
            f"'store' is {declared!r}, and nothing knows {url[1]!r}",
            where=where,
            expected="a folder, or a URL that fsspec knows, such as s3://bucket/path",
        ) from None
    return declared


def ledger_address(root: Path, declared: str | None, where: str) -> str:
    """The database URL of the ledger; by default an SQLite file in ``.calib``.

    Raises
    ------
    InputError
        When it is not the URL of a file.
    """
    if declared is None:
        return f"{SQLITE}{root / '.calib' / 'ledger.db'}"
    path = declared.removeprefix(SQLITE)
    if path == declared or path in ("", ":memory:"):
        raise InputError(
            f"'ledger' is {declared!r}",
            where=where,
            expected="sqlite:/// and the path of a file, such as sqlite:///.calib/ledger.db",
        )
    if (root / path).is_dir():
        raise InputError(f"'ledger' names the folder {path}", where=where, expected="the path of a file")
    return f"{SQLITE}{root / path}"
