"""The sensor asks for exactly the cells whose population is new or changed, once each."""

from __future__ import annotations

import os

import dagster as dg
import pandas as pd
import pytest
from answers_project import write_project, write_study, write_tables

from calib_pipeline.cell import Cell
from calib_pipeline.dagster_side.diagnostic_sensor import diagnostic_after_ladder
from calib_pipeline.dagster_side.population_sensor import population_manifests
from calib_pipeline.definitions import project_definitions
from calib_pipeline.ladder import Ladder
from calib_pipeline.studies.project import load_project


@pytest.fixture
def ticking(tmp_path, instance):
    """A function that evaluates the next tick, the cursor and the partitions carried on as the daemon does."""
    root = write_project(tmp_path / "project", "spring")
    memory: dict[str, str | None] = {"cursor": None}

    def tick() -> dg.SensorResult:
        sensor = population_manifests(lambda: load_project(root))
        repository = project_definitions(root).get_repository_def()
        with dg.build_sensor_context(instance, cursor=memory["cursor"], repository_def=repository) as context:
            result = sensor(context)
        memory["cursor"] = result.cursor
        for request in result.dynamic_partitions_requests or ():
            name, keys = request.partitions_def_name, request.partition_keys
            if isinstance(request, dg.AddDynamicPartitionsRequest):
                instance.add_dynamic_partitions(name, keys)
            else:
                for key in keys:
                    instance.delete_dynamic_partition(name, key)
        return result

    return root, tick


def asked(result: dg.SensorResult) -> list[str]:
    return [str(request.partition_key) for request in result.run_requests or ()]


def test_a_new_population_adds_its_partitions_and_asks_for_its_cells_once(ticking, instance):
    _, tick = ticking
    first = tick()
    assert asked(first) == ["spring|rule"]
    [request] = first.run_requests
    digest = request.tags["calib/population_digest"]
    assert len(digest) == 64
    assert request.run_key == f"spring|rule|{digest}"
    assert instance.get_dynamic_partitions("calib_populations") == ["spring"]
    assert instance.get_dynamic_partitions("calib_studies") == ["rule"]
    second = tick()
    assert asked(second) == []
    assert "no new or changed manifest among 2" in second.skip_reason.skip_message


def test_content_counts_and_time_does_not(ticking):
    root, tick = ticking
    before = tick().run_requests[0].run_key
    manifest = root / "data" / "spring" / "items.csv"
    os.utime(manifest, ns=(1, 1))
    assert asked(tick()) == []
    write_tables(root, "spring", size=161)
    [request] = tick().run_requests
    assert request.partition_key == "spring|rule"
    assert request.run_key != before


def test_a_study_on_a_known_population_is_asked_for_alone(ticking, instance):
    root, tick = ticking
    tick()
    write_study(root, "second")
    assert asked(tick()) == ["spring|second"]
    assert sorted(instance.get_dynamic_partitions("calib_studies")) == ["rule", "second"]


def test_a_population_that_is_no_longer_declared_loses_its_partition_and_nothing_else_does(ticking, instance):
    root, tick = ticking
    write_study(root, "rule", "spring", "autumn")
    assert sorted(asked(tick())) == ["autumn|rule", "spring|rule"]
    instance.add_dynamic_partitions("calib_populations", ["of-another-project"])
    write_study(root, "rule", "spring")
    assert asked(tick()) == []
    assert sorted(instance.get_dynamic_partitions("calib_populations")) == ["of-another-project", "spring"]
    assert instance.get_dynamic_partitions("calib_studies") == ["rule"]


def test_an_unreadable_manifest_is_said_and_holds_up_nothing(ticking, instance):
    root, tick = ticking
    write_study(root, "rule", "spring", "autumn")
    tick()
    (root / "data" / "spring" / "items.csv").unlink()
    write_tables(root, "autumn", size=170)
    assert asked(tick()) == ["autumn|rule"]
    quiet = tick()
    assert asked(quiet) == []
    assert "the manifest of population spring cannot be read" in quiet.skip_reason.skip_message
    assert "spring" in instance.get_dynamic_partitions("calib_populations")


def test_a_broken_study_is_said_and_its_dimension_is_absent(ticking):
    root, tick = ticking
    write_study(root, "other", "autumn", dimension="tone")
    (root / "studies" / "broken.yaml").write_text("study: broken\ndimension: helpfulness\n")
    assert asked(tick()) == ["autumn|other"]
    assert "studies/broken.yaml" in tick().skip_reason.skip_message


@pytest.mark.parametrize(
    ("role", "scored", "status", "wanted"),
    [
        ("fitted", 99, "stopped", True),
        ("fitted", 0, "stopped", False),
        ("fitted", 99, "climbing", False),
        ("holdout", 99, "stopped", False),
        ("holdout", 9, "stopped", True),
    ],
)
@pytest.mark.slow
def test_the_diagnostic_follows_a_stopped_ladder_of_no_status_or_few_pairs(
    tmp_path, instance, role, scored, status, wanted
):
    root = write_project(tmp_path / "project")
    write_study(root, "rule", role=role)
    project = load_project(root)
    reserved = Ladder(project, "").holdout_reservation(Cell("rule", "spring")).tables["reserved"]["item_id"]
    outputs = root / "data" / "spring" / "scores.csv"
    scores = pd.read_csv(outputs)
    scores[~scores["item_id"].isin(reserved[scored:])].to_csv(outputs, index=False)
    sensor = diagnostic_after_ladder(lambda: project)
    run = instance.create_run_for_job(
        project_definitions(root).resolve_job_def("ladder"),
        tags={"dagster/partition": "spring|rule", "calib/status": status},
    )
    event = dg.DagsterEvent(dg.DagsterEventType.RUN_FAILURE.value, "ladder")
    context = dg.build_run_status_sensor_context("diagnostic_after_ladder", event, instance, run)
    found = sensor(context.for_run_failure())
    assert isinstance(found, dg.RunRequest) == wanted
