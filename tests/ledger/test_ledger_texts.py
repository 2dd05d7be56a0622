"""Names and reasons are data: no statement is made of them, and they are the same on every database."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ledger_story import A, Story, reserved

from calib_pipeline.ledger import LedgerError, SetDraw

TEXTS = [
    "'); DROP TABLE events; --",
    '"; DELETE FROM holdout_items; --',
    "%s :name ? {0} \\ ''",
    "%(name)s $1 \r\n\t ß😀",
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_looks_like_a_statement_is_kept_as_it_is(story: Story, text: str) -> None:
    story.reserve(text, [A], items=[(text, text), "i2"], dimension=text, population=text)
    story.ledger.mark_fitted(text, reason=text, studies=["a"], actor=text)
    [held] = story.ledger.sets()
    assert (held.holdout_id, held.dimension, held.population) == (text, text, text)
    assert text in {item.item_id for item in story.ledger.items(text)}
    assert story.ledger.events()[-1].actor == text
    assert story.ledger.verify() == []


def test_ids_are_told_apart_and_sorted_by_their_characters(story: Story) -> None:
    ids = ["b", "B", "ä", "a\u0308", "a", "ａ", "é", "_", "10", "9", " a", "a ", "😀", "\uffff"]
    story.reserve(registrations=[A], items=ids)
    story.reserve("other", items=["A"], dimension="tone")
    assert [item.item_id for item in story.ledger.items("s")] == ids
    story.ledger.record_export("s", "maria")
    assert list(story.ledger.spent_in("s", A)) == sorted(ids)
    for name in ("S", "s "):
        with pytest.raises(LedgerError, match="the ledger holds no set named"):
            story.ledger.items(name)
    assert story.ledger.verify() == []


def test_items_of_one_rank_stand_in_the_order_of_their_characters(story: Story) -> None:
    ids = ["b", "B", "a", "Z", "ä", "😀", "\uffff", "_"]
    items = tuple(replace(item, rank=1, stratum=stratum) for stratum in ("x", "X", "ö") for item in reserved(ids[:1]))
    items += tuple(replace(item, rank=1, stratum="all") for item in reserved(ids[1:]))
    items = tuple(replace(item, item_id=f"{item.item_id}{item.stratum}") for item in items)
    story.ledger.reserve(SetDraw("s", "faithful", "pop", "digest", 1, 7, items), [A])
    expected = sorted(items, key=lambda item: (item.stratum, item.rank, item.item_id))
    assert list(story.ledger.items("s")) == expected


@pytest.mark.parametrize("field", ["study", "config_digest", "plan_digest"])
def test_a_character_that_not_every_database_keeps_is_refused_on_all(story: Story, field: str) -> None:
    story.reserve()
    with pytest.raises(LedgerError, match=rf"{field}.* holds the character NUL, which no database keeps as text"):
        story.ledger.register("s", [replace(A, **{field: "a\0b"})])
    with pytest.raises(LedgerError, match="item_id holds the character NUL"):
        story.reserve("t", items=["i\0"], dimension="tone")
    assert [event.event for event in story.ledger.events()] == ["reserved"]


def test_such_a_character_in_a_reason_is_kept(story: Story) -> None:
    story.reserve()
    story.ledger.retire("s", "old\0")
    assert story.ledger.events()[-1].details["reason"] == "old\0"
    assert story.ledger.verify() == []
