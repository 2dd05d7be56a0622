"""A record holds everything that makes it checkable, and the one sentence that it allows."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
import yaml
from climbs import Folder, folder_of, reserved
from made_up_project import POPULATION, World, world_of

from calib_pipeline.digests import digest_bytes
from calib_pipeline.evidence_store import read_parquet
from calib_pipeline.records.archive import INDEX_COLUMNS
from calib_pipeline.records.claims import diagnostic_claim, headline_words, measured_claim
from calib_pipeline.records.record import OUTSIDE_THE_ADDRESS, REQUIRED, address, missing_fields
from calib_pipeline.studies.digests import configuration_digest, plan_digest


@pytest.fixture
def record(climbed_once: Folder) -> dict[str, Any]:
    return the_record(climbed_once)


def the_record(folder: Folder) -> dict[str, Any]:
    """The newest record of the project."""
    found = folder.ladder.archive.read(folder.records()[-1].record_id)
    assert found is not None
    return found


def _by_scope(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    scopes: dict[str, list[str]] = {}
    for row in rows:
        scopes.setdefault(row["scope"], []).append(row["statistic"])
    return scopes


def test_whom_it_speaks_of(record: dict[str, Any], world: World) -> None:
    assert record["population"] | {"digest": ""} == {
        "name": POPULATION,
        "digest": "",
        "size": 420,
        "strata": {"billing": 120, "login": 140, "shipping": 160},
        "labeled_items": 150,
    }
    assert len(record["population"]["digest"]) == 64
    assert {row["scope"]: (row["value"], row["n"]) for row in record["sampling"]["strata"]} == {
        "billing": (43, 120), "login": (50, 140), "shipping": (57, 160),
    }  # fmt: skip
    assert (record["sampling"]["seed"], record["sampling"]["reserved"]) == (11, 150)
    assert record["sampling"]["method"].startswith("bottom-k by BLAKE2b")
    assert record["sampling"]["weights"]


def test_whom_it_was_measured_against(record: dict[str, Any]) -> None:
    reference = record["reference"]
    assert (reference["kind"], reference["consensus"], reference["undecided_share"]) == ("anchor", "majority", 0)
    assert reference["blinding"] == "the form shows the ticket only"
    assert record["annotators"]["count"] == 3
    assert record["annotators"]["repeat_rate"]["value"] == 0
    assert record["rubric"]["version"] == "1"
    text = "A ticket is resolved when the customer need not write again."
    assert record["rubric"]["digest"] == digest_bytes(text.encode())
    people = {row["statistic"] for row in record["ceiling"] if row["name"] == "human_agreement"}
    judge = {row["statistic"] for row in record["statistics"]}
    assert judge <= people
    errors = {row["statistic"] for row in record["ceiling"] if row["name"] == "human_error_rate"}
    assert {row["statistic"] for row in record["error_rates"]} - {"sensitivity", "specificity"} <= errors


def test_what_was_measured_and_when_it_was_frozen(record: dict[str, Any], climbed_once: Folder) -> None:
    study = climbed_once.project.studies["judge"]
    rubric = climbed_once.project.rubric_text(study)
    configuration = configuration_digest(study, rubric, record["scorer"]["configuration"]["scores"])
    assert record["scorer"]["digest"] == configuration
    assert record["scorer"]["configuration"]["model"] == "m-1"
    assert record["plan"]["digest"] == plan_digest(study)
    [opened] = [event for event in climbed_once.events() if event.event == "opened"]
    assert opened.config_digest == configuration
    holdout = record["holdout"]
    assert (holdout["set"], holdout["generation"], holdout["state"]) == (f"resolved@{POPULATION}.g1", 1, "measured")
    assert holdout["prior_access"] == "two people of the support team; the judge was bought before"
    assert (holdout["configurations_registered"], holdout["earlier_attempts"]) == (1, 0)
    assert holdout["ledger_head"] == opened.hash
    assert record["gates"]["value"] == 0.95
    assert record["gates"]["text"] == "1 - (1 - 0.95) / 1"


def test_every_figure_has_its_interval_and_says_what_it_leaves_out(record: dict[str, Any]) -> None:
    for row in [*record["statistics"], *record["error_rates"], *record["comparators"], *record["ceiling"]]:
        assert row.get("note") or {"low", "high", "level", "method", "n"} <= set(row), row
    bootstrapped = [row for row in record["statistics"] if "bootstrap" in row["method"]]
    assert {row["resampled"] for row in bootstrapped} == {"rows within strata"}
    assert record["interval"]["leaves_out"] == "scorer rerun variance, judge selection, prompt phrasing"
    assert record["youden_j"]["low"] < record["youden_j"]["value"] < record["youden_j"]["high"]


def test_both_forms_of_both_errors_and_what_was_refused(record: dict[str, Any]) -> None:
    assert {row["scope"] for row in record["confusion"]} == {"tp", "fp", "fn", "tn"}
    assert sum(row["value"] for row in record["confusion"]) == 150
    rates = {row["statistic"] for row in record["error_rates"]}
    assert {f"false_{side}_{form}" for side in ("accept", "reject") for form in ("decided", "labeled")} <= rates
    assert {(row["name"], row["scope"]) for row in record["refusals"]} == {
        (name, side) for name in ("abstained", "failed") for side in ("accepted", "rejected")
    }
    assert record["prevalence"]["n"] == 150


def test_what_it_was_held_against(record: dict[str, Any]) -> None:
    comparators = _by_scope(record["comparators"])
    assert set(comparators) == {"constant majority", "random at the base rate", "heuristic words"}
    for shown in comparators.values():
        assert {"percent_agreement", "cohen_kappa", "gwet_ac1", "false_accept_labeled", "youden_j"} <= set(shown)
    assert {row["scope"] for row in record["differences"]} == set(comparators)
    decision = {(row["name"], row.get("scope", "")): row for row in record["decision"]}
    assert decision["cost_false_accept", ""]["note"] == "the customer writes again"
    assert decision["expected_cost", "scorer"]["bar"] == 0.25
    assert decision["expected_cost", "scorer"]["text"] == "cleared"
    assert {("cost_difference", "accept all"), ("cost_difference", "reject all")} <= set(decision)


@pytest.mark.slow
def test_it_counts_what_was_not_compared(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    world = world_of()
    world.label_only(set(reserved(world)["item_id"]))
    world.labels.loc[:5, "value"] = "perhaps"
    world.scores["status"] = "scored"
    drawn = world.scores["item_id"].isin(set(reserved(world)["item_id"]))
    world.scores.loc[world.scores.index[drawn][:3], "status"] = "error"
    world.scores.loc[world.scores.index[drawn][3:7], "status"] = "abstained"
    folder = folder_of(world, tmp_path, instance)
    assert folder.climb().status == "ok"
    record = the_record(folder)
    counted = {(row["name"], row["scope"]): row["value"] for row in record["not_compared"]}
    assert counted["label_rows", "received"] == 450
    assert counted["label_rows", "usable"] == 444
    assert counted["not_compared", "off_scale"] == 6
    assert counted["outputs_not_compared", "scorer_error"] == 3
    assert counted["outputs_not_compared", "abstained"] == 4


def test_seeds_versions_and_declaration_are_in_it(record: dict[str, Any], climbed_once: Folder) -> None:
    assert record["seeds"] == {"sampling": 11, "bootstrap": 5, "folds": 5, "resamples": 2000, "level": 0.95}
    assert {"python", "calib-pipeline", "numpy", "scipy", "pandas", "pandera", "pyarrow"} <= set(record["software"])
    assert record["declaration"]["study"]["study"] == "judge"
    for name, path in record["inputs"]["paths"].items():
        content = (climbed_once.root / path).read_bytes()
        assert record["inputs"][name] == digest_bytes(content)


def test_the_row_table_stands_beside_it(record: dict[str, Any], climbed_once: Folder) -> None:
    path = Path(str(climbed_once.ladder.archive.rows_path(POPULATION, "judge", record["record_id"])))
    rows = read_parquet(path.read_bytes(), path.name)
    assert {
        "item_id", "stratum", "weight", "human_labels", "human_confidence", "scorer_label", "scorer_confidence",
        "rubric_version",
    } <= set(rows.columns)  # fmt: skip
    assert len(rows) == 150
    sizes = {"billing": 120 / 43, "login": 140 / 50, "shipping": 160 / 57}
    share = rows["weight"] / rows["stratum"].map(sizes)
    assert share.max() == pytest.approx(share.min())


def test_its_address_is_its_content_without_versions_and_time(record: dict[str, Any]) -> None:
    assert address(record) == record["record_id"]
    assert address({**record, "software": {}, "published_at": "later"}) == record["record_id"]
    for field in set(record) - set(OUTSIDE_THE_ADDRESS):
        assert address({**record, field: "something else"}) != record["record_id"], field


@pytest.mark.parametrize("field", REQUIRED)
def test_a_record_without_a_required_field_is_not_whole(field: str, record: dict[str, Any]) -> None:
    assert missing_fields(record) == []
    assert missing_fields({key: value for key, value in record.items() if key != field}) == [field]
    assert missing_fields({**record, field: None}) == [field]


def test_the_index_lists_it_and_is_made_again_from_the_records(climbed: Folder) -> None:
    index = Path(climbed.project.store) / "records" / "index.parquet"
    listed = pd.read_parquet(index)
    assert listed.columns.tolist() == list(INDEX_COLUMNS)
    entries = climbed.records()
    for spoil in (index.unlink, lambda: index.write_bytes(b""), lambda: listed.iloc[:0].to_parquet(index)):
        spoil()
        assert climbed.records() == entries
        assert climbed.run_alone("holdout_reservation").status == "ok"
    climbed.ladder.archive.reindex()
    pd.testing.assert_frame_equal(pd.read_parquet(index), listed)


@pytest.mark.slow
def test_a_population_added_to_the_study_makes_no_second_record_of_the_first(climbed: Folder, world: World) -> None:
    before = climbed.records()
    world.study["data"]["populations"] = [POPULATION, "tickets-2026-02"]
    world.write(climbed.root)
    project_file = climbed.root / "calib.yaml"
    populations = yaml.safe_load(project_file.read_text(encoding="utf-8"))
    populations["populations"]["tickets-2026-02"] = {"items": "data/tickets-2026-02/items.csv"}
    project_file.write_text(yaml.safe_dump(populations), encoding="utf-8")
    assert climbed.project.studies["judge"].data.populations == (POPULATION, "tickets-2026-02")
    run = climbed.climb()
    assert run.status == "ok", run
    assert climbed.records() == before


# The claim


def test_the_claim_of_a_set_held_out_by_declaration(record: dict[str, Any]) -> None:
    assert record["claim"] == (
        "Accurate at cohen kappa 0.932 [0.866, 0.986] at 95 % for resolved on 150 labeled items of tickets-2026-01 "
        "(420 items) (held out by declaration: two people of the support team; the judge was bought before)."
    )


@pytest.mark.slow
def test_the_claim_of_a_set_held_out_by_reservation(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    """Labels made after the reservation need no one's word, and the claim carries none."""
    world = world_of()
    del world.study["holdout"]["prior_access"]
    folder = folder_of(world, tmp_path, instance)
    assert folder.run_alone("holdout_reservation").status == "ok"
    world.labels["labeled_at"] = datetime.now(UTC).isoformat()
    world.write(folder.root)
    run = folder.climb()
    assert run.status == "ok", run
    record = the_record(folder)
    assert record["holdout"]["held_out_by"] == "reservation"
    assert record["claim"] == (
        "Accurate at cohen kappa 0.932 [0.866, 0.986] at 95 % for resolved on 150 labeled items of tickets-2026-01 "
        "(420 items)."
    )


