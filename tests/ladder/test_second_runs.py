"""A second run repeats or starts afresh: nothing in between."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pandas as pd
import pytest
from climbs import RUNGS, Folder, folder_of, reserved
from gate_case import declare
from made_up_project import POPULATION, World, world_of

from calib_pipeline.cell import Cell
from calib_pipeline.evidence.evidence import fact, figure
from calib_pipeline.records.verification import verify_record
from calib_pipeline.status.cell_status import cell_status


def reserved_now(folder: Folder, **cell: str) -> set[str]:
    """The items of the set on which the newest reservation stands."""
    rows = folder.evidence("holdout_reservation", **cell)
    held = fact(rows, "holdout_set")
    assert held is not None
    return {item.item_id for item in folder.ladder.ledger.items(held)}


@pytest.mark.slow
def test_an_identical_second_run_changes_nothing(climbed: Folder) -> None:
    files, records, events = climbed.evidence_files(), climbed.records(), climbed.events()
    run = climbed.climb()
    assert (run.status, run.materialized) == ("ok", RUNGS)
    assert climbed.evidence_files() == files
    assert climbed.records() == records
    since = climbed.events()[len(events) :]
    assert {event.event for event in since} <= {"read"}


@pytest.mark.slow
def test_the_same_tables_in_another_order_and_format_are_the_same(climbed: Folder, world: World) -> None:
    """Rows out of order and Parquet for CSV: no figure moves, since nothing depends on the order of rows."""
    before = {asset: climbed.evidence(asset) for asset in RUNGS[:-1]}
    data = climbed.root / "data" / POPULATION
    shuffled = world.scores.sample(frac=1, random_state=4)
    shuffled.to_csv(data / "scores.csv", index=False)
    world.items.sample(frac=1, random_state=4).to_csv(data / "items.csv", index=False)
    assert climbed.climb_to("threshold_check").status == "ok"
    for asset, rows in before.items():
        pd.testing.assert_frame_equal(climbed.evidence(asset), rows)


def test_labels_may_be_added_until_the_set_is_opened(
    tmp_path: Path, instance: dg.DagsterInstance, world: World
) -> None:
    sheet, drawn = world.labels, reserved(world)
    world.label_only(set(drawn["item_id"][~drawn["named"]]) | set(drawn["item_id"][drawn["named"]][:30]))
    folder = folder_of(world, tmp_path, instance)
    first = folder.climb()
    assert (first.status, first.asset) == ("stopped", "annotations")
    assert "75.33 % of the 150 reserved items" in str(first.reason)

    world.labels = sheet
    world.write(folder.root)
    assert folder.climb_to("human_ceiling").status == "ok"
    assert len(folder.ladder.ledger.sets()) == 1


ASKED = [
    (("holdout", "size"), 200, 150),
    pytest.param(("ceiling", "min_items"), 90, 150, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("key", "to", "kept"), ASKED)
def test_a_set_that_nobody_read_is_drawn_again_where_more_is_asked_for(
    key: tuple[str, ...], to: int, kept: int, tmp_path: Path, instance: dg.DagsterInstance, world: World
) -> None:
    """The draw is nested: what may be labeled already stays reserved."""
    folder = folder_of(world, tmp_path, instance)
    assert folder.run_alone("holdout_reservation").status == "ok"
    first = reserved_now(folder)
    declare(*key, to=to)(world)
    world.write(folder.root)
    for _ in range(2):
        assert folder.run_alone("holdout_reservation").status == "ok"
        assert len(folder.ladder.ledger.sets()) == 2
    assert len(first & reserved_now(folder)) == kept
    [_, second] = folder.ladder.ledger.sets()
    asked = second.details["requested"]
    assert (asked["size"], asked["named_items"]) == (
        world.study["holdout"]["size"],
        world.study["ceiling"]["min_items"],
    )


@pytest.mark.slow
def test_outputs_may_come_after_the_labels(tmp_path: Path, instance: dg.DagsterInstance, world: World) -> None:
    """A table of scores is part of the configuration from the moment it is there, which may be until the opening."""
    folder = folder_of(world, tmp_path, instance)
    outputs = folder.root / "data" / POPULATION / "scores.csv"
    outputs.write_text("item_id,scorer_id,value\nt0000,judge-1,pass\n", encoding="utf-8")
    first = folder.climb()
    assert (first.status, first.asset) == ("stopped", "scorer_agreement")
    assert "% of the 150 labeled items have an output of the scorer" in str(first.reason)
    assert "opened" not in {event.event for event in folder.events()}

    world.write(folder.root)
    assert folder.climb_to("scorer_agreement").status == "ok"
    assert len(folder.ladder.ledger.sets()) == 1


def test_a_bar_that_is_lowered_after_the_labels_were_read_needs_other_labels(
    tmp_path: Path, instance: dg.DagsterInstance, world: World
) -> None:
    """The plan is the one that was registered before anyone looked."""
    declare("ceiling", "floor", to=0.9)(world)
    folder = folder_of(world, tmp_path, instance)
    assert folder.climb().asset == "human_ceiling"
    declare("ceiling", "floor", to=0.1)(world)
    world.write(folder.root)
    assert folder.climb().asset == "annotations"
    assert fact(folder.evidence("holdout_reservation"), "holdout_set") == f"resolved@{POPULATION}.g2"
    assert not reserved_now(folder) & set(world.labels["item_id"])


# What was measured before


def test_a_population_that_grew_is_measured_on_unspent_items(climbed: Folder, world: World) -> None:
    spent = set(world.labels["item_id"])
    row = {"item_id": "t9999", "stratum": "login", "words": 12, "urgent": 0}
    world.items = pd.concat([world.items, pd.DataFrame([row])], ignore_index=True)
    world.write(climbed.root)
    assert climbed.climb().asset == "annotations"
    assert not reserved_now(climbed) & spent


def grown(world: World) -> None:
    """As many items again, of the same strata."""
    more = world.items.assign(item_id="n" + world.items["item_id"])
    world.items = pd.concat([world.items, more], ignore_index=True)


def test_a_population_that_grew_is_sampled_from_both_of_its_parts(climbed: Folder, world: World) -> None:
    """What is left of the old items is a sample of the old items, and no sample of all."""
    [first] = climbed.ladder.ledger.sets()
    grown(world)
    world.write(climbed.root)
    assert climbed.run_alone("holdout_reservation").status == "ok"
    rows = climbed.evidence("holdout_reservation")
    before = f"in {POPULATION}@{first.population_digest[:8]}"
    sizes = {"billing": 120, "login": 140, "shipping": 160}
    for stratum, size in sizes.items():
        for part in (f"{stratum}, {before}", f"{stratum}, new"):
            assert figure(rows, "stratum_items", part) == size
            assert figure(rows, "stratum_reserved", part) == pytest.approx(150 * size / 840, abs=1)
    old = {item for item in reserved_now(climbed) if not item.startswith("n")}
    assert len(old) == pytest.approx(75, abs=2)
    assert not old & set(world.labels["item_id"])


@pytest.mark.slow
def test_a_part_of_a_population_that_is_spent_whole_is_not_spoken_for(
    tmp_path: Path, instance: dg.DagsterInstance, world: World
) -> None:
    world.study["holdout"]["size"] = 420
    world.labels = world_of().labels
    folder = folder_of(world, tmp_path, instance)
    assert folder.climb_to("human_ceiling").status == "ok"
    declare("ceiling", "floor", to=0.05)(world)
    grown(world)
    world.write(folder.root)
    run = folder.climb()
    assert (run.asset, run.rung) == ("holdout_reservation", "holdout")
    assert "3 of 6 strata are represented" in str(run.reason)
    assert "declare the others as a population of their own" in str(run.next_step)


def test_the_size_that_can_be_reserved_is_named_and_can_be(climbed: Folder, world: World) -> None:
    """Of 420 items 150 are spent. Two strata give what the third, whose items are nearly spent, cannot."""
    declare("holdout", "size", to=300)(world)
    world.write(climbed.root)
    run = climbed.climb()
    assert run.asset == "holdout_reservation"
    assert "270 items could be reserved; 300 were asked for" in str(run.reason)
    assert str(run.next_step).endswith("or lower holdout.size to 270")
    declare("holdout", "size", to=270)(world)
    world.write(climbed.root)
    assert climbed.run_alone("holdout_reservation").status == "ok"


def test_labels_of_items_that_stay_reserved_are_younger_than_their_reservation(
    tmp_path: Path, instance: dg.DagsterInstance, world: World
) -> None:
    world.study["holdout"].pop("prior_access")
    folder = folder_of(world, tmp_path, instance)
    assert folder.run_alone("holdout_reservation").status == "ok"
    world.labels["labeled_at"] = datetime.now(UTC).isoformat()
    declare("ceiling", "min_items", to=90)(world)
    world.write(folder.root)
    assert folder.climb_to("annotations").status == "ok"
    assert len(folder.ladder.ledger.sets()) == 2
    assert fact(folder.evidence("annotations"), "held_out_by") == "reservation"


def test_a_re_check_looks_at_items_that_nobody_looked_at(climbed: Folder, world: World) -> None:
    spent = set(world.labels["item_id"])
    run = climbed.climb(recheck=True)
    assert (run.status, run.asset) == ("stopped", "annotations")
    first, second = climbed.ladder.ledger.sets()
    assert (first.generation, second.generation) == (1, 2)
    assert not {item.item_id for item in climbed.ladder.ledger.items(second.holdout_id)} & spent


# A changed configuration


@pytest.fixture
def next_generation(climbed: Folder, world: World) -> Folder:
    """The climbed project after its prompt was changed and it was climbed again."""
    declare("scorer", "config", "prompt", to="p-2")(world)
    world.write(climbed.root)
    return climbed


@pytest.mark.slow
def test_a_changed_configuration_waits_for_labels_of_unspent_items(next_generation: Folder, world: World) -> None:
    folder = next_generation
    spent = set(world.labels["item_id"])
    run = folder.climb()
    assert (run.status, run.asset, run.rung) == ("stopped", "annotations", "ceiling")
    assert "0 % of the 150 reserved items have a usable label; 90 % are needed" in str(run.reason)
    assert run.next_step == "label 135 more of the reserved items"
    rows = folder.evidence("holdout_reservation")
    assert fact(rows, "holdout_set") == f"resolved@{POPULATION}.g2"
    assert figure(rows, "generation") == 2
    assert figure(rows, "reserved_items") == 150
    assert not reserved_now(folder) & spent
    assert len(folder.records()) == 1

    # Nothing moves until someone labels: the set is drawn once.
    assert folder.climb().asset == "annotations"
    assert len(folder.ladder.ledger.sets()) == 2

    world.labels = world_of().labels
    world.write(folder.root)
    again = folder.climb_to("scorer_agreement")
    assert again.status == "ok", again
    agreement = folder.evidence("scorer_agreement")
    assert figure(agreement, "earlier_attempts") == 1
    assert figure(agreement, "gate_level") == pytest.approx(1 - 0.05 / 2)


def test_spent_items_stay_spent_under_another_dimension(next_generation: Folder, world: World) -> None:
    spent = set(world.labels["item_id"])
    world.study["dimension"] = "solved"
    world.write(next_generation.root)
    assert next_generation.climb().asset == "annotations"
    rows = next_generation.evidence("holdout_reservation")
    assert fact(rows, "holdout_set") == f"solved@{POPULATION}.g1"
    assert not reserved_now(next_generation) & spent


@pytest.mark.slow
def test_spent_items_stay_spent_under_other_names(tmp_path: Path, instance: dg.DagsterInstance, world: World) -> None:
    """Another population whose items are called otherwise and have the same content."""
    world.items["content_digest"] = [f"sha-{number}" for number in range(len(world.items))]
    folder = folder_of(world, tmp_path, instance)
    assert folder.climb_to("scorer_agreement").status == "ok"
    spent = set(world.items["content_digest"][world.items["item_id"].isin(world.labels["item_id"])])

    renamed = world.items.assign(item_id="n" + world.items["item_id"])
    data = folder.root / "data" / "tickets-again"
    data.mkdir()
    renamed.to_csv(data / "items.csv", index=False)
    for name, table in {"annotations": world.labels, "scores": world.scores}.items():
        table.assign(item_id="n" + table["item_id"]).to_csv(data / f"{name}.csv", index=False)
    declare("scorer", "config", "prompt", to="p-2")(world)
    world.study["data"]["populations"] = ["tickets-again"]
    world.write(folder.root)
    with (folder.root / "calib.yaml").open("a", encoding="utf-8") as file:
        file.write("  tickets-again: {items: data/tickets-again/items.csv}\n")

    assert folder.climb(population="tickets-again").asset == "annotations"
    drawn = reserved_now(folder, population="tickets-again")
    contents = set(renamed["content_digest"][renamed["item_id"].isin(drawn)])
    assert len(contents) == 150
    assert not contents & spent


@pytest.mark.slow
def test_relabeling_after_the_opening_is_refused_for_good(climbed: Folder, world: World) -> None:
    """A measurement is made once: other labels make it another one, and undoing them makes it a repeat again."""
    records = climbed.records()
    right = world.labels.copy()
    wrong = world.labels.index[::40]
    world.labels.loc[wrong, "value"] = "pass"
    world.write(climbed.root)
    run = climbed.climb()
    assert (run.asset, run.rung) == ("scorer_agreement", "holdout")
    assert "with other labels; a measurement is made once" in str(run.reason)
    assert "agreement" not in set(climbed.evidence("scorer_agreement")["name"])
    assert climbed.records() == records

    world.labels = right
    world.write(climbed.root)
    assert climbed.climb_to("scorer_agreement").status == "ok"


@pytest.mark.slow
def test_labels_that_had_to_be_corrected_lead_to_a_re_check(climbed: Folder, world: World) -> None:
    spent = set(world.labels["item_id"])
    world.labels.loc[world.labels.index[::40], "value"] = "pass"
    world.write(climbed.root)
    refused = climbed.run_alone("human_ceiling")
    assert refused.status == "failed"
    assert "the evidence of annotations is stale: labels changed since it was made" in refused.error
    run = climbed.climb()
    assert run.asset == "scorer_agreement"
    assert "measure again on unspent items with `calib run --recheck`" in str(run.next_step)
    run = climbed.climb(recheck=True)
    assert (run.status, run.asset, run.next_step) == ("stopped", "annotations", "label 135 more of the reserved items")
    assert not reserved_now(climbed) & spent


@pytest.mark.slow
def test_several_scorers_frozen_before_the_opening_are_measured_on_one_set(
    tmp_path: Path, instance: dg.DagsterInstance, world: World
) -> None:
    """Each pays for the other: the gate's level is divided by the number of configurations registered."""
    rival = world.study | {"study": "rival", "scorer": {"id": "judge-2", "kind": "table", "config": {"model": "m-9"}}}
    world.others.append(rival)
    outputs = world.scores.copy()
    world.scores = pd.concat([outputs, outputs.assign(scorer_id="judge-2")], ignore_index=True)
    folder = folder_of(world, tmp_path, instance)
    for study in ("judge", "rival"):
        assert folder.climb_to("scorer_agreement", study).status == "ok"
        agreement = folder.evidence("scorer_agreement", study)
        assert figure(agreement, "configurations_registered") == 2
        assert figure(agreement, "earlier_attempts") == 0
        assert figure(agreement, "gate_level") == pytest.approx(0.975)
    assert len(folder.ladder.ledger.sets()) == 1

    late = rival | {"study": "latecomer", "scorer": rival["scorer"] | {"config": {"model": "m-10"}}}
    world.others.append(late)
    world.write(folder.root)
    assert folder.climb_to("holdout_reservation", "latecomer").status == "ok"
    assert figure(folder.evidence("holdout_reservation", "latecomer"), "generation") == 2


