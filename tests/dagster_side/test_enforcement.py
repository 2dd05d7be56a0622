"""A rung that does not hold stops what lies below it, in the same run and in every later one."""

from __future__ import annotations

import dagster as dg
import pytest
from answers_project import write_project, write_study, write_tables

from calib_pipeline.assets import CHAIN

NAMES = [asset.key.to_user_string() for asset in CHAIN]


def test_a_stopped_run_and_a_later_run_of_the_rung_below(fresh):
    write_tables(fresh.root, "spring", second_person=False)

    result = fresh.run(NAMES)
    assert not result.success
    assert fresh.materialized() == ["holdout_reservation", "annotations", "human_ceiling"]
    verdicts = {check.asset_key.to_user_string(): check for check in result.get_asset_check_evaluations()}
    assert [verdicts[name].passed for name in fresh.materialized()] == [True, True, False]
    sentence = " named items have 2 independent annotators; 60 are needed"
    assert sentence in verdicts["human_ceiling"].description
    assert fresh.tags()["calib/status"] == "stopped"
    assert fresh.tags()["calib/stopped_at"] == "ceiling"
    assert sentence in fresh.tags()["calib/reason"]

    alone = fresh.run(["baseline_comparators"])
    assert not alone.success
    assert fresh.materialized() == []
    [failure] = alone.get_step_failure_events()
    assert failure.step_failure_data.error.cls_name == "DagsterTypeCheckDidNotPass"
    assert sentence in fresh.error()
    assert fresh.tags()["calib/status"] == "stopped"
    assert fresh.tags()["calib/stopped_at"] == "ceiling"
    assert sentence in fresh.tags()["calib/reason"]


def test_no_run_can_leave_out_a_check(fresh):
    with pytest.raises(dg.DagsterInvalidDefinitionError) as refused:
        fresh.run(dg.AssetSelection.assets(*NAMES).without_checks())
    assert "does not support subsetting" in str(refused.value.__cause__)


@pytest.mark.parametrize("asset", CHAIN, ids=NAMES)
def test_every_input_is_typed_by_the_gate_of_its_rung(asset):
    inputs = {
        definition.name: definition.dagster_type.unique_name
        for definition in asset.op.input_defs
        if not definition.dagster_type.is_nothing
    }
    above = NAMES[: NAMES.index(asset.key.to_user_string())]
    assert set(inputs) <= set(above)
    assert all(kind == "Holds" + name.title().replace("_", "") for name, kind in inputs.items())
    before = {"scorer_outputs"} if asset.key.to_user_string() == "scorer_agreement" else set()
    assert {key.to_user_string() for key in asset.dependency_keys} == set(inputs) | before
    [check] = asset.check_specs
    assert (check.name, check.blocking) == ("holds", True)


def test_an_undeclared_pair_is_refused_by_name(fresh):
    write_study(fresh.root, "other", "autumn", dimension="tone")
    assert not fresh.run(["holdout_reservation"], key="autumn|rule").success
    message = fresh.error()
    assert "study rule is not declared on population autumn" in message
    assert "spring" in message
    assert fresh.materialized() == []
    assert fresh.tags()["calib/status"] == "climbing"


def test_a_blocked_study_is_refused_with_the_reason(fresh):
    fresh.run(["holdout_reservation"])
    (fresh.root / "studies" / "broken.yaml").write_text("study: broken\ndimension: helpfulness\n")
    assert not fresh.run(["holdout_reservation"]).success
    assert "study rule is blocked: studies/broken.yaml" in fresh.error()


def test_a_broken_pipeline_is_not_tagged_as_a_stopped_ladder(climbed):
    (climbed.root / "data" / "spring" / "labels.csv").unlink()
    assert not climbed.run(["annotations"]).success
    assert "REVIEW_UNAVAILABLE" in climbed.log[-1].get_step_failure_events()[0].step_failure_data.error.to_string()
    assert climbed.tags() == {"calib/status": "climbing"}


def test_a_run_that_executes_another_again_does_not_inherit_its_verdict(climbed):
    write_tables(climbed.root, "spring", second_person=False)
    climbed.run(["annotations"])
    climbed.run(["human_ceiling"])
    stopped = climbed.log[-1]
    assert climbed.tags()["calib/status"] == "stopped"
    write_project(climbed.root)
    parent = {"dagster/parent_run_id": stopped.run_id, "dagster/root_run_id": stopped.run_id}
    climbed.run(["annotations"], tags={**climbed.tags(), **parent})
    assert climbed.tags()["calib/status"] == "climbing"


def test_metadata_shows_figures_and_what_the_run_could_see_and_no_item(climbed):
    result = climbed.run(["holdout_reservation", "annotations", "human_ceiling"])
    assert result.success
    [event] = [
        event.materialization
        for event in result.get_asset_materialization_events()
        if event.asset_key.to_user_string() == "human_ceiling"
    ]
    metadata = {name: str(value.value) for name, value in event.metadata.items()}
    assert "| ceiling |" in metadata["figures"]
    assert "| named_items_with_annotators |" in metadata["counts"]
    assert metadata["holdout_state"] == "measured"
    assert metadata["holdout_set"].startswith("helpfulness@spring")
    assert len(metadata["ledger_head"]) == len(metadata["evidence_digest"]) == 64
    assert event.tags["dagster/data_version"] == metadata["evidence_digest"]
    assert "spring-0" not in " ".join(metadata.values())


def test_a_run_tagged_as_a_recheck_measures_on_the_next_generation(climbed):
    climbed.run(["holdout_reservation"], tags={"calib/recheck": "2026-12-07T06:00:00+00:00"})
    [event] = climbed.log[-1].get_asset_materialization_events()
    metadata = event.materialization.metadata
    assert metadata["holdout_set"].value.endswith(".g2")
    assert metadata["holdout_state"].value == "unopened"
    assert not climbed.run(["threshold_check"]).success
    assert climbed.tags()["calib/status"] == "stopped"
