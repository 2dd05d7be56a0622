"""The texts that annotators see: from the item manifest or a table, and the same that the manifest has digests of."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from calib_pipeline.errors import InputError
from calib_pipeline.tables.columns import blank, with_names
from calib_pipeline.tables.normalised_text import normalised_text_digest
from calib_pipeline.tables.reading import RawTable, read_table

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("item_id", "text")


def texts_of(url: str, items: Collection[str], *, needed: bool) -> dict[str, str] | None:
    """The text of each of the items; None where the table has no column of texts and none is needed.

    Raises
    ------
    InputError
        When the table cannot be read, an item of these has no text, or has two; with the row.
    """
    table = with_names(read_table(url), COLUMNS, {}, COLUMNS if needed else ("item_id",))
    if "text" not in table.frame.columns:
        return None
    wanted, texts = set(items), dict[str, str]()
    for position, (item, text) in enumerate(zip(*(table.frame[name].tolist() for name in COLUMNS), strict=True)):
        if item in wanted:
            _refuse_two(table, position, item, texts)
            if not blank(text):
                texts[item] = text
    lacking = sorted(wanted - set(texts))
    if lacking:
        others = f" (and {len(lacking) - 1} others)" if len(lacking) > 1 else ""
        raise InputError(
            f"the item {lacking[0]!r} has no text{others}",
            where=f"{table.url}, column text",
            expected="a text for every item that is to be labeled",
        )
    return texts


def refuse_other_texts(texts: dict[str, str], manifest: pd.DataFrame, where: str) -> None:
    """Refuse texts whose digest is not the manifest's: people would label something else than the scorer scores.

    Raises
    ------
    InputError
        Naming the item.
    """
    if "text_digest" not in manifest.columns:
        return
    for item, digest in zip(manifest["item_id"].tolist(), manifest["text_digest"].tolist(), strict=True):
        if item in texts and isinstance(digest, str) and normalised_text_digest(texts[item]) != digest:
            raise InputError(
                f"the text of {item!r} is not the one that the item manifest has the text_digest of",
                where=where,
                expected="the texts of the items as the scorer sees them",
            )


def _refuse_two(table: RawTable, position: int, item: str, texts: dict[str, str]) -> None:
    if item in texts:
        raise InputError(
            f"the item {item!r} stands twice", where=table.where(position, "item_id"), expected="one text an item"
        )
