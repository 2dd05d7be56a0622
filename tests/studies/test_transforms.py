"""A raw number becomes a value of the scale by cut points or a straight map, and never by clamping."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter

from calib_pipeline.studies.scale import Parsed, Scale
from calib_pipeline.studies.sections import Transform
from calib_pipeline.studies.transform import transformed

FIVE = TypeAdapter(Scale).validate_python({"kind": "ordinal", "levels": ["1", "2", "3", "4", "5"]})
BINARY = TypeAdapter(Scale).validate_python({"kind": "binary", "positive": "1", "negative": "0"})
PERCENT = TypeAdapter(Scale).validate_python({"kind": "continuous", "range": [0, 100]})


def read(scale: Any, raw: str | None, **declared: Any) -> Parsed:
    return transformed(Transform.model_validate(declared), scale, raw)


@pytest.mark.parametrize(("raw", "code"), [("0.59", 0), ("0.6", 1), ("0.61", 1), ("-7", 0), ("1e9", 1)])
def test_a_score_at_the_cut_has_passed_it(raw: str, code: int) -> None:
    assert read(BINARY, raw, cut=[0.6]).code == code


def test_several_cuts_give_several_levels() -> None:
    codes = [read(FIVE, raw, cut=[-0.6, -0.2, 0.2, 0.6]).code for raw in ("-1", "-0.6", "0", "0.2", "0.6")]
    assert codes == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("raw", "level"),
    [("0", "1"), ("0.5", "3"), ("1", "5"), ("0.9", "5"), ("0.125", "2"), ("0.1249", "1"), ("0.625", "4")],
)
def test_a_straight_map_ends_at_the_nearest_level_and_halfway_at_the_upper(raw: str, level: str) -> None:
    # 0..1 maps to 1..5, so 0.125 is 1.5 and 0.625 is 3.5: halfway, which goes up.
    code = read(FIVE, raw, linear={"from": [0, 1], "to": [1, 5]}).code
    assert code is not None and FIVE.levels[code] == level


@pytest.mark.parametrize("raw", ["1.7", "-0.2", "90", "n/a"])
def test_what_the_raw_range_does_not_hold_is_off_the_scale(raw: str) -> None:
    assert read(FIVE, raw, linear={"from": [0, 1], "to": [1, 5]}).how == "off_scale"


def test_a_straight_map_may_turn_round() -> None:
    assert read(PERCENT, "0.25", linear={"from": [0, 1], "to": [100, 0]}).number == 75.0


def test_both_ends_are_met_exactly() -> None:
    for raw, end in (("-0.1", 0.0), ("0.7", 100.0)):
        assert read(PERCENT, raw, linear={"from": [-0.1, 0.7], "to": [0, 100]}).number == end


@pytest.mark.parametrize("raw", [None, "", " "])
def test_nothing_stays_nothing(raw: str | None) -> None:
    assert read(BINARY, raw, cut=[0.6]).how == "empty"
