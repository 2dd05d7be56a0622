"""A head that was kept elsewhere tells a ledger that was cut or written anew, with hashes that fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from ledger_story import A, B, Story

from calib_pipeline.errors import InputError
from calib_pipeline.ledger import GENESIS, Ledger
from calib_pipeline.ledger.anchors import Anchor, anchor_problems, read_anchors

FIRST = Anchor("2026-12-01T01:00:00+00:00", 2, "a" * 64)


def test_an_anchor_fits_the_ledger_that_it_was_taken_of_and_each_later_one(story: Story) -> None:
    anchors = [story.ledger.anchor()]
    story.reserve(registrations=[A])
    anchors.append(story.ledger.anchor())
    story.read()
    assert [(anchor.seq, anchor.head == GENESIS) for anchor in anchors] == [(0, True), (2, False)]
    assert anchors[1].head == story.ledger.events()[1].hash
    assert anchor_problems(anchors, story.ledger.hashes()) == []


def test_a_ledger_that_was_cut_is_found(story: Story) -> None:
    story.reserve(registrations=[A])
    anchor = story.ledger.anchor()
    hashes = story.ledger.hashes()
    del hashes[2]
    [problem] = anchor_problems([anchor], hashes)
    assert problem == (
        f"the anchor of {anchor.at} (event 2) is not in the ledger, which ends at event 1: it was cut, or is another "
        "ledger"
    )
    assert anchor_problems([anchor], {})


def test_a_whole_ledger_written_anew_is_found_though_it_verifies(story: Story, tmp_path: Path) -> None:
    story.reserve(registrations=[A])
    story.open()
    anchor = story.ledger.anchor()
    with Ledger.open(f"sqlite:///{tmp_path / 'anew.db'}") as ledger:
        anew = Story(ledger, "")
        anew.reserve(registrations=[A, B])
        anew.open()
        assert ledger.verify() == []
        [problem] = anchor_problems([anchor], ledger.hashes())
    assert "now has another hash" in problem


def test_an_anchor_is_read_from_whatever_it_was_kept_in() -> None:
    other = replace(FIRST, seq=9)
    text = f"Dear auditor,\r\n\r\n> > {FIRST.line}\r\n* {other.line}, printed by me\r\n"
    assert read_anchors(text, "mail.txt") == [FIRST, other]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no anchor stands in it"),
        ("the head is " + "a" * 64, "no anchor stands in it"),
        (f"first\n{FIRST.line[:-1]}\n", "line 2 holds 'calib-anchor' and no whole anchor"),
        (f"{FIRST.line}a\n", "line 1 holds"),
        (FIRST.line.replace("seq 2", "seq two"), "line 1 holds"),
        (FIRST.line.replace(" seq", "\nseq"), "line 1 holds"),
    ],
)
def test_a_line_that_lost_a_part_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as refusal:
        read_anchors(text, "mail.txt")
    assert "mail.txt" in str(refusal.value)
