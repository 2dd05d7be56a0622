"""Digests name the instrument and the plan: what is material changes them, what is not does not."""

from __future__ import annotations

from typing import Any

import pytest

from calib_pipeline.studies.digests import (
    changed_parts,
    configuration_digest,
    configuration_parts,
    plan_digest,
    plan_parts,
)
from calib_pipeline.studies.study import Study

RUBRIC = "Does the text entail the hypothesis?\n"


def study(declaration: dict[str, Any], **sections: Any) -> Study:
    return Study.model_validate({**declaration, **sections})


@pytest.mark.parametrize(
    ("section", "change", "part"),
    [
        ("scorer", {"config": {"threshold": 0.7}}, "config"),
        ("scorer", {"config": {"threshold": 0.6, "model": "m-2"}}, "model"),
        ("scorer", {"config": {"threshold": 0.6, "prompt": "Is it?"}}, "prompt"),
        ("scorer", {"config": {"threshold": 0.6, "temperature": 0.2}}, "temperature"),
        ("scorer", {"config": {"threshold": 0.6, "output_fields": ["verdict"]}}, "output_fields"),
        ("scorer", {"config": {"threshold": 0.6, "evidence_selection": "last turn"}}, "evidence_selection"),
        ("scorer", {"transform": {"cut": [0.5]}}, "transform"),
        ("scorer", {"id": "other"}, "scorer"),
        ("rubric", {"version": "2"}, "rubric"),
        ("scale", {"positive": "yes"}, "categories"),
    ],
)
def test_each_material_part_changes_the_configuration_and_is_named(
    declaration: dict[str, Any], section: str, change: dict[str, Any], part: str
) -> None:
    before = study(declaration)
    sections = {section: {**declaration[section], **change}}
    if section == "scale":
        sections["decision"] = {**declaration["decision"], "accept": ["yes"]}
    now = study(declaration, **sections)
    assert configuration_digest(before, RUBRIC) != configuration_digest(now, RUBRIC)
    assert changed_parts(configuration_parts(before, RUBRIC), configuration_parts(now, RUBRIC)) == [part]


def test_the_rubric_text_and_the_score_rows_are_material(declaration: dict[str, Any]) -> None:
    one = study(declaration)
    assert configuration_digest(one, RUBRIC) != configuration_digest(one, RUBRIC + "Answer yes or no.")
    assert configuration_digest(one, RUBRIC) != configuration_digest(one, RUBRIC, "abc")


def test_line_ends_of_the_rubric_are_not_material(declaration: dict[str, Any]) -> None:
    one = study(declaration)
    assert configuration_digest(one, "a\nb\n") == configuration_digest(one, "a\r\nb")
    assert configuration_digest(one, "a\nb\n") != configuration_digest(one, "a b")


@pytest.mark.parametrize(
    "section", ["holdout", "annotation", "ceiling", "baselines", "agreement", "decision", "bootstrap", "reference"]
)
def test_each_section_of_the_plan_is_in_its_digest_and_not_in_the_configuration(
    declaration: dict[str, Any], section: str
) -> None:
    change: dict[str, Any] = {
        "holdout": {"size": 301},
        "annotation": {"min_coverage": 0.95},
        "ceiling": {"floor": 0.2},
        "baselines": {"heuristics": [{"column": "words"}]},
        "agreement": {"min_pairs": 101},
        "decision": {"budget": 0.4},
        "bootstrap": {"seed": 1},
        "reference": {"consensus": "single"},
    }[section]
    before = study(declaration)
    now = study(declaration, **{section: {**declaration.get(section, {}), **change}})
    assert plan_digest(before) != plan_digest(now)
    assert changed_parts(plan_parts(before), plan_parts(now)) == [section]
    assert configuration_digest(before, RUBRIC) == configuration_digest(now, RUBRIC)


def test_writing_a_default_out_changes_no_digest(declaration: dict[str, Any]) -> None:
    written = study(
        declaration,
        agreement={"min_pairs": 100, "headline": "cohen_kappa", "min_scored": 0.9},
        bootstrap={"resamples": 2000, "seed": 0, "level": 0.95},
    )
    assert plan_digest(study(declaration)) == plan_digest(written)


@pytest.mark.parametrize("limit", ["max_measurements", "max_age_days"])
def test_a_limit_of_the_set_is_part_of_the_plan_where_it_is_declared_and_nowhere_else(
    declaration: dict[str, Any], limit: str
) -> None:
    """A plan without limits keeps the digest that it had before there were any."""
    without = study(declaration)
    assert set(plan_parts(without)["holdout"]) == {"role", "size", "seed", "min_per_stratum", "prior_access"}
    limited = study(declaration, holdout={**declaration["holdout"], limit: 3})
    assert plan_parts(limited)["holdout"][limit] == 3
    assert plan_digest(limited) != plan_digest(without)


def test_another_construct_is_part_of_the_plan_where_it_is_declared_and_nowhere_else(
    declaration: dict[str, Any],
) -> None:
    why = {"tone": "raters of the tone never saw the source"}
    said = study(declaration, holdout={**declaration["holdout"], "other_constructs": why})
    assert plan_parts(said)["holdout"]["other_constructs"] == why
    assert "other_constructs" not in plan_parts(study(declaration))["holdout"]
    assert plan_digest(said) != plan_digest(study(declaration))
    assert configuration_digest(said, RUBRIC) == configuration_digest(study(declaration), RUBRIC)


def test_numbers_written_as_4_and_4_0_are_one_plan(declaration: dict[str, Any]) -> None:
    cost = {
        **declaration["decision"],
        "cost_false_accept": {"value": 4.0, "because": "a wrong answer reaches a customer"},
    }
    assert plan_digest(study(declaration)) == plan_digest(study(declaration, decision=cost))


def test_where_the_tables_are_and_what_the_study_is_called_are_no_part_of_either(declaration: dict[str, Any]) -> None:
    before = study(declaration)
    now = study(declaration, study="renamed", data={**declaration["data"], "annotations": "elsewhere.csv"})
    assert plan_digest(before) == plan_digest(now)
    assert configuration_digest(before, RUBRIC) == configuration_digest(now, RUBRIC)


def test_a_panel_is_part_of_the_plan_where_there_is_one(declaration: dict[str, Any]) -> None:
    alone, member = study(declaration), {"id": "second", "kind": "table", "config": {"model": "m"}}
    beside = study(declaration, panel=[member])
    assert "panel" not in plan_parts(alone) and plan_digest(alone) != plan_digest(beside)
    assert configuration_digest(alone, RUBRIC) == configuration_digest(beside, RUBRIC)
    other = study(declaration, panel=[{**member, "config": {"model": "n"}}])
    assert changed_parts(plan_parts(beside), plan_parts(other)) == ["panel"]
