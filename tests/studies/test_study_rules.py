"""What a study may declare, and which of its bars a status can rest on."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from calib_pipeline.studies.study import Study


def changed(declaration: dict[str, Any], **sections: Any) -> Study:
    return Study.model_validate({**declaration, **sections})


def said(declaration: dict[str, Any], **sections: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        changed(declaration, **sections)
    return str(caught.value)


ORDINAL = {
    "scale": {"kind": "ordinal", "levels": ["1", "2", "3"]},
    "reference": {"kind": "anchor", "consensus": "median"},
}
CONTINUOUS = {
    "scale": {"kind": "continuous", "range": [0, 1]},
    "reference": {"kind": "anchor", "consensus": "mean"},
}


def test_what_may_be_left_out_has_the_documented_default(declaration: dict[str, Any]) -> None:
    study = changed(declaration)
    assert (study.annotation.min_coverage, study.annotation.max_unusable) == (0.9, 0.05)
    assert (study.annotation.annotators, study.annotation.blind) == ("persons", None)
    assert (study.ceiling.min_annotators, study.agreement.min_scored) == (2, 0.9)
    assert (study.bootstrap.resamples, study.bootstrap.seed, study.bootstrap.level) == (2000, 0, 0.95)
    assert study.panel == () and study.baselines.heuristics == () and study.decision.budget is None


def test_the_default_headline_follows_the_scale(declaration: dict[str, Any]) -> None:
    assert changed(declaration).headline == "cohen_kappa"
    assert changed(declaration, **ORDINAL).headline == "quadratic_kappa"
    decision = {**declaration["decision"], "accept": {"at_least": "0.5"}}
    assert changed(declaration, **CONTINUOUS, decision=decision).headline == "within_tolerance"


@pytest.mark.parametrize("statistic", ["quadratic_kappa", "spearman", "pearson", "within_tolerance"])
def test_a_headline_must_belong_to_the_scale(declaration: dict[str, Any], statistic: str) -> None:
    assert "no meaning on a scale of kind binary" in said(
        declaration, agreement={"min_pairs": 100, "headline": statistic}
    )


@pytest.mark.parametrize("consensus", ["median", "mean"])
def test_a_consensus_must_belong_to_the_scale(declaration: dict[str, Any], consensus: str) -> None:
    assert "no meaning" in said(declaration, reference={"kind": "anchor", "consensus": consensus})


def test_a_majority_of_numbers_is_refused(declaration: dict[str, Any]) -> None:
    decision = {**declaration["decision"], "accept": {"at_least": 0.5}}
    reference = {"kind": "anchor", "consensus": "majority"}
    assert "no meaning" in said(declaration, scale=CONTINUOUS["scale"], reference=reference, decision=decision)


def test_a_coefficient_floor_must_belong_to_the_scale(declaration: dict[str, Any]) -> None:
    floor = {"statistic": "pearson", "at_least": 0.5, "convention": True, "stands_for": "the team's tolerance"}
    assert "no meaning" in said(declaration, decision={**declaration["decision"], "floor": floor})


def test_a_floor_says_what_it_stands_for(declaration: dict[str, Any]) -> None:
    floor = {"statistic": "cohen_kappa", "at_least": 0.5, "convention": True}
    assert "stands_for" in said(declaration, decision={**declaration["decision"], "floor": floor})


def test_a_proxy_says_what_it_stands_for(declaration: dict[str, Any]) -> None:
    assert "must say what it stands for" in said(declaration, reference={"kind": "proxy", "consensus": "majority"})


def test_a_budget_above_what_doing_nothing_ever_costs_is_refused(declaration: dict[str, Any]) -> None:
    # With costs 4 and 1 accepting all costs 4q and rejecting all 1 - q: the cheaper is largest, 0.8, at q = 0.2.
    assert changed(declaration, decision={**declaration["decision"], "budget": 0.8}).decision.budget == 0.8
    assert "0.81 is more than" in said(declaration, decision={**declaration["decision"], "budget": 0.81})


def test_the_whole_set_may_be_asked_for(declaration: dict[str, Any]) -> None:
    declaration["ceiling"]["min_items"] = declaration["agreement"]["min_pairs"] = 300
    assert changed(declaration).holdout.size == 300


@pytest.mark.parametrize(
    ("transform", "words"),
    [
        ({"cut": [0.2, 0.6]}, "2 cut points do not divide 2 levels"),
        ({"linear": {"from": [0, 1], "to": [0, 1]}}, "needs a scale of numbers"),
        ({}, "either cut points or a straight map"),
        ({"cut": [0.6], "linear": {"from": [0, 1], "to": [0, 1]}}, "either cut points or a straight map"),
    ],
)
def test_a_transform_must_fit_a_binary_scale(declaration: dict[str, Any], transform: Any, words: str) -> None:
    assert words in said(declaration, scorer={"id": "s", "kind": "table", "transform": transform})


@pytest.mark.parametrize(
    ("transform", "words"),
    [
        ({"cut": [0.6, 0.2]}, "do not ascend"),
        ({"linear": {"from": [0, 1], "to": [0, 3]}}, "outside the scale"),
        ({"linear": {"from": [1, 0], "to": [1, 3]}}, "raw range is empty"),
        ({"linear": {"from": [0, 1], "to": [2, 2]}}, "one value"),
    ],
)
def test_a_transform_must_fit_an_ordinal_scale(declaration: dict[str, Any], transform: Any, words: str) -> None:
    decision = {**declaration["decision"], "accept": ["3"]}
    scorer = {"id": "s", "kind": "table", "transform": transform}
    assert words in said(declaration, **ORDINAL, decision=decision, scorer=scorer)


def test_cut_points_need_an_order(declaration: dict[str, Any]) -> None:
    scorer = {"id": "s", "kind": "table", "transform": {"cut": [0.2]}}
    assert "need levels with an order" in said(
        declaration, scale={"kind": "categorical", "categories": ["0", "1"]}, scorer=scorer
    )


def test_a_panel_member_has_an_id_of_its_own_and_a_transform_that_fits(declaration: dict[str, Any]) -> None:
    twin = [{"id": "word-overlap", "kind": "table"}]
    assert "stands twice" in said(declaration, panel=twin)
    bad = [{"id": "other", "kind": "table", "transform": {"cut": [1, 2]}}]
    assert "do not divide" in said(declaration, panel=bad)


def test_a_table_scorer_needs_its_table(declaration: dict[str, Any]) -> None:
    data = {"populations": ["p"], "annotations": "a.csv"}
    assert "needs its table" in said(declaration, data=data)
    remote = {"id": "judge", "kind": "openai", "config": {"model": "m", "prompt": "{rubric} {text}"}}
    assert changed(declaration, data=data, scorer=remote).judged


@pytest.mark.parametrize(
    ("kind", "config", "lacks"),
    [
        ("openai", {"prompt": "{rubric} {text}"}, "has no model"),
        ("openai", {"model": "m"}, "has no prompt"),
        ("openai", {"model": "m", "prompt": "  "}, "has no prompt"),
        ("openai", {"model": 4, "prompt": "{text}"}, "has no model"),
        ("python", {}, "has no function"),
    ],
)
def test_a_judge_that_is_run_here_declares_what_it_takes(
    declaration: dict[str, Any], kind: str, config: dict[str, Any], lacks: str
) -> None:
    scorer = {"id": "judge", "kind": kind, "config": config}
    data = {"populations": ["p"], "annotations": "a.csv"}
    assert lacks in said(declaration, data=data, scorer=scorer)
    assert not changed(declaration, scorer=scorer).judged


@pytest.mark.parametrize("tokens", [999, 5_000_001, 0, -1])
def test_a_budget_has_its_bounds(declaration: dict[str, Any], tokens: int) -> None:
    scorer = {"id": "s", "kind": "table", "run": {"budget_tokens": tokens}}
    assert "scorer.run.budget_tokens" in said(declaration, scorer=scorer)


@pytest.mark.parametrize(
    ("section", "change"),
    [
        ("holdout", {"size": True}),
        ("holdout", {"size": 0}),
        ("holdout", {"size": "300"}),
        ("holdout", {"size": 2.5}),
        ("holdout", {"seed": -1}),
        ("ceiling", {"floor": -0.1}),
        ("ceiling", {"floor": float("nan")}),
        ("ceiling", {"because": "  "}),
        ("scorer", {"config": {"temperature": float("inf")}}),
        ("scorer", {"config": {"nested": [{"t": float("nan")}]}}),
        ("data", {"populations": []}),
        ("data", {"populations": ["a", "a"]}),
        ("data", {"populations": ["a|b"]}),
        ("data", {"populations": ["a..b"]}),
    ],
)
def test_values_out_of_their_kind_are_refused(declaration: dict[str, Any], section: str, change: Any) -> None:
    assert section in said(declaration, **{section: {**declaration[section], **change}})


@pytest.mark.parametrize("name", ["", " ", "a/b", "a|b", "..", "a..b", "-a", ".a", "a b", "ü", "a\n"])
def test_names_that_break_paths_and_partition_keys_are_refused(declaration: dict[str, Any], name: str) -> None:
    assert "study" in said(declaration, study=name)


def test_a_study_is_immutable(declaration: dict[str, Any]) -> None:
    study = changed(declaration)
    with pytest.raises(ValidationError, match="frozen"):
        study.holdout.size = 10  # type: ignore[misc]


LOOSE = [
    ("bootstrap", {"level": 0.9}, "bootstrap.level is 0.9; a status needs at least 0.95"),
    ("bootstrap", {"resamples": 500}, "bootstrap.resamples is 500; a status needs at least 2000"),
    ("ceiling", {"min_annotators": 1}, "ceiling.min_annotators is 1; a status needs at least 2"),
    ("ceiling", {"min_items": 29}, "ceiling.min_items is 29; a status needs at least 30"),
    ("agreement", {"min_pairs": 29}, "agreement.min_pairs is 29; a status needs at least 30"),
    ("agreement", {"min_scored": 0.89}, "agreement.min_scored is 0.89; a status needs at least 0.9"),
    ("annotation", {"min_coverage": 0.5}, "annotation.min_coverage is 0.5; a status needs at least 0.9"),
]


@pytest.mark.parametrize(("section", "change", "sentence"), LOOSE)
def test_each_bar_that_is_looser_than_a_status_needs_is_named(
    declaration: dict[str, Any], section: str, change: dict[str, Any], sentence: str
) -> None:
    study = changed(declaration, **{section: {**declaration.get(section, {}), **change}})
    assert study.loose_bars() == [sentence]
    assert not study.supports_status


def test_a_status_needs_a_held_out_set_and_an_anchor(declaration: dict[str, Any]) -> None:
    assert changed(declaration).supports_status
    assert not changed(declaration, holdout={**declaration["holdout"], "role": "fitted"}).supports_status
    proxy = {"kind": "proxy", "consensus": "majority", "stands_for": "a judgment of waste"}
    assert not changed(declaration, reference=proxy).supports_status


def test_the_decision_reads_levels_or_numbers(declaration: dict[str, Any]) -> None:
    binary = changed(declaration)
    assert binary.accepted_levels == (False, True) and binary.accepts_number is None
    decision = {**declaration["decision"], "accept": {"at_least": "0.5"}}
    continuous = changed(declaration, **CONTINUOUS, decision=decision)
    assert continuous.accepted_levels == ()
    assert continuous.accepts_number is not None and continuous.accepts_number(0.7)


def test_blinding_is_complete_when_all_three_were_hidden(declaration: dict[str, Any]) -> None:
    for hidden, complete in ((["output", "confidence", "difficulty"], True), (["output"], False)):
        study = changed(declaration, annotation={"blind": {"to": hidden, "by": "the tool shows the pair only"}})
        assert study.annotation.blind is not None and study.annotation.blind.complete is complete


@pytest.mark.parametrize(
    ("others", "why"),
    [
        ({"tone": "it differs"}, "is no reason"),
        ({"tone": "x x x x x x"}, "is no reason"),
        ({"tone": " "}, "the text is empty"),
        ({}, "at least 1 item"),
        ({"../tone": "raters of the tone never saw the source"}, "cannot be used"),
        ({"entailment": "raters of the tone never saw the source"}, "is this study's own dimension"),
    ],
)
def test_another_construct_needs_another_name_and_a_reason(
    declaration: dict[str, Any], others: dict[str, str], why: str
) -> None:
    declaration = {**declaration, "dimension": "entailment"}
    assert why in said(declaration, holdout={**declaration["holdout"], "other_constructs": others})
