"""Texts of items that come with a table: what is kept of them are digests, by which copies are recognised."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from calib_pipeline.digests import digest_bytes
from calib_pipeline.tables.columns import blank, column, with_names
from calib_pipeline.tables.normalised_text import normalised_text, normalised_text_digest
from calib_pipeline.tables.reading import RawTable, table_of
from calib_pipeline.tables.source import read_source

if TYPE_CHECKING:
    import pandas as pd

CONTENT, NORMALISED, TEXT = "content_digest", "text_digest", "text"
DIGESTS = (CONTENT, NORMALISED)
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{16,}")


def with_digests(table: RawTable) -> RawTable:
    """The table with digests in the place of its column ``text``, and as it is where it has none.

    ``text_digest`` is that of the normalised text, and ``content_digest``, where its cell is empty, the SHA-256 of the
    text in UTF-8. A text without a letter, digit or symbol has no ``text_digest``. Space around a digest is no part of
    it, nor is the case of one in hexadecimal.
    """
    given_digests = [name for name in DIGESTS if name in table.frame.columns]
    folded = {name: _cells(table, [_folded(cell) for cell in table.frame[name].tolist()]) for name in given_digests}
    table = replace(table, frame=table.frame.assign(**folded))
    if TEXT not in table.frame.columns:
        return table
    texts = table.frame[TEXT].tolist()
    given = {name: column(table, name).tolist() for name in DIGESTS}
    exact = [None if text is None else digest_bytes(text.encode(errors="surrogatepass")) for text in texts]
    normal = [normalised_text_digest(text) if text is not None and normalised_text(text) else None for text in texts]
    contents = [own if not blank(own) else made for own, made in zip(given[CONTENT], exact, strict=True)]
    twins = [made or own for own, made in zip(given[NORMALISED], normal, strict=True)]
    frame = table.frame.drop(columns=TEXT).assign(
        **{CONTENT: _cells(table, contents), NORMALISED: _cells(table, twins)}
    )
    report = (*table.report, "column text: read as text_digest and content_digest, and not kept")
    return replace(table, frame=frame, report=report)


def kept_copy(url: str) -> bytes:
    """What is kept of a table of items: its bytes, or where it has texts the rest of it as JSON Lines.

    Raises
    ------
    InputError
        When the table cannot be read.
    """
    source = read_source(url)
    table = with_names(table_of(source), (*DIGESTS, TEXT), {}, ())
    if TEXT not in table.frame.columns:
        return source.content
    rows = with_digests(table).frame.to_dict("records")
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode(errors="surrogatepass")


def _folded(digest: str | None) -> str | None:
    if digest is None:
        return None
    return digest.strip().lower() if _HEXADECIMAL.fullmatch(digest.strip()) else digest.strip()


def _cells(table: RawTable, cells: Sequence[Any]) -> pd.Series[str]:
    import pandas as pd

    return pd.Series(cells, index=table.frame.index, dtype=object)
