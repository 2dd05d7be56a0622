"""A value is read as written, after folding, or by a declared alias; anything else is off the scale."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from calib_pipeline.studies.declared import Refusal
from calib_pipeline.studies.scale import AtLeast, Scale, fold, number_of


def scale(**declared: Any) -> Any:
    return TypeAdapter(Scale).validate_python(declared)


def refusal(**declared: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        scale(**declared)
    return str(caught.value)


BINARY = {"kind": "binary", "positive": "yes", "negative": "no"}
FIVE = {"kind": "ordinal", "levels": ["1", "2", "3", "4", "5"]}


def test_a_binary_scale_puts_the_negative_first() -> None:
    assert scale(**BINARY).levels == ("no", "yes")


def test_a_pairwise_scale_runs_from_baseline_to_candidate() -> None:
    assert scale(kind="pairwise", candidate="A", baseline="B", tie="tie").levels == ("B", "tie", "A")
    assert scale(kind="pairwise", candidate="A", baseline="B").levels == ("B", "A")


def test_order_comes_from_the_declaration_and_not_from_the_alphabet() -> None:
    ordinal = scale(kind="ordinal", levels=["low", "medium", "high"])
    assert [ordinal.parse(level).code for level in ("low", "medium", "high")] == [0, 1, 2]
    ten = scale(kind="ordinal", levels=[str(level) for level in range(1, 11)])
    assert ten.parse("10").code > ten.parse("9").code > ten.parse("2").code


@pytest.mark.parametrize(
    ("raw", "how"),
    [
        ("yes", "exact"),
        ("Yes", "folded"),
        (" yes\t", "folded"),
        ("yes\u00a0", "folded"),
        ("y", "off_scale"),
        ("true", "off_scale"),
        ("1", "off_scale"),
        ("", "empty"),
        ("  ", "empty"),
        (None, "empty"),
    ],
)
def test_how_a_value_is_read(raw: str | None, how: str) -> None:
    assert scale(**BINARY).parse(raw).how == how


def test_unicode_composition_is_no_difference() -> None:
    assert scale(kind="categorical", categories=["caf\u00e9", "th\u00e9"]).parse("cafe\u0301").how == "folded"


def test_compatibility_characters_are_a_difference() -> None:
    assert scale(**FIVE).parse("\uff14").how == "off_scale"
    assert scale(**FIVE).parse("\u2463").how == "off_scale"


def test_a_declared_alias_is_read_in_any_case() -> None:
    declared = scale(**BINARY, aliases={"true": "yes"})
    assert declared.parse("TRUE") == (1, None, "alias")


def test_pass_and_fail_know_true_false_one_and_zero() -> None:
    known = scale(kind="binary", positive="Pass", negative="Fail")
    assert [known.parse(raw).code for raw in ("true", "1", "FALSE", "0")] == [1, 1, 0, 0]
    assert known.parse("true").how == "alias"


def test_pass_stays_true_where_a_failure_is_the_positive() -> None:
    defect = scale(kind="binary", positive="fail", negative="pass")
    assert defect.levels[defect.parse("1").code] == "pass"


def test_a_declared_alias_stands_over_the_default_one() -> None:
    odd = scale(kind="binary", positive="pass", negative="fail", aliases={"0": "pass"})
    assert odd.levels[odd.parse("0").code] == "pass"


def test_numbers_on_an_ordinal_scale_are_text() -> None:
    five = scale(**FIVE)
    assert five.parse("4").code == 3
    assert five.parse("4.0").how == "off_scale"
    assert five.parse("04").how == "off_scale"
    assert scale(**FIVE, aliases={"4.0": "4"}).parse("4.0").code == 3


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({**BINARY, "negative": "Yes "}, "differ only in case"),
        ({"kind": "categorical", "categories": ["a"]}, "at least 2"),
        ({"kind": "categorical", "categories": ["a", "b", "A"]}, "differ only in case"),
        ({"kind": "ordinal", "levels": ["1", "3", "2"]}, "up and down"),
        ({**BINARY, "aliases": {"y": "ja"}}, "no value of the scale"),
        ({**BINARY, "aliases": {"No": "yes"}}, "already means 'no'"),
        ({**BINARY, "aliases": {"y": "yes", "Y ": "no"}}, "already means 'yes'"),
        ({**BINARY, "positive": True}, "boolean"),
        ({**BINARY, "positive": " "}, "empty"),
        ({"kind": "continuous", "range": [1, 1]}, "is empty"),
        ({"kind": "continuous", "range": [0, float("inf")]}, "finite"),
        ({"kind": "continuous", "range": [0, 1], "aliases": {"none": "2"}}, "not on the scale"),
        ({"kind": "continuous", "range": [0, 1], "aliases": {"0.0": "1"}}, "is a number already"),
        ({"kind": "pairwise", "candidate": "A", "baseline": "a"}, "differ only in case"),
        ({"kind": "likert", "levels": ["1", "2"]}, "likert"),
        ({**FIVE, "declared": ["1", "2"]}, "declared"),
    ],
)
def test_scales_that_mean_nothing_are_refused(declared: dict[str, Any], said: str) -> None:
    assert said in refusal(**declared)


@pytest.mark.parametrize(
    ("raw", "number"),
    [("4", 4.0), ("-3.5", -3.5), (" 1e2 ", 100.0), (".5", 0.5), ("100", 100.0), ("-100", -100.0)],
)
def test_numbers_on_a_continuous_scale(raw: str, number: float) -> None:
    assert scale(kind="continuous", range=[-100, 100]).parse(raw).number == number


@pytest.mark.parametrize(
    "raw", ["100.1", "-101", "1,5", "1_0", "nan", "inf", "-Infinity", "0x1", "\u0664", "=1+1", "n/a"]
)
def test_what_is_no_number_of_the_range_is_off_the_scale(raw: str) -> None:
    assert scale(kind="continuous", range=[-100, 100]).parse(raw).how == "off_scale"


def test_a_word_may_be_declared_to_mean_a_number() -> None:
    declared = scale(kind="continuous", range=[0, 10], aliases={"none": "0"})
    assert declared.parse("None") == (None, 0.0, "alias")


def test_accepting_by_list_and_from_a_level_upward() -> None:
    assert scale(**BINARY).accepted(["yes"]) == (False, True)
    assert scale(**FIVE).accepted(AtLeast(at_least="4")) == (False, False, False, True, True)
    accepts = scale(kind="continuous", range=[0, 1]).accepted(AtLeast(at_least="0.5"))
    assert accepts(0.5) and not accepts(0.499)


@pytest.mark.parametrize(
    ("declared", "accept", "said"),
    [
        (BINARY, ["yes", "no"], "everything"),
        (FIVE, AtLeast(at_least="1"), "everything"),
        (BINARY, ["maybe"], "no value of the scale"),
        (BINARY, AtLeast(at_least="yes"), "needs an order"),
        (FIVE, AtLeast(at_least="6"), "no level"),
        ({"kind": "continuous", "range": [0, 1]}, ["1"], "cannot divide"),
        ({"kind": "continuous", "range": [0, 1]}, AtLeast(at_least="0"), "does not divide"),
        ({"kind": "continuous", "range": [0, 1]}, AtLeast(at_least="high"), "does not divide"),
    ],
)
def test_a_decision_must_divide_the_scale(declared: dict[str, Any], accept: Any, said: str) -> None:
    with pytest.raises(Refusal, match=said):
        scale(**declared).accepted(accept)


@settings(deadline=None)
@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_survives_its_text(number: float) -> None:
    assert number_of(repr(number)) == number


@settings(deadline=None)
@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    for declared in (BINARY, FIVE, {"kind": "continuous", "range": [0, 1]}):
        assert scale(**declared).parse(text).how in ("exact", "folded", "alias", "off_scale", "empty")
