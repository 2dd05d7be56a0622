"""One person, one item, one vote: how several labels by the same person are settled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calib_pipeline.tables.reasons import Reason

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Settled:
    """Which usable rows are votes, further labels of the same person, or set aside.

    Attributes
    ----------
    votes
        One row a person, role and item.
    repeats
        Further labels by the same person, with ``why``.
    set_aside
        Position (index label) of each row that is no vote and no declared repeat, with its reason and a detail.
    """

    votes: pd.DataFrame
    repeats: pd.DataFrame
    set_aside: dict[int, tuple[Reason, str]]


def settle(usable: pd.DataFrame) -> Settled:
    """Settle the usable rows of a label sheet.

    Rows of ``repeat`` 1 (the default) are candidates for the vote. The same label several times is one vote, the first
    of them; of different labels the latest stands. Where times are missing, or the latest is shared by different
    labels, none stands. Rows of ``repeat`` 2 and more are repeats.

    Parameters
    ----------
    usable
        Columns ``item_id``, ``annotator_id``, ``role``, ``repeat``, ``value``, ``labeled_at``, ``source_row``; the
        index is the row's position in the table.
    """
    first = usable["repeat"] == 1
    key = ["item_id", "annotator_id", "role"]
    several = usable.duplicated([*key, "repeat"], keep=False)
    keep = first & ~several
    why = dict.fromkeys(usable.index[~first & ~several].tolist(), "repeat")
    number: dict[int, int] = {}
    set_aside: dict[int, tuple[Reason, str]] = {}
    kept = keep.to_numpy().copy()
    place = {label: position for position, label in enumerate(usable.index.tolist())}
    for rows in _grouped(usable[several], key):
        outcome = _one_vote(rows) if rows[0].repeat == 1 else _one_repeat(rows)
        if outcome.stands is not None:
            if rows[0].repeat == 1:
                kept[place[outcome.stands.index]] = True
            else:
                why[outcome.stands.index] = "repeat"
        for row, reason, detail, again in outcome.others:
            set_aside[row.index] = (reason, detail)
            if again:
                why[row.index] = reason.value
                number[row.index] = again
    repeats = usable.loc[list(why)].assign(why=np.array(list(why.values()), dtype=object))
    if number:
        repeats.loc[list(number), "repeat"] = list(number.values())
    order = ["item_id", "annotator_id", "role", "repeat", "source_row"]
    return Settled(
        usable[kept].sort_values(order, ignore_index=True), repeats.sort_values(order, ignore_index=True), set_aside
    )


@dataclass(frozen=True, slots=True)
class _Row:
    index: int
    repeat: int
    value: str
    time: str | None
    source_row: int


@dataclass(frozen=True)
class _Outcome:
    """The row that stands, and for every other one its reason, a detail and its number among repeats (0: none)."""

    stands: _Row | None
    others: list[tuple[_Row, Reason, str, int]]


def _grouped(frame: pd.DataFrame, key: list[str]) -> list[list[_Row]]:
    groups: dict[tuple[object, ...], list[_Row]] = {}
    columns = [frame[name].tolist() for name in (*key, "repeat")]
    rows = zip(
        frame.index.tolist(),
        frame["repeat"].tolist(),
        frame["value"].tolist(),
        frame["labeled_at"].tolist(),
        frame["source_row"].tolist(),
        strict=True,
    )
    for row, which in zip(rows, zip(*columns, strict=True), strict=True):
        groups.setdefault(which, []).append(_Row(*row))
    return list(groups.values())


def _one_vote(rows: list[_Row]) -> _Outcome:
    if len({row.value for row in rows}) == 1:
        return _same_label(rows)
    dated = [row for row in rows if row.time is not None]
    latest = max((row.time for row in dated if row.time is not None), default=None)
    newest = [row for row in rows if row.time == latest]
    if len(dated) < len(rows) or len({row.value for row in newest}) > 1:
        others = [
            (
                row,
                Reason.SELF_CONFLICT_UNDATED,
                f"the same person gave different labels and the times do not tell which is the latest: {_listed(rows)}",
                number,
            )
            for number, row in enumerate(sorted(rows, key=lambda row: row.source_row), start=1)
        ]
        return _Outcome(None, others)
    stands = min(newest, key=lambda row: row.source_row)
    rest = sorted((row for row in rows if row is not stands), key=lambda row: (row.time or "", row.source_row))
    others = []
    for number, row in enumerate(rest, start=2):
        if row.value == stands.value:
            again = number if row.time != stands.time else 0
            others.append((row, Reason.DUPLICATE, f"the same label as in row {stands.source_row}", again))
        else:
            detail = f"the same person said {stands.value!r} later, in row {stands.source_row}"
            others.append((row, Reason.SELF_CONFLICT, detail, number))
    return _Outcome(stands, others)


def _same_label(rows: list[_Row]) -> _Outcome:
    ordered = sorted(rows, key=lambda row: (row.time is None, row.time or "", row.source_row))
    stands, seen, others = ordered[0], {ordered[0].time}, []
    for row in ordered[1:]:
        # Two rows of one time, or without one, may be a row exported twice: no evidence of a second look.
        again = len(seen) + 1 if row.time is not None and row.time not in seen and None not in seen else 0
        seen.add(row.time)
        others.append((row, Reason.DUPLICATE, f"the same label as in row {stands.source_row}", again))
    return _Outcome(stands, others)


def _one_repeat(rows: list[_Row]) -> _Outcome:
    """A repeat number that stands twice: once if the label is the same, else undecided."""
    if len({row.value for row in rows}) == 1:
        stands = min(rows, key=lambda row: row.source_row)
        return _Outcome(
            stands,
            [
                (row, Reason.DUPLICATE, f"the same repeat as in row {stands.source_row}", 0)
                for row in rows
                if row is not stands
            ],
        )
    detail = f"repeat {rows[0].repeat} stands several times with different labels: {_listed(rows)}"
    return _Outcome(None, [(row, Reason.SELF_CONFLICT_UNDATED, detail, 0) for row in rows])


def _listed(rows: list[_Row]) -> str:
    return ", ".join(f"{row.value!r} in row {row.source_row}" for row in sorted(rows, key=lambda row: row.source_row))
