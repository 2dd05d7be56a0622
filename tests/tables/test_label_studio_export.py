"""A Label Studio export: skips, blanks and tasks without a label stay what they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from calib_pipeline.errors import InputError
from calib_pipeline.studies.study import Study
from calib_pipeline.tables.annotations import Labels, read_labels

Write = Callable[[str, str | bytes], str]
Read = Callable[..., Labels]


def choice(value: Any, name: str = "v", kind: str = "choices") -> dict[str, Any]:
    return {"from_name": name, "type": kind, "value": {kind: value}}


def annotation(*results: dict[str, Any], by: Any = 1, **more: Any) -> dict[str, Any]:
    return {
        "completed_by": by,
        "result": list(results),
        "was_cancelled": False,
        "created_at": "2026-04-02T10:00:00Z",
        **more,
    }


@pytest.fixture
def read(study: Study, write: Write) -> Read:
    """Reads an export of tasks, each a list of annotations, for the items a, b, c."""

    def read_export(*tasks: list[dict[str, Any]], scale: Study = study, data: Any = None) -> Labels:
        export = [
            {"id": number, "data": data or {"item_id": "abc"[number]}, "annotations": annotations}
            for number, annotations in enumerate(tasks)
        ]
        return read_labels(write("export.json", json.dumps(export)), scale, {"a", "b", "c"})

    return read_export


def test_a_choice_is_a_label(read: Read) -> None:
    result = read([annotation(choice(["pass"]), by={"id": 4, "email": "ana@example.org"})])
    assert result.frame[["annotator_id", "value", "labeled_at"]].values.tolist() == [
        ["ana@example.org", "pass", "2026-04-02T10:00:00+00:00"]
    ]


def test_skipped_blank_and_not_annotated_are_three_things(read: Read) -> None:
    cancelled = annotation(choice(["fail"]), was_cancelled=True)
    result = read([cancelled], [annotation()], [])
    assert result.counts == {
        "received": 3,
        "usable": 0,
        "repeat": 0,
        "blank": 1,
        "not_annotated": 1,
        "skipped": 1,
    }
    assert (result.unusable, result.relevant) == (2, 2)


def test_a_label_that_began_as_a_prediction_is_a_prefilled_one(read: Read) -> None:
    assert read([annotation(choice(["pass"]), parent_prediction=9)]).counts["prefilled"] == 1


def test_a_label_that_began_as_anothers_is_not_independent(read: Read) -> None:
    assert read([annotation(choice(["pass"]), parent_annotation=9)]).frame["independent"].tolist() == [False]


def test_ratings_and_numbers_are_text_of_the_scale(read: Read, make_study: Callable[..., Study]) -> None:
    five = make_study({"kind": "ordinal", "levels": ["1", "2", "3", "4", "5"]}, ["5"])
    result = read([annotation(choice(4, kind="rating"))], [annotation(choice(5, kind="number"))], scale=five)
    assert result.frame["code"].tolist() == [3, 4]


def test_several_choices_at_once_are_no_value_of_the_scale(read: Read) -> None:
    assert read([annotation(choice(["pass", "fail"]))]).counts["off_scale"] == 1


def test_of_several_controls_the_one_named_as_the_dimension_is_the_label(read: Read) -> None:
    both = annotation(choice(["x"], name="other"), choice(["fail"], name="quality"))
    assert read([both]).frame["value"].tolist() == ["fail"]


@pytest.mark.parametrize(
    ("task", "data", "words"),
    [
        ([annotation(choice(["x"], name="one"), choice(["y"], name="two"))], None, r"several results \(one, two\)"),
        ([annotation(choice(["pass"]))], {"text": "no id"}, "names no item_id"),
    ],
)
def test_what_cannot_be_told_apart_is_refused_with_its_task(
    read: Read, task: list[dict[str, Any]], data: Any, words: str
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read(task, data=data)
    assert str(caught.value.where).endswith("export.json, task 1")


def test_a_list_of_plain_rows_is_no_export(write: Write, study: Study) -> None:
    rows = [{"item_id": "a", "annotator_id": "ana", "value": "pass"}]
    assert read_labels(write("rows.json", json.dumps(rows)), study, {"a"}).counts["usable"] == 1
