"""What Dagster's pages show of held-out sets, and that a run that changes nothing makes nothing stale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import dagster as dg
import pytest
from answers_project import write_project, write_study
from answers_runs import Runs
from dagster._core.definitions.data_version import CachingStaleStatusResolver
from dagster._core.loader import LoadingContextForTest

from calib_pipeline.assets import CHAIN
from calib_pipeline.cell import Cell
from calib_pipeline.dagster_side.climbing import climb_cell, diagnose_cell
from calib_pipeline.dagster_side.holdout_lineage import HOLDOUT_SETS, NO_EVENT
from calib_pipeline.definitions import project_definitions
from calib_pipeline.ledger import Ledger

SPRING, KEY = Cell(study="rule", population="spring"), "spring|rule"
FIRST, SECOND = "helpfulness@spring.g1", "helpfulness@spring.g2"


def observed(runs) -> list[tuple[str, str]]:
    """The set and state of each observation, oldest first."""
    asked = dg.AssetRecordsFilter(asset_key=HOLDOUT_SETS.key, asset_partitions=[KEY])
    records = runs.instance.fetch_observations(asked, limit=100, ascending=True).records
    shown = [record.asset_observation.metadata for record in records]
    return [(one["holdout_set"].value, one["holdout_state"].value) for one in shown]


@dataclass(frozen=True)
class Twice:
    """A project that was climbed twice with nothing changed: what each climb made, and was observed by its end."""

    runs: Runs
    made: tuple[dict[str, dg.AssetMaterialization], ...]
    observed: tuple[list[tuple[str, str]], ...]


@pytest.fixture(scope="module")
def twice(tmp_path_factory) -> Iterator[Twice]:
    with dg.DagsterInstance.ephemeral() as instance:
        runs = Runs(write_project(tmp_path_factory.mktemp("twice") / "project"), instance)
        ended = [(climb(runs), observed(runs)) for _ in range(2)]
        yield Twice(runs, tuple(made for made, _ in ended), tuple(seen for _, seen in ended))


def climb(runs) -> dict[str, dg.AssetMaterialization]:
    """A climb to the record, and what each asset materialized."""
    result = climb_cell(runs.project, SPRING, runs.instance)
    assert result.status == "ok", result
    return newest(runs)


def newest(runs) -> dict[str, dg.AssetMaterialization]:
    found = {}
    for asset in CHAIN:
        asked = dg.AssetRecordsFilter(asset_key=asset.key, asset_partitions=[KEY])
        [record] = runs.instance.fetch_materializations(asked, limit=1).records
        found[asset.key.to_user_string()] = record.asset_materialization
    return found


def test_a_ladder_leaves_an_observation_where_the_state_changes(twice):
    assert twice.observed[0] == [(FIRST, "unopened"), (FIRST, "measured")]


def test_a_second_run_observes_nothing_new(twice):
    assert twice.observed[1] == twice.observed[0]


@pytest.mark.slow
def test_a_set_that_was_spent_between_runs_is_observed_and_so_is_the_next(fresh):
    climb(fresh)
    with Ledger.open(fresh.project.ledger) as ledger:
        ledger.mark_fitted(FIRST, studies=["rule"], reason="the rule was tuned on it")
    climb_cell(fresh.project, SPRING, fresh.instance)
    assert observed(fresh)[2:] == [(SECOND, "unopened")]


def test_a_diagnostic_run_observes_what_the_set_is_for_it(fresh):
    write_study(fresh.root, "rule", role="fitted")
    assert diagnose_cell(fresh.project, SPRING, fresh.instance).status == "ok"
    assert observed(fresh) == [(FIRST, "fitted")]


def test_each_asset_tells_the_events_that_it_wrote(twice):
    made, again = twice.made
    told = {
        asset: one.metadata["holdout_events"].value for asset, one in made.items() if "holdout_events" in one.metadata
    }
    begins = {
        "holdout_reservation": "reserved, event 1: generation 1 for helpfulness",
        "annotations": "labels_ingested, event ",
        "human_ceiling": "read, event ",
        "baseline_comparators": "read, event ",
        "scorer_agreement": "opened, event ",
        "threshold_check": "none: ",
        "published_record": "published, event ",
    }
    assert set(told) == set(begins)
    for asset, words in begins.items():
        assert told[asset].startswith(words)
    assert "(ceiling)" in told["human_ceiling"]
    assert "(ceiling)" not in told["baseline_comparators"]
    # a repeat reads the labels again, and everything else stands
    none = {asset for asset in begins if again[asset].metadata["holdout_events"].value == NO_EVENT}
    assert none == set(begins) - {"human_ceiling", "baseline_comparators"}


# Data versions


def stale(runs) -> dict[str, str]:
    """What Dagster says of each asset of the cell."""
    graph = project_definitions(runs.root).resolve_asset_graph()
    resolver = CachingStaleStatusResolver(runs.instance, graph, loading_context=LoadingContextForTest(runs.instance))
    return {asset.key.to_user_string(): resolver.get_status(asset.key, KEY).value for asset in CHAIN}


def test_a_run_that_changes_nothing_makes_nothing_stale(twice):
    versions = [{asset: one.tags["dagster/data_version"] for asset, one in made.items()} for made in twice.made]
    assert versions[0] == versions[1]
    assert len(set(versions[0].values())) == len(CHAIN)
    # the first rungs alone, made again: those below them still stand
    twice.runs.run(["holdout_reservation", "annotations"])
    assert set(stale(twice.runs).values()) == {"FRESH"}


def test_other_evidence_makes_what_rests_on_it_stale(fresh):
    assert fresh.run(["holdout_reservation", "annotations", "human_ceiling"]).success
    assert stale(fresh)["human_ceiling"] == "FRESH"
    labels = fresh.root / "data" / "spring" / "labels.csv"
    # a line that is no item: the counts of the label sheet change, and so does the evidence
    labels.write_text(labels.read_text() + "spring-999,ann,yes\n")
    fresh.run(["annotations"])
    found = stale(fresh)
    assert (found["holdout_reservation"], found["annotations"]) == ("FRESH", "FRESH")
    assert found["human_ceiling"] == "STALE"
