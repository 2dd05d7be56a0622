"""Opening what people bring: the bytes of a local file or of any fsspec address, and their digest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from calib_pipeline.digests import digest_bytes
from calib_pipeline.errors import InputError, Unreadable

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_USER = re.compile(r"(?<=://)[^/@]*@")
_MARK = b"\xef\xbb\xbf"
"""The byte order mark; a file that was exported twice may begin with several."""
_FOREIGN = {
    b"PK\x03\x04": "a zip archive (an Excel workbook, perhaps)",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\x1f\x8b": "compressed with gzip",
    b"\xff\xfe": "in UTF-16",
    b"\xfe\xff": "in UTF-16",
}


@dataclass(frozen=True)
class Source:
    """The content of one file.

    ``shown`` is its address for messages, without user name and password; ``digest`` the SHA-256 of its bytes.
    """

    shown: str
    content: bytes
    digest: str

    @property
    def suffix(self) -> str:
        """The last part of its name, in lower case, as in ``.csv``."""
        return Path(self.shown.split("?")[0]).suffix.lower()


def read_source(url: str | Source) -> Source:
    """Read a file whole; one that is read already is looked at again.

    Raises
    ------
    Unreadable
        When it is missing, a folder, forbidden, or its address cannot be opened.
    InputError
        When it holds nothing, or a format that no table is read from.
    """
    if isinstance(url, Source):
        shown, content = url.shown, url.content
    else:
        shown = _USER.sub("", str(url))
        content = _remote(str(url), shown) if _URL.match(str(url)) else _local(Path(url), shown)
    if not content:
        raise InputError("the file is empty (0 bytes)", where=shown, expected="a table", todo="export the table again")
    for magic, name in _FOREIGN.items():
        if content.startswith(magic):
            raise InputError(
                f"the file is {name}",
                where=shown,
                expected="CSV, JSON Lines or Parquet, text in UTF-8",
                todo="export the table in one of these formats",
            )
    return Source(shown, content, digest_bytes(content))


def decoded(source: Source) -> tuple[str, list[str]]:
    """The text of a source in UTF-8, and what was found on the way.

    Raises
    ------
    InputError
        When it is not UTF-8, holds NUL bytes, or holds no text, with the line.
    """
    report = []
    content = source.content
    marks = 0
    while content.startswith(_MARK):
        marks, content = marks + 1, content[len(_MARK) :]
    if marks:
        report.append("byte order mark" if marks == 1 else f"{marks} byte order marks")
        if not content.strip():
            raise InputError(
                "the file holds a byte order mark and nothing else",
                where=source.shown,
                expected="a table",
                todo="export the table again",
            )
    if (nul := content.find(b"\0")) >= 0:
        raise InputError(
            "the file holds a NUL byte, so it is no text or was damaged",
            where=f"{source.shown}:{_line(content, nul)}",
            expected="a text file in UTF-8",
            todo="export the table again",
        )
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {content[error.start]:#04x} is not UTF-8",
            where=f"{source.shown}:{_line(content, error.start)}",
            expected="a text file in UTF-8",
            todo="save the file as UTF-8 ('CSV UTF-8' in a spreadsheet)",
        ) from None
    if not text.strip():
        raise InputError(
            "the file holds blank lines and nothing else",
            where=source.shown,
            expected="a table",
            todo="export the table again",
        )
    if "\r\n" in text:
        report.append("CRLF line ends")
    return text, report


def _line(content: bytes, position: int) -> int:
    return content.count(b"\n", 0, position) + 1


def _local(path: Path, shown: str) -> bytes:
    if path.is_dir():
        raise Unreadable("this is a folder", where=shown, expected="a file", todo="name the table itself")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise Unreadable(
            "the file does not exist", where=shown, expected="a table", todo="put it there or correct the path"
        ) from None
    except (OSError, ValueError) as error:
        raise Unreadable(
            f"the file cannot be read: {getattr(error, 'strerror', None) or error}", where=shown
        ) from error


def _remote(url: str, shown: str) -> bytes:
    from upath import UPath

    try:
        return bytes(UPath(url).read_bytes())
    except FileNotFoundError:
        raise Unreadable(
            "the file does not exist", where=shown, expected="a table", todo="put it there or correct the address"
        ) from None
    except ImportError as error:
        raise Unreadable(
            f"addresses of this kind need a package that is not installed: {error}", where=shown
        ) from error
    except Exception as error:  # every backend has errors of its own
        detail = _USER.sub("", f"{type(error).__name__}: {error}")
        raise Unreadable(f"the address cannot be read: {detail}", where=shown) from error