@pytest.mark.slow
def test_a_scorer_that_was_tuned_on_a_table_of_items_is_measured_without_them(climbed: Folder, world: World) -> None:
    """What it was tuned on is part of the configuration, so that a table that is filled later names another one."""
    tuning = climbed.root / "data" / POPULATION / "tuning.csv"
    spent = set(reserved(world)["item_id"])
    unspent = sorted(set(world.items["item_id"]) - spent)
    world.study["scorer"]["tuned_on"] = "data/{population}/tuning.csv"
    world.write(climbed.root)
    pd.DataFrame({"item_id": unspent}).to_csv(tuning, index=False)
    stopped = climbed.climb()
    assert (stopped.asset, stopped.rung) == ("holdout_reservation", "holdout")
    assert "of the 150 reserved items shaped the scorer, by its own declaration: " in str(stopped.reason)
    assert not reserved_now(climbed) & spent

    pd.DataFrame({"item_id": ["none of these"], "content_digest": [None]}).to_csv(tuning, index=False)
    world.labels = world_of().labels
    world.write(climbed.root)
    made = climbed.climb()
    assert made.status == "ok", made
    [_, record] = climbed.records()
    verified = verify_record(climbed.project, record.record_id)
    assert verified.problems == ()
    pd.DataFrame({"item_id": sorted(reserved_now(climbed))[:1]}).to_csv(tuning, index=False)
    status = cell_status(climbed.project, climbed.ladder, Cell("judge", POPULATION))
    assert (status.status, status.changed) == ("stale", ("tuned on",))
