"""The code location: what it holds, and that no study can take it down."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest
from answers_project import write_study

from calib_pipeline.definitions import project_definitions
from calib_pipeline.errors import InputError

REPOSITORY = Path(__file__).parents[2]
READS = {
    "holdout_reservation": [],
    "annotations": ["holdout_reservation"],
    "human_ceiling": ["annotations", "holdout_reservation"],
    "baseline_comparators": ["annotations", "holdout_reservation", "human_ceiling"],
    "scorer_agreement": [
        "annotations",
        "baseline_comparators",
        "holdout_reservation",
        "human_ceiling",
        "scorer_outputs",
    ],
    "threshold_check": ["holdout_reservation", "scorer_agreement"],
    "published_record": [
        "annotations",
        "baseline_comparators",
        "holdout_reservation",
        "human_ceiling",
        "scorer_agreement",
        "threshold_check",
    ],
    "scorer_outputs": ["baseline_comparators", "holdout_reservation"],
    "diagnostic_record": [],
    "holdout_sets": ["diagnostic_record", "holdout_reservation", "scorer_agreement"],
}
BESIDE = {"scorer_outputs": "judging", "diagnostic_record": "diagnostic", "holdout_sets": "ledger"}
CHAIN = [name for name in READS if name not in BESIDE]


def test_the_chain_is_what_was_agreed(fresh):
    graph = project_definitions(fresh.root).resolve_asset_graph()
    nodes = {key.to_user_string(): graph.get(key) for key in graph.get_all_asset_keys()}
    assert {name: sorted(key.to_user_string() for key in node.parent_keys) for name, node in nodes.items()} == READS
    in_order = [key.to_user_string() for key in graph.toposorted_asset_keys]
    assert [name for name in in_order if name not in BESIDE] == CHAIN
    groups = {name: node.group_name for name, node in nodes.items()}
    assert groups == dict.fromkeys(CHAIN, "ladder") | BESIDE
    assert not nodes["holdout_sets"].is_executable
    checks = {f"{name}:holds" for name in CHAIN} | {"scorer_outputs:complete"}
    assert {check.to_user_string() for check in graph.asset_check_keys} == checks


def test_every_asset_says_what_it_does_and_whose_it_is(fresh):
    for spec in project_definitions(fresh.root).resolve_all_asset_specs():
        assert spec.description
        assert spec.owners
        assert spec.kinds
        assert spec.code_version
        assert isinstance(spec.partitions_def, dg.MultiPartitionsDefinition)


def test_jobs_run_in_process_and_nothing_starts_by_itself(fresh):
    definitions = project_definitions(fresh.root)
    jobs = {name: definitions.resolve_job_def(name) for name in ("ladder", "diagnostic")}
    assert {name: job.executor_def.name for name, job in jobs.items()} == dict.fromkeys(jobs, "in_process")
    selected = {key.to_user_string() for key in jobs["ladder"].asset_layer.selected_asset_keys}
    assert selected == {*CHAIN, "scorer_outputs"}
    assert {sensor.name: sensor.default_status.value for sensor in definitions.sensors} == {
        "population_manifests": "STOPPED",
        "diagnostic_after_ladder": "STOPPED",
    }


def test_a_schedule_stands_where_a_cadence_is_declared(fresh):
    assert not project_definitions(fresh.root).schedules
    settings = fresh.root / "calib.yaml"
    settings.write_text(settings.read_text() + 'recheck: "0 6 * * 1"\n')
    [schedule] = project_definitions(fresh.root).schedules
    assert schedule.cron_schedule == "0 6 * * 1"
    when = datetime(2026, 12, 7, 6, tzinfo=UTC)
    with (
        dg.instance_for_test() as instance,
        dg.build_schedule_context(instance, scheduled_execution_time=when) as context,
    ):
        [request] = schedule(context)
        assert instance.get_dynamic_partitions("calib_populations") == ["spring"]
    assert request.partition_key == "spring|rule"
    assert request.run_key == "spring|rule|2026-12-07T06:00:00+00:00"
    assert request.tags["calib/recheck"] == "2026-12-07T06:00:00+00:00"


def test_an_invalid_study_leaves_the_code_location_up(fresh, caplog):
    write_study(fresh.root, "other", "autumn", dimension="tone")
    (fresh.root / "studies" / "broken.yaml").write_text("study: broken\ndimension: tone\nscale: {kind: binry}\n")
    assert project_definitions(fresh.root).resolve_job_def("ladder")
    assert "studies/broken.yaml:3" in caplog.text
    assert fresh.project.cells() == [("rule", "spring")]


def test_a_broken_calib_yaml_is_said_in_words(fresh):
    (fresh.root / "calib.yaml").write_text("popluations: {}\n")
    with pytest.raises(InputError, match="popluations"):
        project_definitions(fresh.root)


def test_a_cadence_that_is_no_cron_expression_is_said_in_words(fresh):
    settings = fresh.root / "calib.yaml"
    settings.write_text(settings.read_text() + "recheck: weekly\n")
    with pytest.raises(InputError, match="'weekly', which is no cron expression"):
        project_definitions(fresh.root)


@pytest.mark.slow
def test_dagster_validates_the_repositorys_workspace(tmp_path):
    done = subprocess.run(
        [Path(sys.executable).with_name("dagster"), "definitions", "validate", "-w", "workspace.yaml"],
        cwd=REPOSITORY,
        env=os.environ | {"DAGSTER_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "Validation successful for code location sentiment" in done.stderr + done.stdout
