"""The hard cases of SOURCES.md, as far as tables and declarations decide them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from calib_pipeline.errors import InputError
from calib_pipeline.studies.study import Study
from calib_pipeline.tables.annotations import Labels, read_labels
from calib_pipeline.tables.items import read_manifest
from calib_pipeline.tables.scores import read_scores

HERE = Path(__file__).parent
PASS_FAIL = {"kind": "binary", "positive": "pass", "negative": "fail"}
FIVE = {"kind": "ordinal", "levels": ["1", "2", "3", "4", "5"]}


def study(scale: dict[str, Any], accept: list[str], **sections: Any) -> Study:
    return Study.model_validate(
        {
            "study": "case",
            "dimension": "quality",
            "scale": scale,
            "rubric": {"version": "1", "text": "rubrics/quality.md"},
            "reference": {"kind": "anchor", "consensus": "majority"},
            "scorer": {"id": "judge", "kind": "table"},
            "holdout": {"role": "holdout", "size": 30, "seed": 1},
            "ceiling": {"min_items": 30, "floor": 0.1, "because": "two rubrics below this"},
            "agreement": {"min_pairs": 30},
            "decision": {
                "gates": {"what": "routes answers to review", "blocking": False, "reversible": True},
                "accept": accept,
                "cost_false_accept": {"value": 4, "because": "a wrong answer reaches a customer"},
                "cost_false_reject": {"value": 1, "because": "two minutes of a reviewer"},
            },
            "data": {"populations": ["p"], "annotations": "a.csv", "scores": "s.csv"},
            **sections,
        }
    )


def items(count: int, start: int = 0) -> set[str]:
    return {f"it-{number:03}" for number in range(start, start + count)}


def path(case: str, name: str) -> str:
    return str(HERE / case / name)


def scale_of(case: str) -> dict[str, Any]:
    declared: dict[str, Any] = json.loads((HERE / case / "scale.json").read_text(encoding="utf-8"))
    return declared


def reasons(labels: Labels) -> dict[str, int]:
    return dict(Counter(str(reason) for reason in labels.not_compared["reason"]))


def test_h01_one_class_with_many_spellings() -> None:
    declared = scale_of("H01_mixed_spelling")
    yes, no = declared["labels"]
    one = study({"kind": "binary", "positive": yes, "negative": no, "aliases": declared["aliases"]}, [yes])
    labels = read_labels(path("H01_mixed_spelling", "annotations.csv"), one, items(9, start=1))
    assert Counter(labels.frame["value"]) == {"yes": 4, "no": 4}
    assert sum(labels.mapped.values()) == 7  # all but the one cell that reads "yes" as declared
    assert labels.mapped["'no\\xa0' read as 'no' (folded)"] == 1
    assert labels.not_compared[["row", "item_id", "value", "reason", "detail"]].values.tolist() == [
        [10, "it-009", "Y", "off_scale", "'Y' is none of no, yes"]
    ]


def test_h01_without_the_declared_map_no_word_is_guessed() -> None:
    one = study({"kind": "binary", "positive": "yes", "negative": "no"}, ["yes"])
    labels = read_labels(path("H01_mixed_spelling", "annotations.csv"), one, items(9, start=1))
    assert Counter(labels.frame["value"]) == {"yes": 2, "no": 2}
    assert sorted(labels.not_compared["value"]) == ["0", "1", "FALSE", "TRUE", "Y"]


def test_h02_one_annotator_labels_an_item_twice() -> None:
    labels = read_labels(
        path("H02_same_annotator_twice", "annotations.csv"), study(PASS_FAIL, ["pass"]), items(3, start=1)
    )
    assert labels.frame[["item_id", "annotator_id", "value", "source_row"]].values.tolist() == [
        ["it-001", "ana", "pass", 2],
        ["it-002", "ana", "pass", 4],  # the later one, although it stands first
        ["it-002", "bo", "fail", 6],
    ]
    assert reasons(labels) == {"duplicate": 1, "self_conflict": 1, "self_conflict_undated": 2}
    # For agreement with oneself: ana agreed on the first item, not on the second; bo's two have one time and no order.
    assert labels.repeats[["item_id", "annotator_id", "value", "why"]].values.tolist() == [
        ["it-001", "ana", "pass", "duplicate"],
        ["it-002", "ana", "fail", "self_conflict"],
        ["it-003", "bo", "pass", "self_conflict_undated"],
        ["it-003", "bo", "fail", "self_conflict_undated"],
    ]
    assert not labels.frame.duplicated(["item_id", "annotator_id"]).any()
    assert labels.unlabeled == ("it-003",)


def test_h03_skipped_blank_and_never_annotated_tasks() -> None:
    labels = read_labels(
        path("H03_label_studio_cancelled", "export.json"), study(PASS_FAIL, ["pass"]), items(4, start=1)
    )
    assert labels.frame[["item_id", "value"]].values.tolist() == [["it-001", "pass"]]
    assert reasons(labels) == {"skipped": 2, "blank": 1, "not_annotated": 1}
    assert "fail" not in [*labels.frame["value"], *labels.not_compared["value"]]
    assert labels.unlabeled == ("it-002", "it-003", "it-004")


def test_h04_orphans_are_counted_and_listed_on_both_sides() -> None:
    one = study(PASS_FAIL, ["pass"])
    known = set(read_manifest(path("H04_orphans", "population.csv"), "p").frame["item_id"])
    labels = read_labels(path("H04_orphans", "annotations.csv"), one, known, known)
    assert labels.counts == {"received": 3, "usable": 2, "repeat": 0, "unknown_item": 1}
    assert labels.not_compared["item_id"].tolist() == ["it-099"]
    assert labels.unlabeled == ("it-002", "it-003", "it-004", "it-005")
    covered = 1 - len(labels.unlabeled) / len(known)
    assert covered < one.annotation.min_coverage
    assert labels.unusable / labels.relevant > one.annotation.max_unusable

    scores = read_scores(path("H04_orphans", "scores.csv"), one, known, known)
    assert (scores.counts["scored"], scores.counts["missing"]) == (3, 3)
    assert scores.not_compared["item_id"].tolist() == ["it-002", "it-003", "it-004"]
    assert len(scores.frame) == len(known)


def test_h05_number_like_ids_stay_as_written() -> None:
    one = study(PASS_FAIL, ["pass"])
    manifest = read_manifest(path("H05_number_like_ids", "population.csv"), "p")
    assert manifest.frame["item_id"].tolist() == ["007", "0100", "7"]
    known = set(manifest.frame["item_id"])
    labels = read_labels(path("H05_number_like_ids", "annotations.csv"), one, known, known)
    assert dict(zip(labels.frame["item_id"], labels.frame["value"], strict=True)) == {
        "007": "pass",
        "7": "fail",
        "0100": "pass",
    }
    with pytest.raises(InputError, match=r"every item_id ends in \.0, as in '7\.0'.*item_id as text"):
        read_scores(path("H05_number_like_ids", "scores.csv"), one, known, known)


def test_h06_a_spreadsheets_csv_reads_as_if_plain() -> None:
    labels = read_labels(
        path("H06_excel_bom_crlf_semicolon", "annotations.csv"), study(PASS_FAIL, ["pass"]), items(2, start=1)
    )
    assert labels.frame[["item_id", "annotator_id", "value"]].values.tolist() == [
        ["it-001", "ana", "pass"],
        ["it-002", "ana", "fail"],
    ]
    assert labels.report[:3] == ("byte order mark", "CRLF line ends", "separator semicolon")


def test_h07_order_comes_from_the_declared_scale() -> None:
    ten = study({"kind": "ordinal", "levels": scale_of("H07_ordinal_strings")["labels"]}, ["10"])
    labels = read_labels(path("H07_ordinal_strings", "annotations.csv"), ten, items(6))
    code = dict(zip(labels.frame["value"], labels.frame["code"], strict=True))
    assert code["10"] > code["9"] > code["2"] > code["1"]
    assert labels.counts["usable"] == 12

    words = study({"kind": "ordinal", "levels": ["low", "medium", "high"]}, ["high"])
    labels = read_labels(path("H07_ordinal_strings", "words.csv"), words, items(6))
    code = dict(zip(labels.frame["value"], labels.frame["code"], strict=True))
    assert (code["low"], code["medium"], code["high"]) == (0, 1, 2)


@pytest.mark.parametrize("statistic", ["quadratic_kappa", "krippendorff_alpha", "spearman"])
def test_h07_an_ordinal_statistic_without_a_declared_order_is_refused(statistic: str) -> None:
    with pytest.raises(ValidationError, match="no meaning on a scale of kind categorical"):
        study(
            {"kind": "categorical", "categories": ["low", "medium", "high"]},
            ["high"],
            agreement={"min_pairs": 30, "headline": statistic},
        )


def test_h08_values_off_the_scale_are_named_and_never_clamped() -> None:
    one = study(FIVE, ["4", "5"])
    labels = read_labels(path("H08_off_scale", "annotations.csv"), one, items(5, start=1))
    assert labels.frame[["item_id", "value"]].values.tolist() == [["it-002", "4"]]
    assert labels.not_compared[["row", "value", "reason"]].values.tolist() == [
        [2, "6", "off_scale"],
        [4, "0", "off_scale"],
        [5, "n/a", "off_scale"],
        [6, "4.5", "off_scale"],
    ]
    assert labels.unusable / labels.relevant == 0.8 > one.annotation.max_unusable


def test_h08_scores_outside_the_transforms_range_are_unsupported() -> None:
    scorer = {"id": "judge", "kind": "table", "transform": {"linear": {"from": [0, 1], "to": [1, 5]}}}
    one = study(FIVE, ["4", "5"], scorer=scorer)
    scores = read_scores(path("H08_off_scale", "scores.csv"), one, items(5, start=1))
    assert scores.frame[["item_id", "status", "value"]].values.tolist() == [
        ["it-001", "error", None],
        ["it-002", "scored", "5"],
        ["it-003", "error", None],
        ["it-004", "error", None],
        ["it-005", "scored", "3"],
    ]
    assert scores.counts["unsupported"] == 3
    assert scores.not_compared["row"].tolist() == [2, 4, 5]


def test_h09_abstentions_are_counted_by_class() -> None:
    one = study(PASS_FAIL, ["pass"])
    labels = read_labels(path("H09_abstentions", "annotations.csv"), one, items(50))
    scores = read_scores(path("H09_abstentions", "scores.csv"), one, items(50))
    assert (scores.counts["scored"], scores.counts["abstained"], scores.counts["errored"]) == (40, 10, 0)
    both = labels.frame.merge(scores.frame, on="item_id", suffixes=("", "_scored"))
    abstained = both[both["status"] == "abstained"]["value"].value_counts().to_dict()
    assert abstained == {"fail": 8, "pass": 2}
    assert both["value"].value_counts().to_dict() == {"pass": 35, "fail": 15}
    assert set(scores.frame.loc[scores.frame["status"] == "abstained", "code"]) == {-1}


def test_h10_a_single_class_is_forty_of_one_and_none_of_the_other() -> None:
    one = study(PASS_FAIL, ["pass"])
    labels = read_labels(path("H10_single_class", "annotations.csv"), one, items(40))
    by_item = labels.frame.groupby("item_id")["value"].agg(["nunique", "first", "size"])
    assert by_item["first"].value_counts().to_dict() == {"pass": 40}
    assert set(by_item["nunique"]) == {1} and set(by_item["size"]) == {2}
    assert read_scores(path("H10_single_class", "scores.csv"), one, items(40)).counts["scored"] == 40


def test_h11_one_human_is_one_annotator() -> None:
    one = study(PASS_FAIL, ["pass"])
    labels = read_labels(path("H11_one_annotator", "annotations.csv"), one, items(30))
    assert labels.frame["annotator_id"].unique().tolist() == ["ana"]
    assert labels.frame.groupby("item_id").size().max() == 1 and labels.repeats.empty
    assert labels.counts["usable"] == 30
    assert read_scores(path("H11_one_annotator", "scores.csv"), one, items(30)).counts["scored"] == 30


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("zero.csv", "the file is empty (0 bytes)"),
        ("header_only.csv", "a header and no rows"),
        ("bom_only.csv", "a byte order mark and nothing else"),
        ("blank_lines.csv", "blank lines and nothing else"),
        ("empty_list.json", "the list is empty"),
        ("empty.jsonl", "blank lines and nothing else"),
    ],
)
def test_h12_an_empty_file_is_an_input_error_that_names_it_and_why(name: str, why: str) -> None:
    one = study(PASS_FAIL, ["pass"])
    file = path("H12_empty_files", name)
    for read in (
        lambda: read_labels(file, one, items(3)),
        lambda: read_scores(file, one, items(3)),
        lambda: read_manifest(file, "p"),
    ):
        with pytest.raises(InputError) as caught:
            read()
        assert str(caught.value).startswith(file) and why in str(caught.value)
