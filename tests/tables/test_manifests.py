"""The item manifest: ids as written, once each, in strata, with features that are numbers where all are."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from calib_pipeline.errors import InputError
from calib_pipeline.tables.item_texts import kept_copy
from calib_pipeline.tables.items import read_manifest
from calib_pipeline.tables.normalised_text import normalised_text_digest

Write = Callable[[str, str | bytes], str]


def fault(path: str) -> InputError:
    with pytest.raises(InputError) as caught:
        read_manifest(path, "p")
    return caught.value


def test_a_manifest_is_sorted_and_keeps_ids_as_written(write: Write) -> None:
    manifest = read_manifest(write("i.csv", "item_id,stratum,words\n7,b,3\n007,a,\n0100,a,2.5\n"), "p")
    assert manifest.frame["item_id"].tolist() == ["007", "0100", "7"]
    assert manifest.frame["stratum"].tolist() == ["a", "a", "b"]
    assert manifest.size == 3 and manifest.name == "p" and manifest.features == ("words",)
    assert manifest.frame["words"].dtype == "float64" and math.isnan(manifest.frame["words"].iloc[0])


def test_a_feature_with_one_word_in_it_stays_text(write: Write) -> None:
    manifest = read_manifest(write("i.csv", "item_id,words,kind\na,3,x\nb,many,\n"), "p")
    assert manifest.frame["words"].tolist() == ["3", "many"]
    assert manifest.frame["kind"].tolist() == ["x", None]


def test_what_is_optional_may_be_absent(write: Write) -> None:
    manifest = read_manifest(write("i.csv", "item_id\nb\na\n"), "p")
    assert manifest.frame.columns.tolist() == ["item_id", "stratum", "group", "content_digest"]
    assert manifest.frame["stratum"].tolist() == ["all", "all"]
    assert manifest.frame["group"].tolist() == [None, None]
    assert manifest.report == ("no column stratum: one stratum, 'all'",)


def test_an_item_without_a_group_stands_alone(write: Write) -> None:
    manifest = read_manifest(write("i.csv", "item_id,stratum,group\na,s,g\nb,t,\nc,s,g\n"), "p")
    assert manifest.frame["group"].tolist() == ["g", None, "g"]


def test_the_digest_is_that_of_the_items_and_not_of_the_file(write: Write) -> None:
    one = read_manifest(write("a.csv", "item_id,words\na,1\nb,2\n"), "p")
    other = read_manifest(write("b.jsonl", '{"item_id": "b", "words": 2}\n{"item_id": "a", "words": 1}\n'), "q")
    assert one.digest == other.digest and one.file_digest != other.file_digest
    changed = read_manifest(write("c.csv", "item_id,words\na,1\nb,3\n"), "p")
    assert changed.digest != one.digest


def test_column_names_are_read_in_any_case(write: Write) -> None:
    manifest = read_manifest(write("i.csv", "Item_ID,Stratum\na,s\n"), "p")
    assert manifest.report == ("column Item_ID read as item_id", "column Stratum read as stratum")


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("id,stratum\na,s\n", "", "the column 'item_id' is missing"),
        ("item_id\na\nb\na\n", ":4, column item_id", "'a' stands already in line 2"),
        ("item_id,x\na,1\n ,2\n,3\n", ":3, column item_id", "the item_id is empty (and in 1 other rows)"),
        ("item_id,stratum\na,s\nb,\n", ":3, column stratum", "the stratum is empty"),
        (
            "item_id,stratum,group\na,s,g\nb,t,g\n",
            ":3, column group",
            "'g' is in stratum 't' here and in 's' in line 2",
        ),
        ("item_id\n7.0\n100.0\n", ", column item_id", "every item_id ends in .0"),
        ("Item_Id,ITEM_ID\na,b\n", "", "could each be 'item_id'"),
    ],
)
def test_a_manifest_that_means_nothing_is_refused_with_its_row(write: Write, text: str, where: str, words: str) -> None:
    path = write("i.csv", text)
    error = fault(path)
    assert error.where == path + where and words in str(error)


def test_a_similar_column_is_suggested(write: Write) -> None:
    assert "did you mean the column 'item_ids'?" in str(fault(write("i.csv", "item_ids\na\n"))).lower()


def test_ids_of_which_only_some_end_in_point_zero_are_ids(write: Write) -> None:
    assert read_manifest(write("i.csv", "item_id\n1.0\n1.1\n"), "p").size == 2


def test_an_unreadable_manifest_is_an_input_error(write: Write) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_manifest("absent/items.csv", "p")


TEXTS = [
    {"item_id": "a", "text": "Good day, sir."},
    {"item_id": "b", "text": "good  DAY sir"},
    {"item_id": "c", "text": "?!"},
]
"""Two copies of a text, and one that holds nothing that could be compared."""


def json_lines(rows: list[dict[str, str]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_texts_are_read_as_digests_and_no_feature(write: Write) -> None:
    manifest = read_manifest(write("i.jsonl", json_lines(TEXTS)), "p")
    assert manifest.features == ()
    assert "text" not in manifest.frame.columns and "sir" not in manifest.frame.to_csv()
    a, b, c = manifest.frame.to_dict("records")
    assert a["text_digest"] == b["text_digest"] == normalised_text_digest("good day sir")
    assert c["text_digest"] is None
    assert [row["content_digest"] for row in (a, b, c)] == [
        hashlib.sha256(row["text"].encode()).hexdigest() for row in TEXTS
    ]
    assert "column text: read as text_digest and content_digest, and not kept" in manifest.report


def test_digests_that_are_brought_stand(write: Write) -> None:
    rows = [{"item_id": "a", "text_digest": "t", "content_digest": "c"}]
    row = read_manifest(write("i.jsonl", json_lines(rows)), "p").frame.iloc[0]
    assert (row["text_digest"], row["content_digest"]) == ("t", "c")
    row = read_manifest(write("j.jsonl", json_lines([{**rows[0], "text": "x"}])), "p").frame.iloc[0]
    assert (row["text_digest"], row["content_digest"]) == (normalised_text_digest("x"), "c")


def test_what_is_kept_of_a_table_has_no_texts_and_reads_as_the_same_manifest(write: Write) -> None:
    path = write("i.jsonl", json_lines([{**row, "words": "", "kind": "x"} for row in TEXTS]))
    copy = kept_copy(path)
    assert b"sir" not in copy
    kept, whole = read_manifest(write("copy", copy), "p"), read_manifest(path, "p")
    assert kept.digest == whole.digest
    plain = write("p.csv", "item_id,words\na,1\n")
    assert kept_copy(plain) == Path(plain).read_bytes()


def test_a_manifest_without_texts_is_what_it_was(write: Write) -> None:
    """Its digest stands in the ledgers and records that there are."""
    manifest = read_manifest(write("i.csv", "item_id,words,content_digest\na,1,x\nb,2,y\n"), "p")
    assert manifest.digest == "6ebb2166263e084652e3f2215dab29102b2d3d3ee54bd9966db99fe949be114c"
