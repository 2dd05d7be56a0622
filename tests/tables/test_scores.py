"""Each reserved item is scored, abstained on or failed; nothing is dropped, clamped or guessed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calib_pipeline.errors import InputError
from calib_pipeline.studies.study import Study
from calib_pipeline.tables.reading import raw_table
from calib_pipeline.tables.scores import Scores, normalise_scores, read_scores

Write = Callable[[str, str | bytes], str]


def scores(study: Study, rows: list[dict[str, Any]], items: set[str] | None = None, **more: Any) -> Scores:
    full = [{"item_id": "a", "scorer_id": "judge", "value": "pass", **row} for row in rows]
    return normalise_scores(raw_table(pd.DataFrame(full), "scores"), study, items or {"a"}, **more)


def adds_up(result: Scores) -> bool:
    apart = ("received", "missing", "other_scorer")
    return result.counts["received"] == sum(count for name, count in result.counts.items() if name not in apart)


@pytest.mark.parametrize(
    ("row", "status", "reason", "counted"),
    [
        ({}, "scored", None, "scored"),
        ({"value": " Pass"}, "scored", None, "scored"),
        ({"value": "1"}, "scored", None, "scored"),
        ({"status": "Scored"}, "scored", None, "scored"),
        ({"status": "abstained", "value": ""}, "abstained", None, "abstained"),
        ({"status": "abstained", "value": "pass"}, "abstained", None, "abstained"),
        ({"status": "", "value": "abstain"}, "abstained", None, "abstained"),
        ({"value": "Cannot determine "}, "abstained", None, "abstained"),
        ({"value": "cannot_determine"}, "abstained", None, "abstained"),
        ({"value": "unsure"}, "error", "off_scale", "unsupported"),
        ({"value": "abstain", "status": "scored"}, "error", "off_scale", "unsupported"),
        ({"value": "", "status": ""}, "error", "no_score", "errored"),
        ({"value": "", "status": "scored"}, "error", "no_score", "errored"),
        ({"status": "error"}, "error", "scorer_error", "errored"),
        ({"status": "error", "value": "abstain"}, "error", "scorer_error", "errored"),
        ({"status": "timeout"}, "error", "bad_field", "errored"),
    ],
)
def test_what_one_output_means(
    study: Study, row: dict[str, Any], status: str, reason: str | None, counted: str
) -> None:
    result = scores(study, [row])
    one = result.frame.iloc[0]
    assert (one["status"], one["reason"]) == (status, reason)
    assert result.counts[counted] == 1 and adds_up(result)
    assert len(result.not_compared) == (status != "scored")
    assert (one["code"] == 1 and one["value"] == "pass") if status == "scored" else one["code"] == -1


def test_a_category_named_abstain_is_a_verdict(make_study: Callable[..., Study]) -> None:
    study = make_study({"kind": "categorical", "categories": ["pass", "fail", "abstain"]}, ["pass"])
    assert scores(study, [{"value": "abstain"}]).frame["status"].tolist() == ["scored"]


def test_an_item_without_a_row_has_failed_and_is_listed(study: Study) -> None:
    result = scores(study, [{}], {"a", "c", "b"})
    assert result.frame[["item_id", "status", "reason", "source_row"]].values.tolist() == [
        ["a", "scored", None, 1],
        ["b", "error", "no_score", 0],
        ["c", "error", "no_score", 0],
    ]
    assert result.counts["missing"] == 2 and adds_up(result)
    assert result.not_compared[["row", "item_id", "detail"]].values.tolist() == [
        [0, "b", "the table has no row for this item"],
        [0, "c", "the table has no row for this item"],
    ]


def test_rows_of_other_items_and_scorers_are_counted_apart(study: Study) -> None:
    rows = [{}, {"item_id": "z"}, {"item_id": "y"}, {"item_id": ""}, {"scorer_id": "other"}, {"scorer_id": "Judge"}]
    result = scores(study, rows, {"a"}, known_ids={"a", "z"})
    assert result.counts == {
        "received": 4,
        "scored": 1,
        "abstained": 0,
        "errored": 0,
        "unsupported": 0,
        "missing_item": 1,
        "not_reserved": 1,
        "unknown_item": 1,
        "missing": 0,
        "other_scorer": 2,
    }


def test_a_scorer_without_rows_fails_on_every_item_and_the_names_present_are_told(study: Study) -> None:
    result = scores(study, [{"scorer_id": "jugde"}])
    assert result.counts["missing"] == 1 and result.rows_digest is None
    assert result.report == ("no row names the scorer 'judge'; the table has jugde",)


def test_a_panel_member_is_read_by_its_own_id(make_study: Callable[..., Study], study: Study) -> None:
    panel = make_study(
        study.scale.model_dump(), ["pass"], panel=[{"id": "rule", "kind": "table", "transform": {"cut": [0.5]}}]
    )
    rows = [{"value": "pass"}, {"scorer_id": "rule", "value": "0.2"}]
    assert scores(panel, rows).frame["code"].tolist() == [1]
    assert scores(panel, rows, scorer=panel.panel[0]).frame["code"].tolist() == [0]


def test_without_a_scorer_column_all_rows_are_the_one_scorers(
    study: Study, make_study: Callable[..., Study], write: Write
) -> None:
    path = write("s.csv", "item_id,verdict\na,pass\n")
    result = read_scores(path, study, {"a"})
    assert result.counts["scored"] == 1
    assert result.report == ("column verdict read as value", "no column scorer_id: every row is taken as 'judge'")
    panel = make_study(study.scale.model_dump(), ["pass"], panel=[{"id": "rule", "kind": "table"}])
    with pytest.raises(InputError, match="declares several scorers"):
        read_scores(path, panel, {"a"})


def test_the_same_output_twice_counts_once(study: Study) -> None:
    result = scores(study, [{}, {"value": "Pass "}])
    assert result.counts["scored"] == 1 and result.counts["duplicate"] == 1 and adds_up(result)
    assert len(result.frame) == 1


@pytest.mark.parametrize("row", [{"value": "fail"}, {"status": "error"}, {"value": ""}])
def test_two_different_outputs_for_one_item_are_refused_with_both_rows(study: Study, row: dict[str, Any]) -> None:
    rows = [{"status": ""}, {"status": "", **row}]
    with pytest.raises(InputError) as caught:
        scores(study, rows)
    assert str(caught.value).startswith("scores, row 2, column value: the item 'a' has a different output in row 1")


def test_different_outputs_for_an_item_that_is_not_reserved_do_not_matter(study: Study) -> None:
    result = scores(study, [{}, {"item_id": "z"}, {"item_id": "z", "value": "fail"}], {"a"}, known_ids={"a", "z"})
    assert result.counts["not_reserved"] == 2 and adds_up(result)


@pytest.mark.parametrize(("written", "read"), [("0.25", 0.25), ("1", 1.0), ("1.2", None), ("high", None), ("", None)])
def test_confidence_is_a_share_or_nothing(study: Study, written: str, read: float | None) -> None:
    result = scores(study, [{"confidence": written}])
    confidence = result.frame["confidence"].iloc[0]
    assert math.isnan(confidence) if read is None else confidence == read
    assert bool(result.report) == (read is None and written != "")


def test_a_transform_reads_raw_numbers(make_study: Callable[..., Study]) -> None:
    scorer = {"id": "judge", "kind": "table", "transform": {"linear": {"from": [0, 1], "to": [1, 5]}}}
    study = make_study({"kind": "ordinal", "levels": ["1", "2", "3", "4", "5"]}, ["5"], scorer=scorer)
    raw = {"a": "0.5", "b": "1.7", "c": "-0.2", "d": "abc", "e": "abstain"}
    result = scores(study, [{"item_id": item, "value": value} for item, value in raw.items()], set(raw))
    assert result.frame["value"].tolist() == ["3", None, None, None, None]
    assert result.frame["status"].tolist() == ["scored", "error", "error", "error", "abstained"]
    assert result.not_compared["detail"].tolist() == [
        "'1.7' is outside the transform's raw range 0 to 1",
        "'-0.2' is outside the transform's raw range 0 to 1",
        "'abc' is no number, and the transform needs one",
        None,
    ]
    assert result.mapped == {}


def test_the_digest_is_that_of_this_scorers_rows_of_the_set(study: Study) -> None:
    rows = [{"item_id": "a"}, {"item_id": "b", "value": "fail"}]
    one = scores(study, rows, {"a", "b"})
    assert one.rows_digest is not None
    more = [*rows, {"item_id": "z"}, {"item_id": "a", "scorer_id": "other"}]
    assert scores(study, more[::-1], {"a", "b"}).rows_digest == one.rows_digest
    assert scores(study, [rows[0], {**rows[1], "value": "pass"}], {"a", "b"}).rows_digest != one.rows_digest
    assert scores(study, rows[:1], {"a", "b"}).rows_digest != one.rows_digest


def test_number_like_ids_are_refused(study: Study) -> None:
    with pytest.raises(InputError, match=r"every item_id ends in \.0"):
        scores(study, [{"item_id": 7.0}], {"7"})


def test_a_missing_table_of_scores_is_an_input_error(study: Study) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_scores("absent.csv", study, {"a"})


outputs = st.fixed_dictionaries(
    {
        "item_id": st.sampled_from(["a", "b", "z", "", "unknown"]),
        "scorer_id": st.sampled_from(["judge", "other"]),
        "value": st.sampled_from(["pass", "fail", "abstain", "maybe", ""]),
        "status": st.sampled_from(["scored", "abstained", "error", "", "x"]),
    }
)


@settings(deadline=None)
@given(st.lists(outputs, min_size=1, max_size=10, unique_by=lambda row: (row["item_id"], row["scorer_id"])))
def test_counts_add_up_and_every_item_has_one_row_whatever_comes(study: Study, rows: list[dict[str, str]]) -> None:
    result = normalise_scores(raw_table(pd.DataFrame(rows), "s"), study, {"a", "b"}, {"a", "b", "z"})
    assert adds_up(result) and result.frame["item_id"].tolist() == ["a", "b"]
    assert result.counts["scored"] + len(result.not_compared) == result.counts["received"] + result.counts["missing"]


def test_an_output_on_another_text_is_a_failure(study: Study) -> None:
    rows = [
        {"content_digest": "ab12"},
        {"item_id": "b", "content_digest": "ffff"},
        {"item_id": "c", "content_digest": ""},
    ]
    result = scores(study, rows, {"a", "b", "c"}, contents={"a": "ab12", "b": "cd34", "c": "ef56"})
    assert result.frame["status"].tolist() == ["scored", "error", "scored"]
    assert result.frame["reason"].tolist() == [None, "another_content", None]
    assert result.frame["value"].tolist()[1] is None and result.counts["errored"] == 1
    [row] = result.not_compared.to_dict("records")
    assert row["detail"] == "shown content ffff; the manifest has cd34 for this item"
    assert adds_up(result)


def test_outputs_of_an_old_configuration_among_new_ones_are_refused(study: Study) -> None:
    rows = [{"config_digest": "new"}, {"item_id": "b", "config_digest": "old"}, {"item_id": "c"}]
    with pytest.raises(InputError) as refused:
        scores(study, rows, {"a", "b", "c"})
    said = str(refused.value)
    assert "name 2 configurations: 'new' in row 1, 'old' here" in said and "row 2, column config_digest" in said
    assert scores(study, rows, {"a", "c"}).counts["scored"] == 2
    others = [*rows[:1], {"item_id": "b", "scorer_id": "other", "config_digest": "old"}]
    assert scores(study, others, {"a", "b"}).counts["other_scorer"] == 1
