"""What a scorer says that it was shaped by: items of its prompt and of its tuning, by id, content digest and text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calib_pipeline.digests import digest_bytes, digest_json
from calib_pipeline.errors import InputError
from calib_pipeline.tables.columns import blank, column, refuse_float_ids, with_names
from calib_pipeline.tables.item_texts import CONTENT, NORMALISED, TEXT, with_digests
from calib_pipeline.tables.normalised_text import normalised_text, normalised_text_digest
from calib_pipeline.tables.reading import RawTable, read_table

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.tables.source import Source

COLUMNS = ("item_id", CONTENT, NORMALISED)


@dataclass(frozen=True)
class TuningItems:
    """The items that shaped a scorer.

    ``texts`` are digests of normalised texts. ``digest`` is that of the table's rows, whatever their order and format;
    None where no table is declared.
    """

    ids: frozenset[str] = frozenset()
    content: frozenset[str] = frozenset()
    digest: str | None = None
    texts: frozenset[str] = frozenset()

    def among(self, items: pd.DataFrame) -> list[str]:
        """Ids of the items that shaped the scorer, they or a twin of theirs.

        Parameters
        ----------
        items
            ``item_id``, ``content_digest`` and perhaps ``text_digest``.
        """
        contents = items[CONTENT].tolist()
        texts = items[NORMALISED].tolist() if NORMALISED in items.columns else [None] * len(items)
        return [
            item
            for item, content, text in zip(items["item_id"].tolist(), contents, texts, strict=True)
            if item in self.ids
            or (isinstance(content, str) and content in self.content)
            or (isinstance(text, str) and text in self.texts)
        ]

    def with_examples(self, config: dict[str, Any]) -> TuningItems:
        """These, and the ``examples`` of a scorer's configuration: ids, digests, texts, or mappings that hold one."""
        named, shown = set(_named(config.get("examples"), COLUMNS)), set(_named(config.get("examples"), (TEXT,)))
        texts = {normalised_text_digest(text) for text in shown if normalised_text(text)}
        exact = {digest_bytes(text.encode(errors="surrogatepass")) for text in shown}
        return TuningItems(self.ids | named, self.content | named | exact, self.digest, self.texts | named | texts)


NOTHING = TuningItems()
"""Of a scorer that says nothing."""


def read_tuning(url: str | Source) -> TuningItems:
    """Read a table of the items that shaped a scorer: ``item_id``, ``content_digest``, ``text_digest`` or ``text``.

    Raises
    ------
    InputError
        When the table cannot be read, has none of these columns, or a row names nothing; with the row.
    """
    return tuning_of(read_table(url))


def tuning_of(table: RawTable) -> TuningItems:
    """The items in a table that is already read; errors as in :func:`read_tuning`."""
    table = with_digests(with_names(table, (*COLUMNS, TEXT), {}, ()))
    if not set(COLUMNS) & set(table.frame.columns):
        raise InputError(
            "the table names no items",
            where=table.url,
            expected="a column 'item_id', 'content_digest', 'text_digest' or 'text'; found "
            + ", ".join(table.frame.columns),
        )
    if "item_id" in table.frame.columns:
        refuse_float_ids(table)
    columns = [column(table, name).tolist() for name in COLUMNS]
    for position, cells in enumerate(zip(*columns, strict=True)):
        if all(blank(cell) for cell in cells):
            raise InputError(
                "the row names no item", where=table.where(position, "item_id"), expected="an id or digest"
            )
    ids, contents, texts = (frozenset(cell for cell in cells if not blank(cell)) for cells in columns)
    parts = [ids, contents, texts] if texts else [ids, contents]
    return TuningItems(ids, contents, digest_json([sorted(part) for part in parts]), texts)


def _named(examples: Any, keys: tuple[str, ...]) -> Iterable[str]:
    """What examples say under some keys, and what they say under none."""
    if isinstance(examples, dict):
        yield from (value for name, value in examples.items() if name in keys and isinstance(value, str))
    elif isinstance(examples, str):
        yield examples
    elif isinstance(examples, list | tuple):
        for example in examples:
            yield from _named(example, keys)
