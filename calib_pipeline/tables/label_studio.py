"""Label Studio's JSON export as label rows: skips stay skips, blanks stay blanks, nothing becomes a negative."""

from __future__ import annotations

from typing import Any

from calib_pipeline.errors import InputError
from calib_pipeline.tables.csv_text import Columns
from calib_pipeline.tables.json_text import cell_text, load_json
from calib_pipeline.tables.reading import RawTable, text_frame
from calib_pipeline.tables.source import Source, decoded

_COLUMNS = (
    "item_id",
    "annotator_id",
    "value",
    "status",
    "labeled_at",
    "prefilled",
    "saw_other_labels",
)


def export_table(source: Source, dimension: str) -> RawTable | None:
    """The rows of a Label Studio JSON export, or None when the file is none.

    One row an annotation: ``was_cancelled`` is a skip, an empty result a blank, and a task without annotations a row of
    status ``not_annotated``. An annotation that began as a prediction (``parent_prediction``) is a pre-filled one, one
    that began as another annotation saw that label. The time is that of creation.

    Parameters
    ----------
    source
        The file.
    dimension
        Where a task has several results, the one whose control (``from_name``) has this name is the label.

    Raises
    ------
    InputError
        When a task names no ``item_id``, or an annotation has several results and none is of the dimension.
    """
    if source.suffix != ".json":
        return None
    text, report = decoded(source)
    tasks = load_json(text, source.shown)
    if not _is_export(tasks):
        return None
    cells: Columns = {name: [] for name in _COLUMNS}
    rows: list[int] = []
    for number, task in enumerate(tasks, start=1):
        for record in _records(task, dimension, f"{source.shown}, task {number}"):
            rows.append(number)
            for name in _COLUMNS:
                cells[name].append(record.get(name))
    found = (*report, "Label Studio export; rows are counted in tasks")
    return RawTable(text_frame(cells), source.shown, source.digest, rows, found)


def _is_export(tasks: Any) -> bool:
    return (
        isinstance(tasks, list)
        and bool(tasks)
        and all(
            isinstance(task, dict) and isinstance(task.get("data"), dict) and isinstance(task.get("annotations"), list)
            for task in tasks
        )
    )


def _records(task: dict[str, Any], dimension: str, where: str) -> list[dict[str, str | None]]:
    item = cell_text(task["data"].get("item_id"))
    if item is None:
        raise InputError(
            "the task's data names no item_id",
            where=where,
            expected="'item_id' in the data of every task",
            todo="import the tasks with the item's id in their data",
        )
    if not task["annotations"]:
        return [{"item_id": item, "status": "not_annotated"}]
    return [_record(item, annotation, dimension, where) for annotation in task["annotations"]]


def _record(item: str, annotation: dict[str, Any], dimension: str, where: str) -> dict[str, str | None]:
    by = annotation.get("completed_by")
    who = (by.get("email") or by.get("id")) if isinstance(by, dict) else by
    skipped = annotation.get("was_cancelled") is True
    return {
        "item_id": item,
        "annotator_id": cell_text(who),
        "value": None if skipped else _value(annotation.get("result") or [], dimension, where),
        "status": "skipped" if skipped else "approved",
        "labeled_at": cell_text(annotation.get("created_at")),
        "prefilled": "true" if annotation.get("parent_prediction") is not None else None,
        "saw_other_labels": "true" if annotation.get("parent_annotation") is not None else None,
    }


def _value(results: list[dict[str, Any]], dimension: str, where: str) -> str | None:
    if not results:
        return None
    if len(results) > 1:
        controls = sorted({str(result.get("from_name")) for result in results})
        results = [result for result in results if result.get("from_name") == dimension]
        if len(results) != 1:
            raise InputError(
                f"the annotation has several results ({', '.join(controls)})",
                where=where,
                expected=f"one result, or one whose control is named {dimension!r} as the dimension is",
            )
    value = results[0].get("value") or {}
    for kind in ("choices", "rating", "number", "text"):
        if kind in value:
            given = value[kind]
            return cell_text(given[0] if isinstance(given, list) and len(given) == 1 else given)
    return cell_text(value)
