"""Every received label row is a vote, a repeat, or listed under one reason; the counts add up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calib_pipeline.errors import InputError, ReviewUnavailable
from calib_pipeline.studies.study import Study
from calib_pipeline.tables.annotations import Labels, normalise_labels, read_labels
from calib_pipeline.tables.reading import raw_table
from calib_pipeline.tables.reasons import Reason

Write = Callable[[str, str | bytes], str]

TIME = "2026-04-02T10:00:00Z"


def labels(study: Study, rows: list[dict[str, Any]], items: set[str] | None = None, known: Any = None) -> Labels:
    full = [{"item_id": "a", "annotator_id": "ana", "value": "pass", **row} for row in rows]
    return normalise_labels(raw_table(pd.DataFrame(full), "labels"), study, items or {"a", "b", "c"}, known)


def reasons(result: Labels) -> list[str]:
    return [str(reason) for reason in result.not_compared["reason"]]


def adds_up(result: Labels) -> bool:
    parts = {name: count for name, count in result.counts.items() if name != "received"}
    return result.counts["received"] == sum(parts.values())


def test_a_plain_vote(study: Study) -> None:
    result = labels(study, [{"labeled_at": "2026-04-02T12:00:00+02:00", "confidence": "High"}])
    assert result.frame.iloc[0].to_dict() == {
        "item_id": "a",
        "annotator_id": "ana",
        "repeat": 1,
        "value": "pass",
        "code": 1,
        "number": pytest.approx(float("nan"), nan_ok=True),
        "confidence": "high",
        "labeled_at": "2026-04-02T10:00:00+00:00",
        "role": "annotator",
        "independent": True,
        "source_row": 1,
    }
    assert result.counts == {"received": 1, "usable": 1, "repeat": 0}
    assert result.unlabeled == ("b", "c")


@pytest.mark.parametrize(
    ("row", "reason", "detail"),
    [
        ({"item_id": ""}, Reason.MISSING_ITEM, None),
        ({"item_id": " "}, Reason.MISSING_ITEM, None),
        ({"annotator_id": ""}, Reason.MISSING_ANNOTATOR, None),
        ({"value": ""}, Reason.BLANK, None),
        ({"value": "  "}, Reason.BLANK, None),
        ({"value": "maybe"}, Reason.OFF_SCALE, "'maybe' is none of fail, pass"),
        ({"value": "=1+1"}, Reason.OFF_SCALE, "'=1+1' is none of fail, pass"),
        ({"status": "skipped", "value": ""}, Reason.SKIPPED, None),
        ({"status": "skipped", "value": "fail"}, Reason.SKIPPED, None),
        ({"status": "pending"}, Reason.NOT_APPROVED, "status: 'pending'"),
        ({"status": "Rejected"}, Reason.NOT_APPROVED, "status: 'Rejected'"),
        ({"status": "done"}, Reason.NOT_APPROVED, "status: 'done'"),
        ({"rubric_version": "2"}, Reason.WRONG_RUBRIC_VERSION, "labeled under '2'; the study has '1'"),
        ({"rubric_version": "1.0"}, Reason.WRONG_RUBRIC_VERSION, "labeled under '1.0'; the study has '1'"),
        ({"saw_scorer_output": "true"}, Reason.SAW_SCORER_OUTPUT, None),
        ({"saw_scorer_output": True}, Reason.SAW_SCORER_OUTPUT, None),
        ({"prefilled": "Yes"}, Reason.PREFILLED, None),
        ({"prefilled": "perhaps"}, Reason.BAD_FIELD, "prefilled: 'perhaps'"),
        ({"saw_other_labels": "2"}, Reason.BAD_FIELD, "saw_other_labels: '2'"),
        ({"role": "boss"}, Reason.BAD_FIELD, "role: 'boss'"),
        ({"repeat": "0"}, Reason.BAD_FIELD, "repeat: '0'"),
        ({"repeat": "1.5"}, Reason.BAD_FIELD, "repeat: '1.5'"),
        ({"repeat": "²"}, Reason.BAD_FIELD, "repeat: '²'"),
        ({"repeat": "1e300"}, Reason.BAD_FIELD, "repeat: '1e300'"),
        ({"labeled_at": "0001-01-01T00:00:00+05:00"}, Reason.BAD_TIME, "'0001-01-01T00:00:00+05:00' is outside"),
        ({"labeled_at": "2026-04-02 10:00:00"}, Reason.BAD_TIME, "'2026-04-02 10:00:00' has no zone; write it as in"),
        ({"labeled_at": "2026-04-02"}, Reason.BAD_TIME, "'2026-04-02' has no zone"),
        ({"labeled_at": "02.04.2026"}, Reason.BAD_TIME, "'02.04.2026' is no time as in 2026-04-02T10:00:00Z"),
        ({"labeled_at": "45384.4166"}, Reason.BAD_TIME, "'45384.4166' is no time"),
    ],
)
def test_a_row_that_cannot_be_used_is_listed_with_its_reason(
    study: Study, row: dict[str, Any], reason: Reason, detail: str | None
) -> None:
    result = labels(study, [row])
    assert reasons(result) == [reason] and result.counts[reason] == 1 and adds_up(result)
    assert (result.unusable, result.relevant) == (1, 1) and result.frame.empty
    listed = result.not_compared.iloc[0]
    assert (listed["source"], listed["row"]) == ("annotations", 1)
    assert (detail is None and listed["detail"] is None) or str(listed["detail"]).startswith(str(detail))


@pytest.mark.parametrize(
    "row",
    [
        {"status": "Approved "},
        {"status": ""},
        {"rubric_version": " 1 "},
        {"rubric_version": ""},
        {"saw_scorer_output": "false"},
        {"prefilled": "0"},
        {"role": "Adjudicator"},
        {"repeat": " 1"},
        {"repeat": "1.0"},
        {"labeled_at": ""},
        {"labeled_at": "2026-04-02T10:00:00.123456+05:30"},
        {"note": "=HYPERLINK(1)"},
    ],
)
def test_what_is_declared_harmless_stays_usable(study: Study, row: dict[str, Any]) -> None:
    assert labels(study, [row]).counts["usable"] == 1


def test_rows_of_other_items_are_counted_apart_and_say_nothing_against_the_sheet(study: Study) -> None:
    result = labels(study, [{}, {"item_id": "z", "value": "junk"}], {"a"}, {"a", "z"})
    assert result.counts == {"received": 2, "usable": 1, "repeat": 0, "not_reserved": 1}
    assert (result.unusable, result.relevant) == (0, 1)


def test_an_orphan_is_named_and_the_nearest_item_beside_it(study: Study) -> None:
    rows = [{"item_id": "7.0"}, {"item_id": "A "}, {"item_id": "zzz"}, {"item_id": "7"}]
    result = labels(study, rows, {"7", "a"}, {"7", "a"})
    assert reasons(result) == ["unknown_item"] * 3
    assert result.not_compared["detail"].tolist() == [
        "ids are compared as written; '7' is an item, '7.0' is none",
        "ids are compared as written; 'a' is an item, 'A ' is none",
        None,
    ]
    assert result.unlabeled == ("a",) and result.unusable == 3


def test_numbers_are_never_matched_as_numbers(study: Study) -> None:
    result = labels(study, [{"item_id": "007", "value": "pass"}, {"item_id": "7", "value": "fail"}], {"7", "007"})
    assert dict(zip(result.frame["item_id"], result.frame["value"], strict=True)) == {"007": "pass", "7": "fail"}


def test_the_same_label_twice_is_one_vote(study: Study) -> None:
    result = labels(study, [{}, {}])
    assert result.counts == {"received": 2, "usable": 1, "repeat": 0, "duplicate": 1}
    assert result.repeats.empty and result.unusable == 0


def test_the_same_label_at_another_time_is_a_second_look(study: Study) -> None:
    result = labels(study, [{"labeled_at": TIME}, {"labeled_at": "2026-04-03T10:00:00Z"}])
    assert result.counts["usable"] == 1
    assert result.repeats[["why", "repeat", "source_row"]].values.tolist() == [["duplicate", 2, 2]]


def test_of_different_labels_the_latest_stands_in_any_order_of_rows_and_zones(study: Study) -> None:
    early = {"value": "fail", "labeled_at": "2026-04-02T23:00:00-05:00"}
    late = {"value": "pass", "labeled_at": "2026-04-03T06:00:00+01:00"}
    for rows in ([early, late], [late, early]):
        result = labels(study, rows)
        assert result.frame["value"].tolist() == ["pass"]
        assert result.counts["self_conflict"] == 1 and result.unusable == 0 and adds_up(result)
        assert result.repeats[["value", "why"]].values.tolist() == [["fail", "self_conflict"]]


@pytest.mark.parametrize("times", [(None, None), (TIME, None), (TIME, TIME), (TIME, "2026-04-02T12:00:00+02:00")])
def test_where_times_do_not_tell_no_label_stands(study: Study, times: tuple[str | None, str | None]) -> None:
    rows = [{"value": value, "labeled_at": time} for value, time in zip(("pass", "fail"), times, strict=True)]
    result = labels(study, rows)
    assert result.frame.empty and reasons(result) == ["self_conflict_undated"] * 2
    assert result.unusable == 2 and "a" in result.unlabeled
    assert sorted(result.repeats["value"]) == ["fail", "pass"]
    assert "'pass' in row 1, 'fail' in row 2" in str(result.not_compared["detail"].iloc[0])


def test_three_labels_by_one_person(study: Study) -> None:
    rows = [{"value": value, "labeled_at": f"2026-04-0{day}T10:00:00Z"} for day, value in ((1, "pass"), (2, "fail"))]
    result = labels(study, [*rows, {"value": "pass", "labeled_at": "2026-04-03T10:00:00Z"}])
    assert result.frame[["value", "source_row"]].values.tolist() == [["pass", 3]]
    assert result.repeats[["source_row", "why", "repeat"]].values.tolist() == [
        [1, "duplicate", 2],
        [2, "self_conflict", 3],
    ]


def test_a_declared_repeat_is_no_second_vote(study: Study) -> None:
    result = labels(study, [{"repeat": 1}, {"repeat": 2, "value": "fail"}, {"repeat": 3}])
    assert result.counts == {"received": 3, "usable": 1, "repeat": 2}
    assert result.repeats[["repeat", "value", "why"]].values.tolist() == [[2, "fail", "repeat"], [3, "pass", "repeat"]]
    assert result.not_compared.empty


def test_a_repeat_without_its_first_label_is_no_vote(study: Study) -> None:
    result = labels(study, [{"repeat": 2}])
    assert result.frame.empty and result.counts["repeat"] == 1 and "a" in result.unlabeled


def test_a_repeat_number_that_stands_twice(study: Study) -> None:
    same = labels(study, [{}, {"repeat": 2}, {"repeat": 2}])
    assert same.counts == {"received": 3, "usable": 1, "repeat": 1, "duplicate": 1}
    other = labels(study, [{}, {"repeat": 2}, {"repeat": 2, "value": "fail"}])
    assert other.counts == {"received": 3, "usable": 1, "repeat": 0, "self_conflict_undated": 2}


def test_two_people_are_two_votes_and_an_adjudicator_is_no_annotator(study: Study) -> None:
    rows = [
        {},
        {"annotator_id": "bo", "value": "fail"},
        {"annotator_id": "ana", "role": "adjudicator", "value": "fail"},
    ]
    result = labels(study, rows)
    assert result.counts["usable"] == 3
    assert result.frame[["annotator_id", "role", "independent"]].values.tolist() == [
        ["ana", "adjudicator", False],
        ["ana", "annotator", True],
        ["bo", "annotator", True],
    ]


def test_one_person_under_two_spellings_is_no_second_human(study: Study) -> None:
    result = labels(study, [{"annotator_id": "Zoé"}, {"annotator_id": " Zoe\u0301\u00a0"}])
    assert result.frame["annotator_id"].tolist() == ["Zoé"] and result.counts["duplicate"] == 1
    assert result.mapped == {"annotator ' Zoe\u0301\\xa0' read as 'Zoé' (folded)": 1}


def test_annotators_that_differ_in_case_are_two_and_it_is_told(study: Study) -> None:
    result = labels(study, [{"annotator_id": "aB3"}, {"annotator_id": "Ab3"}])
    assert result.counts["usable"] == 2
    assert result.report == ("annotators 'Ab3' and 'aB3' differ only in case and count as 2 people",)


def test_a_label_given_after_seeing_others_is_not_independent(study: Study) -> None:
    result = labels(study, [{"saw_other_labels": "yes"}])
    assert result.counts["usable"] == 1 and result.frame["independent"].tolist() == [False]


def test_every_changed_spelling_is_counted(study: Study) -> None:
    values = ["Pass", "PASS ", "pass", "1", "true", "0", "Pass"]
    result = labels(study, [{"annotator_id": str(n), "value": value} for n, value in enumerate(values)])
    assert result.mapped == {
        "'0' read as 'fail' (alias)": 1,
        "'1' read as 'pass' (alias)": 1,
        "'PASS ' read as 'pass' (folded)": 1,
        "'Pass' read as 'pass' (folded)": 2,
        "'true' read as 'pass' (alias)": 1,
    }


def test_a_confidence_that_is_not_read_is_told_and_costs_no_label(study: Study) -> None:
    result = labels(study, [{"confidence": "85 %"}])
    assert result.counts["usable"] == 1 and result.frame["confidence"].tolist() == [None]
    assert result.report == ("1 cells of confidence are none of high, medium, low and are not read",)


def test_the_digest_is_that_of_the_sets_own_rows(study: Study) -> None:
    rows = [{"item_id": "a"}, {"item_id": "b", "value": "fail"}]
    one = labels(study, rows, {"a", "b"})
    assert labels(study, rows[::-1], {"a", "b"}).digest == one.digest
    assert labels(study, [*rows, {"item_id": "z"}], {"a", "b"}).digest == one.digest
    assert labels(study, [{"note": "x", **row} for row in rows], {"a", "b"}).digest == one.digest
    assert labels(study, [{**rows[0], "value": "fail"}, rows[1]], {"a", "b"}).digest != one.digest
    assert labels(study, [{**rows[0], "status": "rejected"}, rows[1]], {"a", "b"}).digest != one.digest
    assert labels(study, [*rows, {"item_id": "a", "annotator_id": "bo"}], {"a", "b"}).digest != one.digest


def test_continuous_labels_have_a_number_and_no_code(make_study: Callable[..., Study]) -> None:
    study = make_study({"kind": "continuous", "range": [-100, 100]}, {"at_least": "0"})
    values = ["-3.50", "1e2", "101", "n/a", "1,5"]
    result = labels(study, [{"annotator_id": str(n), "value": value} for n, value in enumerate(values)])
    assert result.frame[["value", "code", "number"]].values.tolist() == [["-3.5", -1, -3.5], ["100.0", -1, 100.0]]
    assert result.not_compared["detail"].tolist() == [
        "'101' is outside -100 to 100",
        "'n/a' is no number",
        "'1,5' is no number",
    ]


def test_a_float_that_spells_a_level_is_not_guessed_at_but_the_alias_is_named(
    make_study: Callable[..., Study],
) -> None:
    study = make_study({"kind": "ordinal", "levels": ["1", "2", "3"]}, ["3"])
    result = labels(study, [{"value": 2.0}])
    assert result.not_compared["detail"].tolist() == [
        "'2.0' is none of 1, 2, 3; declare the alias '2.0' if it means '2'"
    ]


def test_header_synonyms_are_read_and_told(study: Study, write: Write) -> None:
    path = write("l.csv", f"item_id,Annotator,label,created_at\na,ana,pass,{TIME}\n")
    result = read_labels(path, study, {"a"})
    assert result.counts["usable"] == 1
    assert result.report == (
        "column Annotator read as annotator_id",
        "column label read as value",
        "column created_at read as labeled_at",
    )


def test_a_synonym_never_replaces_the_column_itself(study: Study, write: Write) -> None:
    result = read_labels(write("l.csv", "item_id,annotator_id,value,label\na,ana,pass,fail\n"), study, {"a"})
    assert result.frame["value"].tolist() == ["pass"] and result.report == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("item_id,value\na,pass\n", "the column 'annotator_id' is missing"),
        ("annotator_id,value\na,pass\n", "the column 'item_id' is missing"),
        ("item_id,annotator_id,verdict\na,ana,pass\n", "the column 'value' is missing"),
        ("item_id,annotator_id,label,LABEL\na,ana,pass,fail\n", "could each be 'value'"),
        ("item_id,annotator_id,value\n7.0,ana,pass\n", "every item_id ends in .0"),
        ("", "the file is empty"),
    ],
)
def test_a_sheet_that_is_no_sheet_is_an_input_error(study: Study, write: Write, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_labels(write("l.csv", text), study, {"a"})


@pytest.mark.parametrize("url", ["absent.csv", ".", "nosuchscheme://host/labels.csv"])
def test_a_source_that_cannot_be_opened_is_no_review(study: Study, url: str) -> None:
    with pytest.raises(ReviewUnavailable, match="REVIEW_UNAVAILABLE"):
        read_labels(url, study, {"a"})


rows_of_any_kind = st.fixed_dictionaries(
    {
        "item_id": st.sampled_from(["a", "b", "z", "", "unknown"]),
        "annotator_id": st.sampled_from(["ana", "bo", ""]),
        "value": st.sampled_from(["pass", "fail", "Pass", "maybe", ""]),
        "labeled_at": st.sampled_from([TIME, "2026-04-03T10:00:00Z", "", "yesterday"]),
        "status": st.sampled_from(["approved", "skipped", "pending", ""]),
        "repeat": st.sampled_from(["1", "2", "", "x"]),
        "role": st.sampled_from(["annotator", "adjudicator"]),
    }
)


@settings(deadline=None)
@given(st.lists(rows_of_any_kind, min_size=1, max_size=12))
def test_counts_add_up_and_no_person_votes_twice_whatever_comes(study: Study, rows: list[dict[str, str]]) -> None:
    result = normalise_labels(raw_table(pd.DataFrame(rows), "l"), study, {"a", "b"}, {"a", "b", "z"})
    assert adds_up(result)
    votes = result.frame[["item_id", "annotator_id", "role"]]
    assert not votes.duplicated().any() and set(votes["item_id"]) <= {"a", "b"}
    used = [*result.frame["source_row"], *result.repeats.loc[result.repeats["why"] == "repeat", "source_row"]]
    assert sorted([*used, *result.not_compared["row"]]) == list(range(1, len(rows) + 1))
    shuffled = normalise_labels(raw_table(pd.DataFrame(rows[::-1]), "l"), study, {"a", "b"}, {"a", "b", "z"})
    assert shuffled.counts == result.counts and shuffled.digest == result.digest


def test_a_label_of_another_text_is_no_label_of_the_item(study: Study) -> None:
    rows = [
        {"content_digest": "AB12 "},
        {"item_id": "b", "content_digest": "ffff"},
        {"item_id": "c", "content_digest": "ffff"},
        {"annotator_id": "ben", "content_digest": None},
    ]
    table = raw_table(
        pd.DataFrame([{"item_id": "a", "annotator_id": "ana", "value": "pass", **row} for row in rows]), "l"
    )
    contents = {"a": "ab12", "b": "cd34", "c": None}
    result = normalise_labels(table, study, set(contents), contents, contents)
    assert sorted(zip(result.frame["item_id"], result.frame["annotator_id"], strict=True)) == [
        ("a", "ana"),
        ("a", "ben"),
        ("c", "ana"),
    ]
    [row] = result.not_compared.to_dict("records")
    assert (row["item_id"], row["reason"]) == ("b", "another_content")
    assert row["detail"] == "shown content ffff; the manifest has cd34 for this item"
    assert result.unusable == 1 and adds_up(result)
