"""Names and reasons are data: no statement is made of them."""

from __future__ import annotations

import pytest
from ledger_story import A, Story


@pytest.mark.parametrize(
    "text", ["'); DROP TABLE events; --", '"; DELETE FROM holdout_items; --', "%s :name ? {0} \\ ''"]
)
def test_what_looks_like_a_statement_is_kept_as_it_is(story: Story, text: str) -> None:
    story.reserve(text, [A], items=[(text, text), "i2"], dimension=text, population=text)
    story.ledger.mark_fitted(text, reason=text, studies=["a"], actor=text)
    [held] = story.ledger.sets()
    assert (held.holdout_id, held.dimension, held.population) == (text, text, text)
    assert text in {item.item_id for item in story.ledger.items(text)}
    assert story.ledger.events()[-1].actor == text
    assert story.ledger.verify() == []
