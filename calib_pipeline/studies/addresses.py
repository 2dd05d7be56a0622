"""Where a project keeps its evidence and its ledger: addresses made absolute, or refused where nothing can be."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote

from calib_pipeline.errors import InputError

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
SQLITE = "sqlite:///"
POSTGRESQL = "postgresql+psycopg://"


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

    ``${NAME}`` in it is the value of an environment variable, so that a password need not stand in a file.

    Raises
    ------
    InputError
        When it is not the URL of a file or of a PostgreSQL database, or a variable is not set.
    """
    if declared is None:
        return f"{SQLITE}{root / '.calib' / 'ledger.db'}"
    declared = _VARIABLE.sub(lambda found: _value_of(found[1], where), declared)
    if declared.startswith(POSTGRESQL):
        return _server_address(declared, where)
    path = declared.removeprefix(SQLITE)
    if path == declared or path in ("", ":memory:"):
        raise InputError(
            f"'ledger' is {declared!r}",
            where=where,
            expected="sqlite:/// and the path of a file, such as sqlite:///.calib/ledger.db, or "
            "postgresql+psycopg://USER@HOST/DATABASE",
        )
    if (root / path).is_dir():
        raise InputError(f"'ledger' names the folder {path}", where=where, expected="the path of a file")
    return f"{SQLITE}{root / path}"


def ledger_file(address: str) -> Path | None:
    """The file of a ledger; None where it is on a server."""
    return Path(address.removeprefix(SQLITE)) if address.startswith(SQLITE) else None


def shown_address(address: str) -> str:
    """A ledger's address without its password."""
    from sqlalchemy import make_url

    file = ledger_file(address)
    return str(file) if file is not None else make_url(address).render_as_string(hide_password=True)


def _server_address(declared: str, where: str) -> str:
    from importlib.util import find_spec

    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        database = make_url(declared).database
    except (ArgumentError, ValueError):
        database = None
    if not database:
        raise InputError(
            "'ledger' is no address of a database", where=where, expected=f"{POSTGRESQL}USER@HOST:PORT/DATABASE"
        )
    if find_spec("psycopg") is None:
        raise InputError(
            "'ledger' is on PostgreSQL, and the package psycopg is not installed",
            where=where,
            todo="pip install 'calib-pipeline[postgres]'",
        )
    return declared


def _value_of(name: str, where: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise InputError(
            f"'ledger' names the environment variable {name}, which is not set", where=where, todo=f"set {name}"
        )
    return quote(value, safe="")
