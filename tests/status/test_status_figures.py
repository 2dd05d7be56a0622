"""Figures in words, the headline beside people and comparators, and the drawings of the board."""

from __future__ import annotations

from itertools import pairwise

import pytest

from calib_pipeline.board.drawing import axis, ticks
from calib_pipeline.evidence.scorer_agreement import LABELED
from calib_pipeline.status.comparison import comparison_of
from calib_pipeline.status.figures import NO_CEILING, Figure, count_words, headline_of, interval_words


def row(name, value=None, **more):
    return {"name": name, "value": value, **more} if value is not None else {"name": name, **more}


def kappa(name, scope, value=None, **more):
    return row(name, value, scope=scope, statistic="cohen_kappa", **more)


EVIDENCE = {
    "human_ceiling": [
        kappa("ceiling", "people", 0.7, low=0.6, high=0.8),
        kappa("human_agreement", "one other label", 0.7, low=0.6, high=0.8),
        kappa("human_agreement", "the consensus of the others", 0.8, low=0.7, high=0.9),
    ],
    "baseline_comparators": [
        kappa("comparator", "constant majority", 0.0, low=0.0, high=0.0),
        kappa("comparator", "heuristic words", 0.2, low=0.1, high=0.3),
        kappa("comparator", "heuristic commas", note="undefined: a single value appears throughout"),
    ],
    "scorer_agreement": [
        row("prevalence", 0.25),
        *(row("confusion", count, scope=cell) for cell, count in (("tp", 20), ("fp", 5.5), ("fn", 5), ("tn", 69.5))),
        *(row("abstained", count, scope=side) for side, count in (("accepted", 2), ("rejected", 1))),
        kappa("agreement", "decided", 0.75, low=0.6, high=0.85),
        kappa("agreement", LABELED, 0.65, low=0.5, high=0.78),
        kappa("agreement", "one other label", 0.6, low=0.45, high=0.7),
        kappa("agreement", "the consensus of the others", 0.62, low=0.47, high=0.72),
    ],
}


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        ((0.4094, 0.351, 0.4614), "0.409 [0.351, 0.461]"),
        ((0.5, None, None), "0.500 (no interval)"),
        ((0.5, 0.4, None), "0.500 (no interval)"),
        ((None, None, None), "undefined"),
        ((-1e-16, -0.0004, 0.2), "0.000 [0.000, 0.200]"),
        ((-0.0431, -0.2, 0.1), "-0.043 [-0.200, 0.100]"),
    ],
)
def test_an_interval_in_words(figure, words):
    assert interval_words(*figure) == words


@pytest.mark.parametrize(("count", "words"), [(5, "5"), (5.5, "5.5"), (1234.0, "1,234"), (None, "undefined")])
def test_a_count_in_words(count, words):
    assert count_words(count) == words


def test_an_undefined_value_is_none_and_never_a_number():
    assert Figure.of({"statistic": "cohen_kappa", "value": float("nan")}).value is None


def test_the_headline_is_read_on_all_labeled_items_beside_like_figures():
    headline = headline_of(EVIDENCE, "cohen_kappa")
    assert headline is not None
    assert headline.scorer.value == 0.65
    assert headline.people is not None and headline.people.value == 0.8
    assert headline.ceiling is not None and headline.ceiling.value == 0.7
    assert headline.best_comparator is not None and headline.best_comparator.scope == "heuristic words"
    assert headline.table_words == "prevalence 0.250; TP 20 FP 5.5 FN 5 TN 69.5; abstained 3, failed 0"


def test_people_stand_beside_the_scorer_in_the_same_comparison():
    headline = headline_of(EVIDENCE, "cohen_kappa")
    assert headline is not None
    assert headline.people_words == "0.800 [0.700, 0.900] (scorer 0.620)"
    assert headline.people_against == "people, and in brackets the scorer, each against the consensus of the others"


def test_people_stand_alone_where_the_scorer_was_not_compared_as_they_were():
    agreement = [row for row in EVIDENCE["scorer_agreement"] if row.get("scope") != "the consensus of the others"]
    headline = headline_of(EVIDENCE | {"scorer_agreement": agreement}, "cohen_kappa")
    assert headline is not None
    assert headline.people_words == "0.800 [0.700, 0.900]"
    assert headline.people_against == "people against the consensus of the others"


def test_without_a_measurement_there_is_no_headline():
    assert headline_of({"human_ceiling": EVIDENCE["human_ceiling"]}, "cohen_kappa") is None
    assert comparison_of({"human_ceiling": EVIDENCE["human_ceiling"]}) is None


def test_without_people_there_is_no_ceiling_beside_the_headline():
    headline = headline_of(EVIDENCE | {"human_ceiling": [kappa("ceiling", "people")]}, "cohen_kappa")
    assert headline is not None
    assert (headline.people, headline.ceiling) == (None, None)
    assert (headline.people_words, headline.people_against) == (NO_CEILING, None)


def test_like_stands_beside_like():
    comparison = comparison_of(EVIDENCE)
    assert comparison is not None and comparison.has_people
    assert comparison.comparators == ("constant majority", "heuristic words", "heuristic commas")
    lines = {line.against: line for line in comparison.lines}
    assert lines["one other label"].people == "0.700 [0.600, 0.800]"
    assert set(lines["one other label"].comparators) == {""}
    assert lines[f"the reference, {LABELED}"].comparators[:2] == ("0.000 [0.000, 0.000]", "0.200 [0.100, 0.300]")
    assert (lines[f"the reference, {LABELED}"].people, lines["the reference, decided"].comparators) == (
        "",
        ("", "", ""),
    )


def test_every_undefined_figure_has_its_note():
    comparison = comparison_of(EVIDENCE)
    assert comparison is not None
    assert comparison.notes == ("cohen kappa (heuristic commas): undefined: a single value appears throughout",)


@pytest.mark.parametrize("ends", [(0.0, 0.91), (-0.05, 0.4), (0.0, 0.0), (-3.2, 120.0), (0.001, 0.0012), (-1.0, 0.0)])
def test_an_axis_holds_its_numbers_and_has_round_ticks(ends):
    low, high = axis(ends)
    assert low <= ends[0] and ends[1] <= high and low < high
    marks = ticks(low, high)
    assert 2 <= len(marks) <= 12
    assert marks[0] == pytest.approx(low) and marks[-1] == pytest.approx(high)
    steps = {round(second - first, 9) for first, second in pairwise(marks)}
    assert len(steps) == 1
