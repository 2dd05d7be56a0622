"""What is wrong with Dagster's own files of a project, in words: its history of runs and its settings."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from calib_pipeline.errors import InputError, MachineFault, causes_of
from calib_pipeline.ledger.errors import LedgerError

SETTINGS = "dagster.yaml"
ANEW = "Dagster makes a new history, and no evidence, record or held-out set is in the old one"
_HEADER = b"SQLite format 3\0"
_WORDS = {
    "full": ("has no room left on its disk", "make room, and run the same command again"),
    "readonly": ("may not be written to", "ask for write permission on its files and folder, and run again"),
    "unable to open": ("cannot be opened", "see to it that the folder can be written to, and run again"),
    "locked": ("is held by another process", "wait for that process or end it, and run again"),
    "disk I/O error": ("cannot be read or written on its disk", "make room or see to the disk, and run again"),
}
"""What SQLite says of the history, what it means, and the next step."""
_UNSET = re.compile(r'environment variable "(?P<name>[^"]+)" which is not set')


def refuse_unusable(home: Path) -> None:
    """Refuse Dagster's files of a project where they are none.

    Raises
    ------
    InputError
        The settings are no YAML mapping.
    MachineFault
        A file of the history is no database.
    """
    settings = home / SETTINGS
    if settings.exists() and not _is_mapping(settings):
        _refuse(settings)
    for path in sorted((home / "history").rglob("*.db")):
        if path.is_file() and not _is_database(path):
            raise MachineFault(str(path), "it is no database, or damaged", f"move {home / 'history'} away: {ANEW}")


@contextmanager
def faults_in_words(home: Path | str) -> Iterator[None]:
    """What a database of Dagster's says within the block becomes a :class:`MachineFault`."""
    try:
        yield
    except Exception as fault:
        told = history_fault(home, fault)
        if told is None:
            raise
        raise told from fault


def history_fault(home: Path | str, fault: BaseException) -> MachineFault | None:
    """The fault in words where it comes of the history's database; None for every other, the ledger's too."""
    from sqlalchemy.exc import SQLAlchemyError

    for cause in causes_of(fault):
        if isinstance(cause, LedgerError):
            return None
        if isinstance(cause, SQLAlchemyError):
            driver = getattr(cause, "orig", None) or cause
            said = str(driver).splitlines()[0]
            if not isinstance(driver, sqlite3.Error | SQLAlchemyError):
                return MachineFault(
                    str(Path(home) / SETTINGS),
                    f"Dagster's history of runs cannot be used on the server that this file names ({said})",
                    "see to it that the server runs and lets this role in, and run again",
                )
            otherwise = ("cannot be used", f"move {Path(home) / 'history'} away: {ANEW}")
            what, todo = next((words for part, words in _WORDS.items() if part in said), otherwise)
            return MachineFault(str(home), f"Dagster's history of runs in it {what} ({said})", todo)
    return None


def refused_settings(home: Path, fault: Exception) -> InputError:
    """What Dagster refused in the settings, which are YAML and hold something that it does not know."""
    errors = getattr(fault, "errors", None)
    told = str(errors[0].message if errors else fault).strip()
    unset = _UNSET.search(told)
    if unset is not None:
        return InputError(
            f"it names the environment variable {unset['name']}, which is not set",
            where=str(home / SETTINGS),
            todo="set it, and run again",
        )
    said = told.splitlines()[0]
    # What Dagster expects there fills a page.
    said = said.split(" Expected: ")[0].rstrip(".")
    return InputError(
        f"Dagster cannot be set up: {said}",
        where=str(home / SETTINGS),
        todo="mend this file, or move it away: the next run writes the one that calib comes with",
    )


def _is_mapping(settings: Path) -> bool:
    """Whether Dagster reads the settings: an empty file holds none."""
    import yaml

    try:
        return isinstance(yaml.safe_load(settings.read_bytes()), dict | None)
    except yaml.YAMLError:
        return False


def _refuse(settings: Path) -> None:
    from calib_pipeline.studies.documents import read_document

    read_document(settings, str(settings))


def _is_database(path: Path) -> bool:
    """Whether a file begins as SQLite's do; one that is empty was only just made."""
    with path.open("rb") as file:
        return file.read(len(_HEADER)) in (_HEADER, b"")