def test_the_claims_of_what_can_never_be_calibrated(climbed_once: Folder) -> None:
    study = climbed_once.project.studies["judge"]
    words = headline_words("cohen_kappa", 0.5, 0.4, 0.6, 0.95)

    def fitted(**change: Any) -> Any:
        return study.model_copy(update={"holdout": study.holdout.model_copy(update=change)})

    def proxy(**change: Any) -> Any:
        return study.model_copy(update={"reference": study.reference.model_copy(update=change)})

    assert diagnostic_claim(fitted(role="fitted"), POPULATION, words, "fitted", "") == (
        "Agreed with people at cohen kappa 0.500 [0.400, 0.600] at 95 % on tickets-2026-01, on the data that shaped it."
    )
    stood_in = proxy(kind="proxy", stands_for="a second ticket")
    assert diagnostic_claim(stood_in, POPULATION, words, "unopened", "") == (
        "Agrees with the proxy a second ticket at cohen kappa 0.500 [0.400, 0.600] at 95 % on tickets-2026-01; says "
        "nothing about resolved."
    )
    for someone in (study, stood_in):
        said = diagnostic_claim(someone, POPULATION, words, "reused", "first opened as event 7")
        assert said == "Supports nothing: first opened as event 7."


def test_a_claim_without_an_interval_says_so(climbed_once: Folder) -> None:
    study = climbed_once.project.studies["judge"]
    words = headline_words("cohen_kappa", None, None, None, 0.95)
    assert measured_claim(study, POPULATION, 2, 3, words, "reservation") == (
        "Accurate at an undefined cohen kappa for resolved on 2 labeled items of tickets-2026-01 (3 items)."
    )
    assert headline_words("pearson", 1.0, None, None, 0.95) == "pearson 1.000 (no interval)"


def test_a_record_is_readable_text(record: dict[str, Any], climbed_once: Folder) -> None:
    path = Path(str(climbed_once.ladder.archive.path(POPULATION, "judge", record["record_id"])))
    assert json.loads(path.read_text(encoding="utf-8")) == record
    assert not any(str(climbed_once.root) in text for text in path.read_text(encoding="utf-8").splitlines())
