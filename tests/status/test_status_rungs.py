"""The rungs as people see them, from made-up standings; no project is climbed."""

from __future__ import annotations

import pytest

from calib_pipeline.cell import Cell
from calib_pipeline.evidence.evidence import EvidenceRows
from calib_pipeline.schemas import GATES, RUNGS, Reason
from calib_pipeline.status.cell_status import rung_states
from calib_pipeline.status.standing import Standing, Stop, own_reasons

CELL = Cell("s", "p")
ASSETS = list(GATES)
NOTHING = EvidenceRows("none").build().rows


def standing(reached: str | None, *reasons: Reason, kind: str = "does_not_hold") -> Standing:
    """A chain that holds down to ``reached`` and stops there, for reasons or since nothing is there."""
    if reached is None:
        return Standing(CELL, dict.fromkeys(ASSETS, NOTHING), dict.fromkeys(ASSETS, ()), None)
    position = ASSETS.index(reached)
    readable = ASSETS[: position + 1] if kind == "does_not_hold" else ASSETS[:position]
    stop = Stop(kind, reached, "ceiling", "the sentence", "the next step")
    against = {asset: (reasons if asset == reached else ()) for asset in readable}
    return Standing(CELL, dict.fromkeys(readable, NOTHING), against, stop)


def reason(rung: str, sentence: str = "no") -> Reason:
    return Reason("condition", rung, sentence, "do this", "")


def states(*given, own=()):
    return {rung.rung: rung.state for rung in rung_states(standing(*given[:1], *given[1:]), tuple(own))}


def test_all_rungs_hold_where_the_chain_holds():
    assert set(states(None).values()) == {"holds"}


@pytest.mark.parametrize(
    ("asset", "rung", "expected"),
    [
        ("holdout_reservation", "holdout", "??F??"),
        ("annotations", "ceiling", "F????"),
        ("annotations", "holdout", "??F??"),
        ("human_ceiling", "ceiling", "F????"),
        ("baseline_comparators", "baseline", "HF???"),
        ("scorer_agreement", "baseline", "HF???"),
        ("scorer_agreement", "holdout", "HHF??"),
        ("scorer_agreement", "interval", "HHH?F"),
        ("threshold_check", "threshold", "HHHF?"),
        ("threshold_check", "interval", "HHHHF"),
        ("published_record", "interval", "HHHHF"),
    ],
)
def test_a_stop_leaves_what_is_below_it_unresolved(asset, rung, expected):
    letters = {"H": "holds", "F": "fails", "?": "unresolved"}
    assert states(asset, reason(rung)) == dict(zip(RUNGS, (letters[letter] for letter in expected), strict=True))


def test_two_rungs_fail_where_one_evidence_fails_both():
    found = states("scorer_agreement", reason("baseline"), reason("interval"))
    assert (found["baseline"], found["holdout"], found["interval"]) == ("fails", "unresolved", "fails")


def test_what_is_known_alone_marks_a_rung_below_the_stop():
    found = states("human_ceiling", reason("ceiling"), own=[reason("holdout", "the set is spent")])
    assert (found["ceiling"], found["baseline"], found["holdout"]) == ("fails", "unresolved", "fails")


def test_evidence_speaks_before_what_is_known_alone():
    [ceiling, *_] = rung_states(
        standing("human_ceiling", reason("ceiling", "measured")), (reason("ceiling", "counted"),)
    )
    assert ceiling.reason == "measured"


@pytest.mark.parametrize("kind", ["stale", "missing", "interrupted", "never", "unreadable"])
def test_what_may_not_be_read_resolves_nothing(kind):
    rungs = rung_states(standing("human_ceiling", kind=kind), ())
    assert {rung.state for rung in rungs} == {"unresolved"}
    assert (rungs[0].reason, rungs[0].next_step) == ("the sentence", "the next step")


def test_a_rung_that_holds_says_nothing_and_one_that_fails_says_all():
    rungs = rung_states(
        standing("threshold_check", reason("threshold", "too dear"), reason("threshold", "far too dear")), ()
    )
    assert [rung.reason for rung in rungs[:3]] == [None, None, None]
    assert (rungs[3].reason, rungs[3].next_step) == ("too dear; far too dear", "do this")
    assert (rungs[4].reason, rungs[4].next_step) == ("the threshold above it does not hold", None)


def agreement(opening: str, decided: int = 10, note: str | None = None):
    rows = EvidenceRows("scorer_agreement")
    rows.count("scored_share", 1.0, bar=0.9, n=100)
    rows.count("decided_pairs", decided, bar=60, n=100)
    rows.fact("opening", opening, note=note)
    return rows.build().rows


def test_a_set_that_was_not_opened_since_too_little_is_scored_is_not_a_holdout_that_fails():
    rows = agreement("none")
    reasons = own_reasons("scorer_agreement", GATES["scorer_agreement"].judge(rows), rows)
    assert [one.condition for one in reasons] == ["enough_pairs"]


def test_a_refused_opening_is_the_only_reason_and_the_missing_figures_are_none():
    rows = agreement("refused", decided=100, note="it was opened before")
    reasons = own_reasons("scorer_agreement", GATES["scorer_agreement"].judge(rows), rows)
    assert [(one.condition, one.rung) for one in reasons] == [("opened_as_a_measurement", "holdout")]


def test_evidence_without_any_row_still_has_its_reasons():
    reasons = own_reasons("threshold_check", GATES["threshold_check"].judge(NOTHING), NOTHING)
    assert reasons and all("the evidence has no" in one.sentence for one in reasons)
