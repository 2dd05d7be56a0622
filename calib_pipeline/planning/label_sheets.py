"""Who labels which item, and the blind sheet of each annotator: the item, its text, and room for a label."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from calib_pipeline.errors import InputError
from calib_pipeline.sampling import keyed_hash

BLANK_COLUMNS = ("value", "confidence", "note", "labeled_at")
"""What an annotator fills in."""


@dataclass(frozen=True)
class Task:
    """An item to label: how many people are still needed, and who has labeled it already."""

    item_id: str
    people: int
    labeled_by: frozenset[str] = frozenset()


def assigned(tasks: Collection[Task], annotators: Sequence[str], seed: int) -> dict[str, list[str]]:
    """The items of each annotator, in an order of their own.

    Items for several people are given out first, each to those with the fewest items so far, ties by keyed hash, so
    that loads are even and pairs of people mixed. Nobody gets an item that they have labeled. The order on a sheet is
    that of keyed hashes of annotator and item, so it says nothing of strata, of the draw, or of who else labels what.

    Raises
    ------
    InputError
        When an item needs more people than there are who have not labeled it.
    """
    given: dict[str, list[str]] = {name: [] for name in annotators}
    for task in sorted(tasks, key=lambda one: (-one.people, keyed_hash(seed, one.item_id), one.item_id)):
        free = [name for name in annotators if name not in task.labeled_by]
        if len(free) < task.people:
            already = f", and {', '.join(sorted(task.labeled_by))} labeled it already" if task.labeled_by else ""
            raise InputError(
                f"the item {task.item_id!r} needs {task.people} people{already}; {len(free)} of those named are left",
                where="--annotators",
                expected=f"at least {task.people} people who have not labeled it",
            )
        free.sort(key=lambda name: (len(given[name]), _order(seed, name, task.item_id)))
        for name in free[: task.people]:
            given[name].append(task.item_id)
    return {name: sorted(items, key=lambda item: _order(seed, name, item)) for name, items in given.items()}


def sheet_csv(
    annotator: str,
    items: Sequence[str],
    texts: Mapping[str, str] | None,
    *,
    rubric_version: str,
    values: str,
) -> bytes:
    """A sheet as CSV, in the columns that label sheets are read by, and ``allowed``, which nothing reads.

    Parameters
    ----------
    texts
        The text of each item; None where none is known, and then the sheet has no such column.
    values
        What may stand in ``value``, for people.
    """
    shown = () if texts is None else ("text",)
    written = io.StringIO(newline="")
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(("item_id", *shown, "allowed", *BLANK_COLUMNS, "annotator_id", "rubric_version"))
    for item in items:
        text = () if texts is None else (texts[item],)
        writer.writerow((item, *text, values, *("" for _ in BLANK_COLUMNS), annotator, rubric_version))
    return written.getvalue().encode()


def _order(seed: int, annotator: str, item: str) -> tuple[int, str]:
    return keyed_hash(seed, f"{annotator}\n{item}"), item
