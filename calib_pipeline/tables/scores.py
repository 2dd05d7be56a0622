"""The scorer's outputs: scored, abstained or failed for each reserved item, never a silent gap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from calib_pipeline.digests import digest_json
from calib_pipeline.errors import InputError
from calib_pipeline.studies.scale import fold, number_of
from calib_pipeline.studies.sections import Scorer
from calib_pipeline.studies.study import Study
from calib_pipeline.tables.columns import blank, column, refuse_float_ids, with_names
from calib_pipeline.tables.distinct import Distinct, rows_digest
from calib_pipeline.tables.findings import Findings, NearIds, outside
from calib_pipeline.tables.reading import RawTable, read_table
from calib_pipeline.tables.reasons import Reason
from calib_pipeline.tables.shown_content import ShownContent, shown_content
from calib_pipeline.tables.values import spelling_counts
from calib_pipeline.tables.verdicts import Verdict, verdict

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.tables.source import Source

KNOWN = ("item_id", "scorer_id", "value", "status", "confidence", "explanation", "config_digest", "content_digest")
SYNONYMS = {"verdict": "value", "score": "value"}
NEEDED = ("item_id", "value")
_IN_DIGEST = ("item_id", "value", "status", "confidence", "explanation", "config_digest", "content_digest")


@dataclass(frozen=True)
class Scores:
    """One scorer's outputs for the reserved items, every received row accounted for.

    Attributes
    ----------
    frame
        One row a reserved item, sorted by id: ``item_id``, ``status`` (``scored``, ``abstained`` or ``error``),
        ``value`` (canonical text or None), ``code`` (-1 where there is none), ``number`` (NaN where there is none),
        ``raw`` (as written, None where the item has no row), ``reason`` (why it failed, None else), ``confidence``
        (0 to 1, NaN where not given), ``explanation``, ``source_row`` (0 where the item has no row).
    not_compared
        Rows that are no verdict, in the columns of ``Labels.not_compared`` (``annotator_id`` is None), and one row with
        ``row`` 0 for each reserved item without any.
    counts
        ``received`` (this scorer's rows) = ``scored`` + ``abstained`` + ``errored`` + ``unsupported`` + ``duplicate`` +
        rows of other items (``not_reserved``, ``unknown_item``, ``missing_item``); beside it ``missing`` (reserved
        items without a row) and ``other_scorer`` (rows of other scorers).
    mapped
        How many cells were read under another spelling, by spelling.
    rows_digest
        Digest of this scorer's rows for the reserved items as written, None where there is none.
    report
        What was detected while reading.
    file_digest
        SHA-256 of the file.
    """

    frame: pd.DataFrame
    not_compared: pd.DataFrame
    counts: dict[str, int]
    mapped: dict[str, int]
    rows_digest: str | None
    report: tuple[str, ...]
    file_digest: str


def read_scores(
    url: str | Source,
    study: Study,
    item_ids: Collection[str],
    known_ids: Collection[str] | None = None,
    scorer: Scorer | None = None,
    contents: Mapping[str, str | None] | None = None,
) -> Scores:
    """Read and normalise one scorer's outputs for the reserved items.

    Parameters
    ----------
    url
        A table: CSV, JSON Lines, JSON list or Parquet.
    study
        The study; its scale says what is a verdict.
    item_ids
        The reserved items.
    known_ids
        All items of the population; a score for any other is an orphan. None: as for labels.
    scorer
        The scorer; by default the one under calibration.
    contents
        The content digest of each item; a row whose ``content_digest`` is another one has failed. None: as for labels.

    Raises
    ------
    InputError
        When the table cannot be read, one item has different outputs of this scorer, or its rows for the set name more
        than one configuration.
    """
    return normalise_scores(score_table(url), study, item_ids, known_ids, scorer, contents)


def outputs_digest(own: Scores, panel: Mapping[str, Scores]) -> str | None:
    """The digest of all outputs that meet the labels at one opening: the scorer's rows, and those of its panel."""
    if not panel:
        return own.rows_digest
    return digest_json([own.rows_digest, {name: scores.rows_digest for name, scores in sorted(panel.items())}])


def score_table(url: str | Source) -> RawTable:
    """The table of scores as written, its columns known by their names; errors as in :func:`read_scores`."""
    return _named(read_table(url))


def _named(table: RawTable) -> RawTable:
    table = with_names(table, KNOWN, SYNONYMS, NEEDED)
    refuse_float_ids(table)
    return table


def normalise_scores(
    table: RawTable,
    study: Study,
    item_ids: Collection[str],
    known_ids: Collection[str] | None = None,
    scorer: Scorer | None = None,
    contents: Mapping[str, str | None] | None = None,
) -> Scores:
    """The outputs in a table that is already read; parameters and errors as in :func:`read_scores`.

    A declared status stands. Without one a row with a value is scored, one whose value says that the scorer abstained
    has abstained, and an empty one has failed; so has an item without a row, a value off the scale, and one that was
    given to other content than the item's.
    """
    scorer = scorer or study.scorer
    table, others, notes = _of_scorer(_named(table), study, scorer)
    reserved = frozenset(item_ids)
    findings = Findings(table)
    _place(table, reserved, None if known_ids is None else frozenset(known_ids), findings)
    of_the_set = table.frame[findings.clear]
    _refuse_several_configurations(table, of_the_set, scorer)
    _settle_duplicates(table, findings)
    outputs, mapped, remarks = _outputs(table, study, scorer, shown_content(table, contents), findings)
    missing = sorted(reserved - set(outputs["item_id"].tolist()))
    frame = _with_missing(outputs, missing)
    not_compared = _with_missing_rows(findings.listed("scores"), missing)
    tally = Counter(findings.reasons[findings.reasons != np.array(None)].tolist())
    counts = {
        "received": len(table.frame),
        "scored": int((frame["status"] == "scored").sum()),
        "abstained": tally.pop(Reason.ABSTAINED, 0),
        "errored": tally.pop(Reason.SCORER_ERROR, 0)
        + tally.pop(Reason.NO_SCORE, 0)
        + tally.pop(Reason.BAD_FIELD, 0)
        + tally.pop(Reason.ANOTHER_CONTENT, 0),
        "unsupported": tally.pop(Reason.OFF_SCALE, 0),
        **dict(sorted(tally.items())),
        "missing": len(missing),
        "other_scorer": others,
    }
    return Scores(
        frame=frame,
        not_compared=not_compared,
        counts=counts,
        mapped=mapped,
        rows_digest=rows_digest(of_the_set, _IN_DIGEST),
        report=(*table.report, *notes, *remarks),
        file_digest=table.digest,
    )


def _of_scorer(table: RawTable, study: Study, scorer: Scorer) -> tuple[RawTable, int, tuple[str, ...]]:
    """The scorer's own rows, the number of others, and what was noticed."""
    if "scorer_id" not in table.frame.columns:
        if study.panel:
            raise InputError(
                "the column 'scorer_id' is missing, and the study declares several scorers",
                where=table.url,
                expected="a scorer_id in every row",
                todo="add the column 'scorer_id'",
            )
        return table, 0, (f"no column scorer_id: every row is taken as {scorer.id!r}",)
    own = (table.frame["scorer_id"] == scorer.id).to_numpy(dtype=bool)
    rows = np.asarray(table.rows, dtype=np.int64)[own].tolist()
    notes: tuple[str, ...] = ()
    if not own.any():
        present = sorted({name for name in table.frame["scorer_id"].tolist() if name is not None})
        notes = (f"no row names the scorer {scorer.id!r}; the table has {', '.join(present[:10]) or 'none'}",)
    return replace(table, frame=table.frame[own].reset_index(drop=True), rows=rows), int((~own).sum()), notes


def _place(table: RawTable, reserved: frozenset[str], known: frozenset[str] | None, findings: Findings) -> None:
    ids = table.frame["item_id"]
    findings.add(Distinct(ids, blank).mask(bool), Reason.MISSING_ITEM)
    if known is not None:
        near = NearIds(known | reserved)
        unknown = outside(ids, known | reserved)
        findings.add(unknown, Reason.UNKNOWN_ITEM, lambda position: near.detail(ids.iloc[position]))
    findings.add(outside(ids, reserved), Reason.NOT_RESERVED)


def _refuse_several_configurations(table: RawTable, of_the_set: pd.DataFrame, scorer: Scorer) -> None:
    """Outputs of an old configuration among those of a new one are no scorer's outputs."""
    named = column(table, "config_digest")[of_the_set.index].dropna()
    if named.nunique() > 1:
        first, other = named.drop_duplicates().index[:2].tolist()
        raise InputError(
            f"the rows of {scorer.id!r} for this set name {named.nunique()} configurations: {named[first]!r} in "
            f"{table.unit} {table.rows[first]}, {named[other]!r} here",
            where=table.where(other, "config_digest"),
            expected="one configuration, the declared one",
            todo="have the items scored again whose outputs are of another configuration",
        )


def _settle_duplicates(table: RawTable, findings: Findings) -> None:
    """The same output twice counts once; different outputs for one item cannot both be the scorer's."""
    frame = table.frame[findings.clear]
    repeated = frame[frame["item_id"].duplicated(keep=False)]
    values, statuses = column(table, "value"), column(table, "status")
    first: dict[str, int] = {}
    for position, item in zip(repeated.index.tolist(), repeated["item_id"].tolist(), strict=True):
        before = first.setdefault(item, position)
        if before == position:
            continue
        said = [tuple(fold(cells.iloc[at] or "") for cells in (values, statuses)) for at in (before, position)]
        if said[0] != said[1]:
            raise InputError(
                f"the item {item!r} has a different output in {table.unit} {table.rows[before]}",
                where=table.where(position, "value"),
                expected="one output an item and scorer",
                todo="keep the output of the configuration that is declared",
            )
        findings.set_aside(position, Reason.DUPLICATE, f"the same output as in {table.unit} {table.rows[before]}")


def _outputs(
    table: RawTable, study: Study, scorer: Scorer, shown: ShownContent, findings: Findings
) -> tuple[pd.DataFrame, dict[str, int], tuple[str, ...]]:
    """One row for each reserved item that has one; rows that are no verdict get their reason."""
    import pandas as pd

    own = findings.clear.copy()
    positions = np.flatnonzero(own)
    values = column(table, "value")[own]
    said = list(zip(values.tolist(), column(table, "status")[own].tolist(), strict=True))
    judged = {pair: verdict(study, scorer, *pair) for pair in set(said)}
    verdicts = [
        Verdict("error", reason=Reason.ANOTHER_CONTENT, detail=shown.detail(position))
        if shown.differs[position]
        else judged[pair]
        for position, pair in zip(positions.tolist(), said, strict=True)
    ]
    for position, one in zip(positions.tolist(), verdicts, strict=True):
        if one.reason is not None:
            findings.set_aside(position, one.reason, one.detail)
    written = column(table, "confidence")[own].tolist()
    confidences = [_confidence(cell) for cell in written]
    columns: dict[str, list[Any]] = {
        "item_id": table.frame["item_id"][own].tolist(),
        "status": [one.status for one in verdicts],
        "value": [one.value for one in verdicts],
        "code": [one.code for one in verdicts],
        "number": [one.number for one in verdicts],
        "raw": values.tolist(),
        "reason": [str(one.reason) if one.status == "error" else None for one in verdicts],
        "confidence": [np.nan if value is None else value for value in confidences],
        "explanation": column(table, "explanation")[own].tolist(),
        "source_row": np.asarray(table.rows, dtype=np.int64)[own].tolist(),
    }
    notes = []
    if worded := sum(one.by_word for one in verdicts):
        notes.append(f"{worded} values without a status say that the scorer abstained")
    if unread := sum(cell is not None and value is None for cell, value in zip(written, confidences, strict=True)):
        notes.append(f"{unread} cells of confidence are no number from 0 to 1 and are not read")
    return pd.DataFrame(_typed(columns)), spelling_counts(one.spelling for one in verdicts), tuple(notes)


def _confidence(cell: str | None) -> float | None:
    number = None if cell is None else number_of(cell)
    return number if number is not None and 0 <= number <= 1 else None


def _typed(columns: dict[str, list[Any]]) -> dict[str, pd.Series[Any]]:
    """Columns of ``Scores.frame`` in their types: text as objects, so that an absent one is None."""
    import pandas as pd

    kinds = {"code": "int64", "number": "float64", "confidence": "float64", "source_row": "int64"}
    return {name: pd.Series(cells, dtype=kinds.get(name, object)) for name, cells in columns.items()}


def _with_missing(frame: pd.DataFrame, missing: list[str]) -> pd.DataFrame:
    """The frame with a failed row for each item that has none, sorted by item."""
    import pandas as pd

    blank: dict[str, Any] = {
        "status": "error",
        "value": None,
        "code": -1,
        "number": float("nan"),
        "raw": None,
        "reason": Reason.NO_SCORE.value,
        "confidence": float("nan"),
        "explanation": None,
        "source_row": 0,
    }
    columns = {
        name: frame[name].tolist() + (missing if name == "item_id" else [blank[name]] * len(missing))
        for name in frame.columns
    }
    return pd.DataFrame(_typed(columns)).sort_values("item_id", ignore_index=True)


def _with_missing_rows(listed: pd.DataFrame, missing: list[str]) -> pd.DataFrame:
    import pandas as pd

    if not missing:
        return listed
    absent = pd.DataFrame(
        {
            "source": "scores",
            "row": 0,
            "item_id": missing,
            "annotator_id": None,
            "value": None,
            "reason": Reason.NO_SCORE.value,
            "detail": "the table has no row for this item",
        },
        dtype=object,
    ).astype({"row": "int64"})
    return pd.concat([listed, absent], ignore_index=True)
