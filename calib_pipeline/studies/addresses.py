"""Where a project keeps its evidence and its ledger: addresses made absolute, or refused where nothing can be."""

from __future__ import annotations

import re
from pathlib import Path

from calib_pipeline.errors import InputError
from calib_pipeline.ledger.addresses import POSTGRESQL, require_driver, with_variables, without_password

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
    """The database URL of the ledger, with its variables filled in; by default an SQLite file in ``.calib``.

    Raises
    ------
    InputError
        When it is the URL of no file and of no PostgreSQL database, names a variable that is not set, or needs a driver
        that is not installed.
    """
    if declared is None:
        return f"{SQLITE}{root / '.calib' / 'ledger.db'}"
    address = with_variables(declared, where)
    if address.startswith(POSTGRESQL):
        return _postgresql_address(address, declared, where)
    path = address.removeprefix(SQLITE)
    if path == address or path in ("", ":memory:"):
        raise InputError(
            f"'ledger' is {without_password(declared)!r}",
            where=where,
            expected="sqlite:/// and the path of a file, such as sqlite:///.calib/ledger.db, or "
            "postgresql+psycopg://USER@HOST:5432/DATABASE",
        )
    if (root / path).is_dir():
        raise InputError(f"'ledger' names the folder {path}", where=where, expected="the path of a file")
    return f"{SQLITE}{root / path}"


def ledger_file(address: str) -> Path | None:
    """The file of a ledger; None where it is on a server."""
    return Path(address.removeprefix(SQLITE)) if address.startswith(SQLITE) else None


def shown_address(address: str) -> str:
    """Where a ledger is, without its password."""
    return str(ledger_file(address) or without_password(address))


def _postgresql_address(address: str, declared: str, where: str) -> str:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    require_driver(where)
    try:
        named = make_url(address).database
    except (ArgumentError, ValueError):
        named = None
    if not named:
        raise InputError(
            f"'ledger' is {without_password(declared)!r}, which names no database",
            where=where,
            expected="postgresql+psycopg://USER@HOST:5432/DATABASE",
            todo="a password with characters such as @ or / is safest as ${NAME}",
        )
    return address
