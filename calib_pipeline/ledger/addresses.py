"""Addresses of ledgers, as far as they can be judged without opening one."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from urllib.parse import quote

from calib_pipeline.errors import InputError

POSTGRESQL = ("postgresql://", "postgresql+psycopg://")
DRIVER = "psycopg"

_PASSWORD = re.compile(r"(://[^:/?#]*:).*@")
_USER = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)(?P<user>.*@)?(?P<rest>.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$\{(?P<name>[^}]*)\}?")


def without_password(address: str) -> str:
    """The address with a password that is written into it replaced by ``***``; a query is left out."""
    return _PASSWORD.sub(r"\1***@", address).partition("?")[0]


def with_variables(address: str, where: str) -> str:
    """The address with each ``${NAME}`` replaced by that variable of the environment.

    A value that stands for a user or a password is escaped as a URL wants it; any other is taken as it is.

    Raises
    ------
    InputError
        When a variable is not set or empty, or ``${`` names none.
    """
    parts = _USER.fullmatch(address)
    if parts is None:
        return _expanded(address, where, escaped=False)
    user = _expanded(parts["user"] or "", where, escaped=True)
    return parts["scheme"] + user + _expanded(parts["rest"], where, escaped=False)


def require_driver(where: str) -> None:
    """Refuse an address of PostgreSQL where its driver is not installed.

    Raises
    ------
    InputError
        When it is not.
    """
    if find_spec(DRIVER) is None:
        raise InputError(
            f"a ledger on PostgreSQL needs the package {DRIVER}, which is not installed",
            where=where,
            todo="install it with `pip install 'calib-pipeline[postgres]'`",
        )


def _expanded(text: str, where: str, *, escaped: bool) -> str:
    def value(found: re.Match[str]) -> str:
        name = found["name"]
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or not found[0].endswith("}"):
            raise InputError(
                "'ledger' has a '${' that names no variable",
                where=where,
                expected="${NAME}, with the name of a variable of the environment",
            )
        set_to = os.environ.get(name)
        if not set_to:
            raise InputError(
                f"'ledger' names the variable {name}, which is not set in the environment",
                where=where,
                expected=f"a value for {name}",
                todo=f"set it, as in `export {name}=…`, and run again",
            )
        return quote(set_to, safe="") if escaped else set_to

    return _VARIABLE.sub(value, text)
