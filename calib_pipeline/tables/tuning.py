"""What a scorer says that it was shaped by: items of its prompt and of its tuning, by id and by content digest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calib_pipeline.digests import digest_json
from calib_pipeline.errors import InputError
from calib_pipeline.tables.columns import blank, column, refuse_float_ids, with_names
from calib_pipeline.tables.reading import RawTable, read_table

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.tables.source import Source

COLUMNS = ("item_id", "content_digest")


@dataclass(frozen=True)
class TuningItems:
    """The items that shaped a scorer.

    ``digest`` is that of the table's rows, whatever their order and format; None where no table is declared.
    """

    ids: frozenset[str] = frozenset()
    content: frozenset[str] = frozenset()
    digest: str | None = None

    def among(self, items: pd.DataFrame) -> list[str]:
        """Ids of the items, of a table with ``item_id`` and ``content_digest``, that shaped the scorer."""
        return [
            item
            for item, content in zip(items["item_id"].tolist(), items["content_digest"].tolist(), strict=True)
            if item in self.ids or (isinstance(content, str) and content in self.content)
        ]

    def with_examples(self, config: dict[str, Any]) -> TuningItems:
        """These, and the ``examples`` of a scorer's configuration: ids, digests, or mappings that hold one."""
        named = set(_named(config.get("examples")))
        return TuningItems(self.ids | named, self.content | named, self.digest)


NOTHING = TuningItems()
"""Of a scorer that says nothing."""


def read_tuning(url: str | Source) -> TuningItems:
    """Read a table of the items that shaped a scorer: ``item_id``, ``content_digest`` or both.

    Raises
    ------
    InputError
        When the table cannot be read, has neither column, or a row names nothing; with the row.
    """
    return tuning_of(read_table(url))


def tuning_of(table: RawTable) -> TuningItems:
    """The items in a table that is already read; errors as in :func:`read_tuning`."""
    table = with_names(table, COLUMNS, {}, ())
    if not set(COLUMNS) & set(table.frame.columns):
        raise InputError(
            "the table names no items",
            where=table.url,
            expected=f"a column {COLUMNS[0]!r} or {COLUMNS[1]!r}; found {', '.join(table.frame.columns)}",
        )
    if "item_id" in table.frame.columns:
        refuse_float_ids(table)
    ids, contents = (column(table, name).tolist() for name in COLUMNS)
    for position, cells in enumerate(zip(ids, contents, strict=True)):
        if all(blank(cell) for cell in cells):
            raise InputError(
                "the row names no item", where=table.where(position, "item_id"), expected="an id or digest"
            )
    found = [frozenset(cell for cell in cells if not blank(cell)) for cells in (ids, contents)]
    return TuningItems(found[0], found[1], digest_json([sorted(part) for part in found]))


def _named(examples: Any) -> Iterable[str]:
    if isinstance(examples, dict):
        yield from (value for name, value in examples.items() if name in COLUMNS and isinstance(value, str))
    elif isinstance(examples, str):
        yield examples
    elif isinstance(examples, list | tuple):
        for example in examples:
            yield from _named(example)
