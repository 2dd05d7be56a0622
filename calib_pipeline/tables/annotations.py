"""The label sheet: usable votes, repeats of one person, and every other row under its reason."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from calib_pipeline.digests import digest_json
from calib_pipeline.errors import ReviewUnavailable, Unreadable
from calib_pipeline.studies.scale import fold, number_of
from calib_pipeline.studies.study import Study
from calib_pipeline.tables.columns import blank, column, refuse_float_ids, truth, with_names
from calib_pipeline.tables.distinct import Distinct, rows_digest
from calib_pipeline.tables.findings import Findings, NearIds, outside
from calib_pipeline.tables.label_studio import export_table
from calib_pipeline.tables.reading import RawTable, table_of
from calib_pipeline.tables.reasons import HARMLESS, Reason
from calib_pipeline.tables.source import read_source
from calib_pipeline.tables.values import Read, off_scale_detail, spelling_counts
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
)
SYNONYMS = {"annotator": "annotator_id", "label": "value", "created_at": "labeled_at"}
NEEDED = ("item_id", "annotator_id", "value")
_IN_DIGEST = tuple(name for name in KNOWN if name != "note")
_ROLES = ("annotator", "adjudicator")
_CONFIDENCES = ("high", "medium", "low")
_FLAGS = ("saw_scorer_output", "saw_other_labels", "prefilled")
_STATUSES = {
    "approved": None,
    "skipped": Reason.SKIPPED,
    "pending": Reason.NOT_APPROVED,
    "rejected": Reason.NOT_APPROVED,
    "not_annotated": Reason.NOT_ANNOTATED,
}


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


def read_labels(url: str, study: Study, item_ids: Collection[str], known_ids: Collection[str] | None = None) -> Labels:
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

    Raises
    ------
    ReviewUnavailable
        When the source cannot be opened.
    InputError
        When it is open but no table of labels.
    """
    try:
        source = read_source(url)
    except Unreadable as error:
        raise ReviewUnavailable(error.where or url, error.what) from error
    table = export_table(source, study.dimension) or table_of(source)
    return normalise_labels(table, study, item_ids, known_ids)


def normalise_labels(
    table: RawTable, study: Study, item_ids: Collection[str], known_ids: Collection[str] | None = None
) -> Labels:
    """The labels in a table that is already read; parameters and errors as in :func:`read_labels`.

    The first reason that applies to a row is the one it is listed under. Of several labels by one person for one item,
    the same label is one vote; of different ones the latest stands, and where times do not tell, none.
    """
    table = with_names(table, KNOWN, SYNONYMS, NEEDED)
    refuse_float_ids(table)
    reserved = frozenset(item_ids)
    findings = Findings(table)
    usable, mapped, notes = _judge(
        table, study, reserved, None if known_ids is None else frozenset(known_ids), findings
    )
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
        mapped=mapped,
        digest=rows_digest(of_the_set, _IN_DIGEST) or digest_json([]),
        unlabeled=tuple(sorted(reserved - set(settled.votes["item_id"].tolist()))),
        report=(*table.report, *notes),
        file_digest=table.digest,
    )


