"""The item manifest: which items a population has, in which strata and groups, with what features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from calib_pipeline.digests import digest_frame
from calib_pipeline.errors import InputError
from calib_pipeline.studies.scale import number_of
from calib_pipeline.tables.columns import blank, column, refuse_float_ids, with_names
from calib_pipeline.tables.item_texts import NORMALISED, TEXT, with_digests
from calib_pipeline.tables.reading import RawTable, read_table

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.tables.source import Source

COLUMNS = ("item_id", "stratum", "group", "content_digest")
ONE_STRATUM = "all"
PLAIN_NUMBER = r"\A-?[0-9]{1,15}(\.[0-9]{1,15})?\z"
"""Numbers that need no second look, whatever reads them."""


@dataclass(frozen=True)
class Manifest:
    """A population's items.

    Attributes
    ----------
    name
        The population.
    frame
        One row an item, sorted by id: ``item_id``, ``stratum``, ``group`` and ``content_digest`` (None where the table
        has none), ``text_digest`` where the table has it or texts, then the feature columns: float where every cell
        that is not empty is a number (NaN where empty), text otherwise.
    digest
        Digest of the items and features; neither row order nor file format enters.
    size
        Number of items.
    report
        What was detected while reading.
    file_digest
        SHA-256 of the file.
    """

    name: str
    frame: pd.DataFrame
    digest: str
    size: int
    report: tuple[str, ...]
    file_digest: str

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the feature columns."""
        return tuple(name for name in self.frame.columns if name not in (*COLUMNS, NORMALISED))

    @property
    def contents(self) -> dict[str, str | None]:
        """The content digest of each item, None where the table has none."""
        return dict(zip(self.frame["item_id"].tolist(), self.frame["content_digest"].tolist(), strict=True))


def read_manifest(url: str | Source, name: str) -> Manifest:
    """Read the item manifest of a population.

    Raises
    ------
    InputError
        When the table cannot be read, an id is empty, stands twice or was made a float, a stratum is empty, or a group
        crosses strata; with the row.
    """
    return manifest_of(read_table(url), name)


def manifest_of(table: RawTable, name: str) -> Manifest:
    """The manifest in a table that is already read; errors as in :func:`read_manifest`."""
    import pandas as pd

    table = with_digests(with_names(table, (*COLUMNS, NORMALISED, TEXT), {}, ("item_id",)))
    _refuse_empty(table, "item_id", "an id for every item")
    refuse_float_ids(table)
    _refuse_repeated(table)
    report = list(table.report)
    if "stratum" in table.frame.columns:
        _refuse_empty(table, "stratum", "a stratum for every item, or no column of that name")
        stratum = table.frame["stratum"]
    else:
        report.append(f"no column stratum: one stratum, {ONE_STRATUM!r}")
        stratum = pd.Series([ONE_STRATUM] * len(table.frame), dtype=object)
    group = column(table, "group")
    _refuse_group_across_strata(table, stratum, group)
    texts = table.frame.assign(stratum=stratum, group=group, content_digest=column(table, "content_digest"))
    known = [*COLUMNS, *(name for name in (NORMALISED,) if name in texts.columns)]
    features = [name for name in texts.columns if name not in known]
    texts = texts[[*known, *features]].sort_values("item_id", ignore_index=True)
    frame = texts.assign(**{feature: _feature(texts[feature]) for feature in features})
    return Manifest(name, frame, digest_frame(texts), len(frame), tuple(report), table.digest)


def _feature(cells: pd.Series[str]) -> pd.Series[float] | pd.Series[str]:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pa.array(cells.tolist(), pa.string())
    if pc.all(pc.match_substring_regex(texts, PLAIN_NUMBER), min_count=1).as_py():
        return pd.Series(pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False))
    numbers = [None if cell is None else number_of(cell) for cell in cells.tolist()]
    given = [cell is not None for cell in cells.tolist()]
    if any(present and number is None for present, number in zip(given, numbers, strict=True)) or not any(given):
        return cells
    return pd.Series([float("nan") if number is None else number for number in numbers], dtype="float64")


def _refuse_empty(table: RawTable, name: str, expected: str) -> None:
    empty = [position for position, cell in enumerate(table.frame[name].tolist()) if blank(cell)]
    if empty:
        others = f" (and in {len(empty) - 1} other rows)" if len(empty) > 1 else ""
        raise InputError(f"the {name} is empty{others}", where=table.where(empty[0], name), expected=expected)


def _refuse_repeated(table: RawTable) -> None:
    ids = table.frame["item_id"]
    repeated = ids.duplicated().to_numpy().nonzero()[0]
    if len(repeated):
        second = int(repeated[0])
        first = ids.tolist().index(ids.iloc[second])
        others = f" ({len(repeated)} rows repeat an id)" if len(repeated) > 1 else ""
        raise InputError(
            f"the item {ids.iloc[second]!r} stands already in {table.unit} {table.rows[first]}{others}",
            where=table.where(second, "item_id"),
            expected="one row an item",
            todo="remove the repeated rows; a manifest says which items exist, once each",
        )


def _refuse_group_across_strata(table: RawTable, stratum: pd.Series[str], group: pd.Series[str]) -> None:
    first: dict[str, tuple[str, int]] = {}
    for position, (own, of_group) in enumerate(zip(stratum.tolist(), group.tolist(), strict=True)):
        if of_group is None:
            continue
        known, where = first.setdefault(of_group, (own, position))
        if known != own:
            raise InputError(
                f"the group {of_group!r} is in stratum {own!r} here and in {known!r} in {table.unit} "
                f"{table.rows[where]}",
                where=table.where(position, "group"),
                expected="all items of a group in one stratum, since a group is drawn whole",
            )
