"""What two copies of a text may differ in, and what makes them two."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_pipeline.tables.normalised_text import normalised_text, normalised_text_digest

TEXT = "It's a good day, isn't it?"


@pytest.mark.parametrize(
    "copy",
    [
        "IT'S A GOOD DAY, ISN'T IT?",
        "  It\u2019s a\tgood\n\nday \u2014 isn\u2019t it!!",
        "It\uff07s a \uff47ood day; isn't it",
        "It's a go\u200bod d\u00aday, isn't it?",
        "\ufeffIt's\u00a0a good_day (isn't it)",
        *(f"It's a g{ignored}ood day, isn't it?" for ignored in "\ufe0f\u034f\u3164\u115f\u17b4\u180b\U000e0100\u200d"),
    ],
)
def test_copies_have_one_digest(copy: str) -> None:
    assert normalised_text_digest(copy) == normalised_text_digest(TEXT)


@pytest.mark.parametrize(
    "other", ["It's a good day, is it?", "It's a god day, isn't it?", "", "It's a good day+ isn't it?"]
)
def test_other_texts_have_others(other: str) -> None:
    assert normalised_text_digest(other) != normalised_text_digest(TEXT)


def test_the_recipe_is_the_documented_one() -> None:
    assert normalised_text("  Stra\u00dfe,\u2003\u210c!  1+1=2 ") == "strasse h 1+1=2"
    assert normalised_text_digest(" A, b ") == hashlib.sha256(b"a b").hexdigest()


@given(st.text())
def test_it_is_settled_after_once(text: str) -> None:
    once = normalised_text(text)
    assert normalised_text(once) == once == normalised_text(f" {text}\n!")
