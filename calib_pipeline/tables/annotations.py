"""The label sheet: usable votes, repeats of one person, and every other row under its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from calib_pipeline.digests import digest_json
from calib_pipeline.errors import ReviewUnavailable, Unreadable
from calib_pipeline.studies.scale import fold
from calib_pipeline.studies.study import Study
from calib_pipeline.tables.columns import blank, refuse_float_ids, with_names
from calib_pipeline.tables.distinct import Distinct, rows_digest
from calib_pipeline.tables.findings import Findings, NearIds, outside
from calib_pipeline.tables.label_cells import CONFIDENCES, LabelCells, Unread
from calib_pipeline.tables.label_studio import export_table
from calib_pipeline.tables.reading import RawTable, table_of
from calib_pipeline.tables.reasons import HARMLESS, Reason
from calib_pipeline.tables.shown_content import ShownContent, shown_content
from calib_pipeline.tables.source import Source, read_source
from calib_pipeline.tables.values import off_scale_detail, spelling_counts
from calib_pipeline.tables.votes import settle

if TYPE_CHECKING:
    import pandas as pd

KNOWN = (
    "item_id",
    "annotator_id",
    "value",
    "repeat",
    "labeled_at",
    "confidence",
    "status",
    "rubric_version",
    "saw_scorer_output",
    "saw_other_labels",
    "prefilled",
    "role",
    "note",
    "content_digest",
)
SYNONYMS = {"annotator": "annotator_id", "label": "value", "created_at": "labeled_at"}
NEEDED = ("item_id", "annotator_id", "value")
_IN_DIGEST = tuple(name for name in KNOWN if name != "note")


@dataclass(frozen=True)
class Labels:
    """The labels of the reserved items, every received row accounted for.

    Attributes
    ----------
    frame
        One usable vote a row, sorted by item and annotator: ``item_id``, ``annotator_id``, ``repeat`` (1), ``value``
        (canonical text), ``code`` (-1 on a continuous scale), ``number`` (NaN on a scale of levels), ``confidence``,
        ``labeled_at`` (ISO 8601 in UTC or None), ``role``, ``independent`` (an annotator who is not known to have seen
        other labels), ``source_row``.
    repeats
        Further labels by the same person on the same item, in the same columns plus ``why``: ``repeat``, ``duplicate``
        (the same label at another time), ``self_conflict``, ``self_conflict_undated``. For agreement of people with
        themselves only; never a second human.
    not_compared
        Rows that are no vote and no declared repeat: ``source``, ``row``, ``item_id``, ``annotator_id``, ``value``,
        ``reason``, ``detail``.
    counts
        ``received`` = ``usable`` + ``repeat`` + one entry a reason; zero counts are left out, except for these three.
    mapped
        How many cells were read under another spelling, by spelling, as in ``"'Yes ' read as 'yes' (folded)"``.
    digest
        Digest of the reserved items' rows as written; neither row order nor other items' rows enter.
    unlabeled
        Reserved items without a usable vote, sorted.
    report
        What was detected while reading.
    file_digest
        SHA-256 of the file.
    """

    frame: pd.DataFrame
    repeats: pd.DataFrame
    not_compared: pd.DataFrame
    counts: dict[str, int]
    mapped: dict[str, int]
    digest: str
    unlabeled: tuple[str, ...]
    report: tuple[str, ...]
    file_digest: str

    @property
    def relevant(self) -> int:
        """Received rows that say something about the label sheet of this set: the denominator of ``unusable``."""
        return self.counts["received"] - sum(
            self.counts.get(reason, 0) for reason in (Reason.NOT_RESERVED, Reason.NOT_ANNOTATED)
        )

    @property
    def unusable(self) -> int:
        """Rows that are listed for a fault; rows of other items and superseded labels do not count."""
        return sum(self.counts.get(reason, 0) for reason in Reason if reason not in HARMLESS)


def read_labels(
    url: str | Source,
    study: Study,
    item_ids: Collection[str],
    known_ids: Collection[str] | None = None,
    contents: Mapping[str, str | None] | None = None,
) -> Labels:
    """Read and normalise the labels of the reserved items.

    Parameters
    ----------
    url
        A table (CSV, JSON Lines, JSON list, Parquet) or a Label Studio JSON export.
    study
        Its scale, rubric version and dimension say what is usable.
    item_ids
        The reserved items.
    known_ids
        All items of the population; a label for any other is an orphan. None: whatever is not reserved is assumed to
        belong to the population.
    contents
        The content digest of each item, with which a row's ``content_digest`` is compared. None: with nothing.

    Raises
    ------
    ReviewUnavailable
        When the source cannot be opened.
    InputError
        When it is open but no table of labels.
    """
    return normalise_labels(label_table(url, study), study, item_ids, known_ids, contents)


def label_table(url: str | Source, study: Study) -> RawTable:
    """The label sheet as written, its columns known by their names; errors as in :func:`read_labels`."""
    try:
        source = read_source(url)
    except Unreadable as error:
        raise ReviewUnavailable(error.where or str(url), error.what) from error
    return _named(export_table(source, study.dimension) or table_of(source))


def _named(table: RawTable) -> RawTable:
    table = with_names(table, KNOWN, SYNONYMS, NEEDED)
    refuse_float_ids(table)
    return table


def normalise_labels(
    table: RawTable,
    study: Study,
    item_ids: Collection[str],
    known_ids: Collection[str] | None = None,
    contents: Mapping[str, str | None] | None = None,
) -> Labels:
    """The labels in a table that is already read; parameters and errors as in :func:`read_labels`.

    The first reason that applies to a row is the one it is listed under. Of several labels by one person for one item,
    the same label is one vote; of different ones the latest stands, and where times do not tell, none.
    """
    table = _named(table)
    reserved = frozenset(item_ids)
    findings = Findings(table)
    cells = LabelCells(table, study)
    known = None if known_ids is None else frozenset(known_ids)
    _judge(cells, study, reserved, known, shown_content(table, contents), findings)
    clear = findings.clear.copy()
    usable = _usable(cells, table.rows, clear)
    settled = settle(usable)
    for position, (reason, detail) in settled.set_aside.items():
        findings.set_aside(position, reason, detail)
    not_compared = findings.listed("annotations")
    counts = {
        "received": len(table.frame),
        "usable": len(settled.votes),
        "repeat": int((settled.repeats["why"] == "repeat").sum()),
        **dict(sorted(Counter(not_compared["reason"].tolist()).items())),
    }
    of_the_set = table.frame[~outside(table.frame["item_id"], reserved)]
    return Labels(
        frame=settled.votes,
        repeats=settled.repeats,
        not_compared=not_compared,
        counts=counts,
        mapped=_spellings(cells, clear),
        digest=rows_digest(of_the_set, _IN_DIGEST) or digest_json([]),
        unlabeled=tuple(sorted(reserved - set(settled.votes["item_id"].tolist()))),
        report=(*table.report, *_remarks(cells, usable, clear)),
        file_digest=table.digest,
    )


def _judge(
    cells: LabelCells,
    study: Study,
    reserved: frozenset[str],
    known: frozenset[str] | None,
    shown: ShownContent,
    findings: Findings,
) -> None:
    """Each row by itself: the first reason against it, in the order in which they are added."""

    def unread(name: str) -> Callable[[int], str]:
        return lambda position: f"{name}: {cells.written(name).iloc[position]!r}"

    ids, statuses, flags = cells.ids, cells.statuses, cells.flags
    findings.add(Distinct(ids, blank).mask(bool), Reason.MISSING_ITEM)
    if known is not None:
        near = NearIds(known | reserved)
        unknown = outside(ids, known | reserved)
        findings.add(unknown, Reason.UNKNOWN_ITEM, lambda position: near.detail(ids.iloc[position]))
    findings.add(outside(ids, reserved), Reason.NOT_RESERVED)
    findings.add(statuses.mask(lambda reason: reason is Reason.NOT_ANNOTATED), Reason.NOT_ANNOTATED)
    findings.add(cells.people.mask(lambda person: person is None), Reason.MISSING_ANNOTATOR)
    findings.add(statuses.mask(lambda reason: reason is Reason.SKIPPED), Reason.SKIPPED)
    findings.add(statuses.mask(lambda reason: reason is Reason.NOT_APPROVED), Reason.NOT_APPROVED, unread("status"))
    versions, version = cells.written("rubric_version"), study.rubric.version.strip()
    findings.add(
        Distinct(versions, lambda cell: cell is not None and cell.strip() not in ("", version)).mask(bool),
        Reason.WRONG_RUBRIC_VERSION,
        lambda position: f"labeled under {versions.iloc[position]!r}; the study has {version!r}",
    )
    findings.add(shown.differs, Reason.ANOTHER_CONTENT, shown.detail)
    findings.add(flags["saw_scorer_output"].mask(lambda flag: flag is True), Reason.SAW_SCORER_OUTPUT)
    findings.add(flags["prefilled"].mask(lambda flag: flag is True), Reason.PREFILLED)
    for name, read in {"role": cells.roles, "repeat": cells.repeats, **flags}.items():
        findings.add(read.mask(lambda value: isinstance(value, Unread)), Reason.BAD_FIELD, unread(name))
    times = cells.times.objects()
    findings.add(
        cells.times.mask(lambda time: isinstance(time, Unread)), Reason.BAD_TIME, lambda position: str(times[position])
    )
    findings.add(cells.values.mask(lambda read: read.parsed.how == "empty"), Reason.BLANK)
    findings.add(
        cells.values.mask(lambda read: read.parsed.how == "off_scale"),
        Reason.OFF_SCALE,
        lambda position: off_scale_detail(study, cells.written("value").iloc[position]),
    )


def _usable(cells: LabelCells, rows: Sequence[int], clear: npt.NDArray[np.bool_]) -> pd.DataFrame:
    """The clear rows in the columns of ``Labels.frame``, indexed by their position in the table."""
    import pandas as pd

    independent = cells.roles.mask(lambda role: role == "annotator")
    independent &= ~cells.flags["saw_other_labels"].mask(lambda flag: flag is True)
    columns: dict[str, npt.NDArray[Any]] = {
        "item_id": cells.ids.to_numpy(dtype=object),
        "annotator_id": cells.people.objects(),
        "repeat": cells.repeats.array(lambda repeat: 0 if isinstance(repeat, Unread) else repeat, np.int64),
        "value": cells.values.array(lambda read: read.value, np.object_),
        "code": cells.values.array(lambda read: read.code, np.int64),
        "number": cells.values.array(lambda read: read.number, np.float64),
        "confidence": cells.confidences.array(lambda said: None if isinstance(said, Unread) else said, np.object_),
        "labeled_at": cells.times.objects(),
        "role": cells.roles.objects(),
        "independent": independent,
        "source_row": np.asarray(rows, dtype=np.int64),
    }
    # The dtype is given, since an inferred text column would make None into NaN.
    frame = pd.DataFrame({name: pd.Series(cell[clear], dtype=cell.dtype) for name, cell in columns.items()})
    frame.index = pd.Index(np.flatnonzero(clear))
    return frame


def _spellings(cells: LabelCells, clear: npt.NDArray[np.bool_]) -> dict[str, int]:
    """How many values and annotators of the clear rows were read under another spelling."""
    values = cells.values.array(lambda read: read.spelling, np.object_)[clear].tolist()
    written = cells.written("annotator_id")[clear].tolist()
    people = [
        f"annotator {cell!r} read as {person!r} (folded)"
        for cell, person in zip(written, cells.people.objects()[clear].tolist(), strict=True)
        if cell != person
    ]
    return spelling_counts([*values, *people])


def _remarks(cells: LabelCells, usable: pd.DataFrame, clear: npt.NDArray[np.bool_]) -> list[str]:
    """What people should know that costs no row: annotators who may be one person, confidences not read."""
    spelled: dict[str, list[str]] = {}
    for person in sorted(usable["annotator_id"].unique().tolist()):
        spelled.setdefault(fold(person), []).append(person)
    remarks = [
        f"annotators {' and '.join(map(repr, same))} differ only in case and count as {len(same)} people"
        for same in spelled.values()
        if len(same) > 1
    ]
    unread = int(cells.confidences.mask(lambda said: isinstance(said, Unread))[clear].sum())
    if unread:
        remarks.append(f"{unread} cells of confidence are none of {', '.join(CONFIDENCES)} and are not read")
    return remarks
