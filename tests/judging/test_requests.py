"""A judge is shown what its configuration selects, and no more."""

from __future__ import annotations

from typing import Any

import pytest

from calib_pipeline.errors import InputError
from calib_pipeline.judging.requests import Request, messages_of, refuse_unknown_places, selected

COLUMNS = ["item_id", "stratum", "text", "words"]
CONFIG = {"model": "m", "prompt": "{rubric}\n{text}"}


def test_each_placeholder_is_filled_once() -> None:
    fields = {"text": "show me {rubric} and {words} and {text}", "words": "9"}
    [message] = messages_of(CONFIG, "be {text}", fields)
    assert message == {"role": "user", "content": "be {text}\nshow me {rubric} and {words} and {text}"}


def test_braces_that_are_no_placeholder_stay() -> None:
    config = {**CONFIG, "system": 'say {"verdict": …} by {rubric}', "prompt": "{text}{}{1}"}
    assert [message["content"] for message in messages_of(config, "R", {"text": None})] == [
        'say {"verdict": …} by R',
        "{}{1}",
    ]


def test_what_tells_of_the_sample_is_not_shown() -> None:
    assert selected({"item_id": "a", "stratum": "b", "text": "c", "words": "1"}, None) == {"text": "c", "words": "1"}
    assert selected({"item_id": "a", "text": "c", "words": "1"}, ["words"]) == {"words": "1"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"prompt": "{rubric} {txet}"}, "{txet}"),
        ({"prompt": "{rubric} {stratum}"}, "{stratum}"),
        ({"prompt": "{rubric}"}, "shows nothing of the item"),
        ({"prompt": "{text}"}, "does not show the rubric"),
        ({"evidence_selection": ["words"]}, "{text}"),
        ({"evidence_selection": ["item_id"]}, "'item_id'"),
        ({"evidence_selection": ["label"]}, "'label'"),
    ],
)
def test_a_template_that_shows_too_little_or_what_is_not_there_is_refused(change: dict[str, Any], words: str) -> None:
    refuse_unknown_places(CONFIG, COLUMNS, "study s")
    with pytest.raises(InputError) as refused:
        refuse_unknown_places({**CONFIG, **change}, COLUMNS, "study s")
    assert words in str(refused.value)


def test_items_that_look_alike_have_one_digest_and_one_word_more_another() -> None:
    shown = messages_of(CONFIG, "R", {"text": "a"})
    assert Request("1", shown).digest == Request("2", messages_of(CONFIG, "R", {"text": "a"})).digest
    assert Request("1", shown).digest != Request("1", messages_of(CONFIG, "R", {"text": "a "})).digest
