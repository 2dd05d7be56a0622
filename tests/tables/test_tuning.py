"""The items that shaped a scorer: named by id or by content digest, in a table or in its configuration."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from calib_pipeline.errors import InputError
from calib_pipeline.tables.normalised_text import normalised_text_digest
from calib_pipeline.tables.tuning import NOTHING, read_tuning

Write = Callable[[str, str | bytes], str]

ITEMS = pd.DataFrame({"item_id": ["1", "01", "b", "c"], "content_digest": ["one", None, "bee", "sea"]})


def test_items_are_found_by_their_id_as_written_and_by_their_content(write: Write) -> None:
    tuning = read_tuning(write("t.csv", "item_id,content_digest\n01,\nelsewhere,sea\n,bee\n"))
    assert tuning.among(ITEMS) == ["01", "b", "c"]


@pytest.mark.parametrize("text", ["item_id\nb\nc\n", "Item_ID\nc\nb\n", "content_digest\nsea\nbee\n"])
def test_one_of_the_columns_is_enough(write: Write, text: str) -> None:
    assert read_tuning(write("t.csv", text)).among(ITEMS) == ["b", "c"]


def test_the_digest_is_of_the_rows_and_not_of_the_file(write: Write) -> None:
    one, other = (
        read_tuning(write(f"{name}.csv", text))
        for name, text in [("a", "item_id\nb\nc\n"), ("b", "item_id\nc\nb\nb\n")]
    )
    assert one.digest == other.digest != read_tuning(write("c.csv", "item_id\nb\n")).digest
    assert one.digest != read_tuning(write("d.csv", "content_digest\nb\nc\n")).digest
    assert NOTHING.digest is None


@pytest.mark.parametrize(
    "examples",
    [
        "b",
        ["b"],
        [{"item_id": "b", "text": "c"}],
        [{"content_digest": "bee"}],
        {"item_id": "b"},
        [["b"]],
        ["bee", 3, None],
    ],
)
def test_examples_of_the_prompt_count_too(examples: object) -> None:
    assert NOTHING.with_examples({"examples": examples}).among(ITEMS) == ["b"]


def test_a_configuration_without_examples_names_nothing() -> None:
    assert NOTHING.with_examples({"model": "b"}).among(ITEMS) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("words\n3\n", "the table names no items"),
        ("item_id,content_digest,note\na,,\n,,hm\n", ":3, column item_id: the row names no item"),
        ("item_id\n1.0\n2.0\n", "a program has read the ids as numbers"),
    ],
)
def test_what_names_no_item_is_refused(write: Write, text: str, said: str) -> None:
    with pytest.raises(InputError) as refusal:
        read_tuning(write("t.csv", text))
    assert said in str(refusal.value)


def test_a_twin_of_what_was_shown_is_found_by_its_text(write: Write) -> None:
    items = ITEMS.assign(text_digest=[normalised_text_digest(text) for text in ("one two", "three", "four", "six")])
    tuning = read_tuning(write("t.csv", 'text\n"One, two!"\nfive\n'))
    assert tuning.among(items) == ["1"]
    assert tuning.digest != read_tuning(write("u.csv", "text\nfive\n")).digest
    for examples in (
        ["THREE.", "x"],
        {"text": "three!", "label": "no"},
        [{"text_digest": normalised_text_digest("three")}],
    ):
        assert NOTHING.with_examples({"examples": examples}).among(items) == ["01"]
    assert NOTHING.with_examples({"examples": ["?!"]}).among(items.assign(text_digest=None)) == []