def _judge(
    table: RawTable, study: Study, reserved: frozenset[str], known: frozenset[str] | None, findings: Findings
) -> tuple[pd.DataFrame, dict[str, int], tuple[str, ...]]:
    """Each row by itself: usable rows in the columns of ``Labels.frame``; every other row has its reason."""
    import pandas as pd

    cells = {name: column(table, name) for name in KNOWN}
    ids = cells["item_id"]
    statuses = Distinct(cells["status"], _status)
    flags = {name: Distinct(cells[name], _reads(truth)) for name in _FLAGS}
    repeats = Distinct(cells["repeat"], _reads(_repeat))
    roles = Distinct(cells["role"], _reads(_role))
    times = Distinct(cells["labeled_at"], _reads(_time))
    confidences = Distinct(cells["confidence"], _reads(_confidence))
    values = Distinct(cells["value"], lambda cell: Read.of(study, cell))
    people = Distinct(cells["annotator_id"], _person)

    def said(name: str) -> Callable[[int], str]:
        return lambda position: f"{name}: {cells[name].iloc[position]!r}"

    findings.add(Distinct(ids, blank).mask(bool), Reason.MISSING_ITEM)
    if known is not None:
        near = NearIds(known | reserved)
        unknown = outside(ids, known | reserved)
        findings.add(unknown, Reason.UNKNOWN_ITEM, lambda position: near.detail(ids.iloc[position]))
    findings.add(outside(ids, reserved), Reason.NOT_RESERVED)
    findings.add(statuses.mask(lambda reason: reason is Reason.NOT_ANNOTATED), Reason.NOT_ANNOTATED)
    findings.add(people.mask(lambda person: person is None), Reason.MISSING_ANNOTATOR)
    findings.add(statuses.mask(lambda reason: reason is Reason.SKIPPED), Reason.SKIPPED)
    findings.add(statuses.mask(lambda reason: reason is Reason.NOT_APPROVED), Reason.NOT_APPROVED, said("status"))
    version = study.rubric.version.strip()
    findings.add(
        Distinct(cells["rubric_version"], lambda cell: not blank(cell) and str(cell).strip() != version).mask(bool),
        Reason.WRONG_RUBRIC_VERSION,
        lambda position: f"labeled under {cells['rubric_version'].iloc[position]!r}; the study has {version!r}",
    )
    findings.add(flags["saw_scorer_output"].mask(lambda flag: flag is True), Reason.SAW_SCORER_OUTPUT)
    findings.add(flags["prefilled"].mask(lambda flag: flag is True), Reason.PREFILLED)
    for name, read in {"role": roles, "repeat": repeats, **flags}.items():
        findings.add(read.mask(lambda value: isinstance(value, Unread)), Reason.BAD_FIELD, said(name))
    time_of = times.objects()
    findings.add(
        times.mask(lambda value: isinstance(value, Unread)), Reason.BAD_TIME, lambda position: str(time_of[position])
    )
    findings.add(values.mask(lambda read: read.parsed.how == "empty"), Reason.BLANK)
    findings.add(
        values.mask(lambda read: read.parsed.how == "off_scale"),
        Reason.OFF_SCALE,
        lambda position: off_scale_detail(study, cells["value"].iloc[position]),
    )
    clear = findings.clear.copy()
    columns: dict[str, npt.NDArray[Any]] = {
        "item_id": ids.to_numpy(dtype=object),
        "annotator_id": people.objects(),
        "repeat": repeats.array(lambda value: value if isinstance(value, int) else 1, np.int64),
        "value": values.array(lambda read: read.value, np.object_),
        "code": values.array(lambda read: read.code, np.int64),
        "number": values.array(lambda read: read.number, np.float64),
        "confidence": confidences.array(lambda value: None if isinstance(value, Unread) else value, np.object_),
        "labeled_at": time_of,
        "role": roles.objects(),
        "independent": roles.mask(lambda role: role == "annotator")
        & ~flags["saw_other_labels"].mask(lambda flag: flag is True),
        "source_row": np.asarray(table.rows, dtype=np.int64),
    }
    # The dtype is given, since an inferred text column would make None into NaN.
    frame = pd.DataFrame({name: pd.Series(column[clear], dtype=column.dtype) for name, column in columns.items()})
    frame.index = pd.Index(np.flatnonzero(clear))
    unread = int(confidences.mask(lambda value: isinstance(value, Unread))[clear].sum())
    notes = _near_people(frame["annotator_id"].unique().tolist())
    if unread:
        notes.append(f"{unread} cells of confidence are none of {', '.join(_CONFIDENCES)} and are not read")
    spellings = values.array(lambda read: read.spelling, np.object_)[clear].tolist()
    spellings += [
        f"annotator {cell!r} read as {person!r} (folded)" if cell != person else None
        for cell, person in zip(cells["annotator_id"][clear].tolist(), frame["annotator_id"].tolist(), strict=True)
    ]
    return frame, spelling_counts(spellings), tuple(notes)


def _person(cell: str | None) -> str | None:
    """The annotator's id without surrounding space and Unicode composition; case may tell two people apart."""
    return None if cell is None or blank(cell) else unicodedata.normalize("NFC", cell.strip())


def _near_people(people: list[str]) -> list[str]:
    """A remark for annotators who may be one person, since one person is no second human."""
    spelled: dict[str, list[str]] = {}
    for person in sorted(people):
        spelled.setdefault(fold(person), []).append(person)
    return [
        f"annotators {' and '.join(map(repr, same))} differ only in case and count as {len(same)} people"
        for same in spelled.values()
        if len(same) > 1
    ]


class Unread(str):
    """What a cell says that could not be read."""


def _reads(function: Callable[[str | None], Any]) -> Callable[[str | None], Any]:
    def read(cell: str | None) -> Any:
        try:
            return function(cell)
        except ValueError as error:
            return Unread(error)

    return read


def _status(cell: str | None) -> Reason | None:
    return None if cell is None or blank(cell) else _STATUSES.get(cell.strip().casefold(), Reason.NOT_APPROVED)


def _repeat(cell: str | None) -> int:
    if cell is None or blank(cell):
        return 1
    number = number_of(cell)
    if number is None or number < 1 or number != int(number):
        raise ValueError(f"{cell!r} is none of 1, 2, 3, …")
    return int(number)


def _role(cell: str | None) -> str:
    return _one_of(cell, _ROLES) or _ROLES[0]


def _confidence(cell: str | None) -> str | None:
    return _one_of(cell, _CONFIDENCES)


def _one_of(cell: str | None, options: tuple[str, ...]) -> str | None:
    if cell is None or blank(cell):
        return None
    if cell.strip().casefold() not in options:
        raise ValueError(f"{cell!r} is none of {', '.join(options)}")
    return cell.strip().casefold()


def _time(cell: str | None) -> str | None:
    """The moment in UTC; a time without a zone could be any of a day's, so it is not read."""
    if cell is None or blank(cell):
        return None
    try:
        moment = datetime.fromisoformat(cell.strip())
    except ValueError:
        raise ValueError(f"{cell!r} is no time as in 2026-04-02T10:00:00Z") from None
    if moment.tzinfo is None:
        raise ValueError(f"{cell!r} has no zone; write it as in 2026-04-02T10:00:00Z or …+02:00")
    return moment.astimezone(UTC).isoformat()
