"""Items that one dimension has spent serve another only where someone says why it is another, and no rubric or label
says that it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from climbs import Folder
from made_once import made_once
from made_up_project import POPULATION, World
from other_constructs import RUBRIC, TONE, WHY, another_construct, opened_for_tone, spent_for_tone, write_labels
from sweeps import swept

from calib_pipeline.cli.exit_codes import REACHED
from calib_pipeline.cli.main import main
from calib_pipeline.evidence.evidence import figure
from calib_pipeline.records.verification import verify_record

RESOLVED = f"resolved@{POPULATION}.g1"


@pytest.fixture
def world() -> World:
    return spent_for_tone()


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory, instance: dg.DagsterInstance) -> Folder:
    """The unchanged world, of which 150 of 160 items are spent for the tone."""

    def climb(root: Path) -> None:
        opened_for_tone(spent_for_tone(), root, instance)

    return Folder(made_once(tmp_path_factory, "spent-for-tone", climb), instance)


def reserved(folder: Folder, holdout_id: str) -> set[str]:
    return {item.item_id for item in folder.ladder.ledger.items(holdout_id)}


def test_nothing_declared_leaves_spent_items_out_and_names_the_key(folder: Folder) -> None:
    run = folder.climb()
    assert run.asset == "holdout_reservation"
    assert "10 items could be reserved; 150 were asked for" in str(run.reason)
    assert "150 items were left out that only the dimension tone has spent" in str(run.reason)
    assert str(run.next_step).startswith("say under holdout.other_constructs why the construct of tone differs")
    assert not reserved(folder, RESOLVED) & reserved(folder, TONE)


@pytest.mark.slow
def test_the_key_draws_again_what_came_short_without_it(folder: Folder, world: World) -> None:
    folder.climb()
    another_construct(world)
    world.write(folder.root)
    assert folder.climb().status == "ok"
    assert reserved(folder, f"resolved@{POPULATION}.g2") == reserved(folder, TONE)
    assert len(folder.ladder.ledger.sets()) == 3


@pytest.mark.slow
def test_with_nothing_left_the_message_counts_what_the_key_would_free(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    run = opened_for_tone(spent_for_tone(160), tmp_path, instance).climb()
    assert "no item of 'tickets-2026-01' is left to reserve for 'resolved': all 160 are spent" in run.error
    assert "(160 for tone), say under holdout.other_constructs why its construct differs" in run.error


@pytest.fixture
def measured(tmp_path_factory: pytest.TempPathFactory, instance: dg.DagsterInstance) -> Folder:
    """The items measured again, for a construct that is declared to be another."""

    def climb(root: Path) -> None:
        world = spent_for_tone()
        another_construct(world)
        assert opened_for_tone(world, root, instance).climb().status == "ok"

    return Folder(made_once(tmp_path_factory, "measured-beside-tone", climb), instance)


def test_a_declared_reason_draws_them_and_stands_wherever_the_set_is_told_of(
    measured: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reserved(measured, RESOLVED) == reserved(measured, TONE)
    for view in ("log", "state"):
        assert main(["holdout", view, "--project", str(measured.root)]) == REACHED
        assert WHY in " ".join(capsys.readouterr().out.split())
    assert measured.ladder.ledger.verify() == []


def test_both_dimensions_are_counted_in_m(measured: Folder) -> None:
    agreement = measured.evidence("scorer_agreement")
    assert figure(agreement, "earlier_attempts") == 1
    assert figure(agreement, "gate_level") == pytest.approx(1 - 0.05 / 2)


def test_a_record_carries_the_reason_and_verifies(measured: Folder) -> None:
    [entry] = [one for one in measured.records() if one.study == "judge"]
    record = measured.ladder.archive.read(entry.record_id)
    assert record is not None
    said: Any = record["holdout"]
    assert said["other_constructs"] == [{"dimension": "tone", "because": WHY, "items_spent_for_it": 150}]
    assert "of 150 shared items have the values that they have for tone" in said["labels_elsewhere"][TONE]
    assert verify_record(measured.project, entry.record_id).problems == ()


@pytest.mark.slow
def test_running_it_again_changes_nothing(measured: Folder) -> None:
    files = measured.evidence_files()
    assert measured.climb().status == "ok"
    assert measured.evidence_files() == files


@pytest.mark.parametrize(
    "rubric", swept([RUBRIC, RUBRIC.upper().replace(" ", "  ").replace(".", " !"), f"\u200b{RUBRIC}"], RUBRIC)
)
def test_the_rubric_of_the_other_dimension_refuses_it(folder: Folder, world: World, rubric: str) -> None:
    """The dimension renamed, with another space in the rubric: a bad declaration, and nothing is reserved."""
    another_construct(world)
    world.rubric = rubric
    world.write(folder.root)
    run = folder.climb()
    assert "study judge declares tone another construct, but the rubric is that of tone" in run.error
    assert "holdout.other_constructs" in run.error
    assert [header.holdout_id for header in folder.ladder.ledger.sets()] == [TONE]


def test_a_rubric_that_is_copied_after_the_draw_spends_the_set(folder: Folder, world: World) -> None:
    another_construct(world)
    world.write(folder.root)
    assert folder.climb_to("annotations").status == "ok"
    world.rubric = RUBRIC.replace(" ", "  ")
    world.write(folder.root)
    assert "the rubric is that of tone" in folder.climb().error
    assert [event.holdout_id for event in folder.events() if event.event == "opened"] == [TONE]


def _copied(labels: pd.DataFrame) -> pd.DataFrame:
    return labels


def _under_other_names(labels: pd.DataFrame) -> pd.DataFrame:
    return labels.assign(annotator_id="x" + labels["annotator_id"])


def _but_for_a_few(labels: pd.DataFrame) -> pd.DataFrame:
    return labels.assign(value=labels["value"].where(labels.index % 50 != 0, "fail"))


def _turned_round(labels: pd.DataFrame) -> pd.DataFrame:
    return labels.assign(value=labels["value"].map({"pass": "fail", "fail": "pass"}))


@pytest.mark.parametrize("cheat", swept([_copied, _under_other_names, _but_for_a_few, _turned_round], _but_for_a_few))
def test_the_labels_of_the_other_dimension_refuse_it(cheat: Any, folder: Folder, world: World) -> None:
    another_construct(world)
    world.labels = cheat(pd.read_csv(folder.root / "data" / POPULATION / "tone.csv"))
    world.write(folder.root)
    run = folder.climb()
    assert (run.asset, run.rung) == ("annotations", "holdout")
    assert f"the labels are not known to differ from those of the set {TONE}" in str(run.reason)
    assert [event.holdout_id for event in folder.events() if event.event == "opened"] == [TONE]


@pytest.mark.slow
def test_labels_that_are_seen_there_after_these_were_ingested_make_these_stale(
    world: World, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    """Reserve and label both first, then look at the other: what was compared then is compared again."""
    another_construct(world)
    labels = world.labels.pivot(index="item_id", columns="annotator_id", values="value")
    write_labels(world, "tone.csv", {who: labels[who].tolist() for who in labels})
    folder = opened_for_tone(world, tmp_path / "seen", instance)
    later = folder.copied_to(tmp_path / "later")
    assert folder.climb().asset == "annotations"

    world.write(tmp_path / "first")
    first = Folder(tmp_path / "first", instance)
    assert first.climb_to("annotations").status == "ok"
    first.climb("tone")
    run = first.run_alone("human_ceiling")
    assert "the evidence of annotations is stale: labels changed" in run.error
    assert later.climb().rung == "holdout"


def test_an_export_of_the_items_is_of_every_construct(folder: Folder, world: World) -> None:
    folder.ladder.ledger.record_export(TONE, "maria")
    another_construct(world)
    world.write(folder.root)
    assert "10 items could be reserved" in str(folder.climb().reason)
