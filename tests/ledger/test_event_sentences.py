"""Each kind of event in words: who did what with which digests."""

from __future__ import annotations

from typing import Any

import pytest

from calib_pipeline.ledger.events import EVENT_KINDS, Event
from calib_pipeline.ledger.sentences import sentence_of

D = {name: name * 32 for name in ("aa", "bb", "cc", "dd")}
SAID: dict[str, tuple[dict[str, Any], str]] = {
    "reserved": (
        {"dimension": "tone", "population": "p", "population_digest": D["aa"], "generation": 2, "seed": 7, "size": 30}
        | {"excluded": 12, "recheck": True},
        "generation 2 for tone: 30 items of p (version aaaaaaaaaaaa), drawn with seed 7, 12 spent items left out, "
        "to measure again",
    ),
    "registered": (
        {"plan_digest": D["bb"], "scores_digest": D["cc"], "for_status": True, "role": "holdout"},
        "s is frozen: configuration dddddddddddd, its outputs cccccccccccc, plan bbbbbbbbbbbb",
    ),
    "labels_ingested": (
        {"digest": D["aa"], "rows": 60, "usable": 58},
        "labels aaaaaaaaaaaa of s arrived: 58 of 60 rows are usable",
    ),
    "read": (
        {"purpose": "ceiling"},
        "labels were read for s, to see how far people agree with each other (ceiling)",
    ),
    "opened": (
        {"purpose": "measurement", "labels_digest": D["aa"], "scores_digest": D["cc"], "plan_digest": D["bb"]},
        "labels aaaaaaaaaaaa met the outputs cccccccccccc of s: a measurement of configuration dddddddddddd under plan "
        "bbbbbbbbbbbb",
    ),
    "exported": ({"to": "A. Person"}, "labels left the pipeline, for A. Person"),
    "fitted": ({"reason": "tuned on it"}, "declared to have shaped s: tuned on it"),
    "retired": ({"reason": "old"}, "taken out of use: old"),
    "evidence": (
        {"population": "p", "asset": "human_ceiling", "digest": D["aa"], "holds": False},
        "human_ceiling of s does not hold, evidence aaaaaaaaaaaa",
    ),
    "published": (
        {"population": "p", "record_id": D["aa"], "details": {"claim": "Accurate at 1."}},
        "record aaaaaaaaaaaa of s: Accurate at 1.",
    ),
}


SAID_OF_OTHER_CONSTRUCTS = {
    "reserved": ({"from_other_constructs": {"tone": 9}}, ", 9 of them spent for tone"),
    "registered": ({"other_constructs": {"tone": "why"}}, "; it declares tone another construct: why"),
}


@pytest.mark.parametrize("kind", SAID_OF_OTHER_CONSTRUCTS)
def test_other_constructs_are_told(kind: str) -> None:
    details, said = SAID_OF_OTHER_CONSTRUCTS[kind]
    assert said in sentence_of(event(kind, SAID[kind][0] | details))


def event(kind: str, details: dict[str, Any], **fields: Any) -> Event:
    named = {"study": "s", "config_digest": D["dd"]} | fields
    return Event(1, "set", kind, named["study"], named["config_digest"], None, "a", "2026-01-01", details, "", "")


def test_every_kind_has_a_sentence() -> None:
    assert set(SAID) == set(EVENT_KINDS)


@pytest.mark.parametrize("kind", SAID)
def test_an_event_is_said_in_words(kind: str) -> None:
    details, sentence = SAID[kind]
    assert sentence_of(event(kind, details)) == sentence


@pytest.mark.parametrize(
    ("details", "ends"),
    [
        ({"plan_digest": D["bb"], "scores_digest": None, "for_status": True}, "without outputs yet, plan bbbbbbbbbbbb"),
        ({"plan_digest": D["bb"], "for_status": False}, "; it can earn no status"),
        ({"plan_digest": D["bb"], "role": "fitted"}, "; it declares that the set shaped it"),
    ],
)
def test_what_is_frozen_says_what_it_can_earn(details: dict[str, Any], ends: str) -> None:
    assert sentence_of(event("registered", details)).endswith(ends)


@pytest.mark.parametrize(
    ("fields", "whom"),
    [({"study": None}, "configuration dddddddddddd"), ({"study": None, "config_digest": None}, "every scorer")],
)
def test_a_set_shapes_whom_the_event_names(fields: dict[str, Any], whom: str) -> None:
    assert sentence_of(event("fitted", {"reason": "r"}, **fields)) == f"declared to have shaped {whom}: r"
