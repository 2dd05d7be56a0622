"""Items of one text under two ids: on both sides of the reservation, among what is spent, and before the scorer."""

from __future__ import annotations

import json
from pathlib import Path

import dagster as dg
import pytest
from climbs import Folder, folder_of, reserved
from gate_case import declare
from made_up_project import POPULATION, World, world_of

from calib_pipeline.cli.main import main
from calib_pipeline.evidence.evidence import figure
from calib_pipeline.records.verification import verify_record

PHRASE = "ticket number {0}: please help"


def with_texts(world: World) -> World:
    """Every item with a text of its own."""
    world.items["text"] = [PHRASE.format(number) for number in range(len(world.items))]
    return world


def rewritten(world: World, item: str, of: str) -> None:
    """Make an item a copy of another, with other case and punctuation."""
    text = world.items.set_index("item_id").loc[of, "text"]
    world.items.loc[world.items["item_id"] == item, "text"] = f"  {str(text).upper().replace(':', ' -')}!!"


@pytest.fixture
def twins() -> World:
    """A world in which three reserved items have a copy that is not reserved."""
    world = with_texts(world_of())
    inside = sorted(reserved(world)["item_id"])
    outside = sorted(set(world.items["item_id"]) - set(inside))
    for item, of in zip(outside[:3], inside[:3], strict=True):
        rewritten(world, item, of)
    return world


def test_twins_outside_are_counted_and_told_and_stop_nothing(
    twins: World, tmp_path: Path, instance: dg.DagsterInstance, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_of(twins, tmp_path, instance)
    assert folder.climb().status == "ok"
    assert figure(folder.evidence("holdout_reservation"), "twins_outside") == 3
    main(["status", "--project", str(folder.root)])
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "warning: reserved items with a twin outside of the set (the same content or normalised text): 3 of 150" in said
    )
    assert "twins of these that are not reserved: 3." in said and "give twins one `group`" in said
    assert verify_record(folder.project, folder.records()[0].record_id).problems == ()


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.slow
def test_twins_of_one_group_are_on_one_side(grouped: bool, tmp_path: Path, instance: dg.DagsterInstance) -> None:
    world = with_texts(world_of())
    pairs = [(f"t{number:04d}", f"t{number + 1:04d}") for number in range(0, 100, 2)]
    for item, of in pairs:
        rewritten(world, item, of)
    if grouped:
        names = {item: f"pair {place}" for place, pair in enumerate(pairs) for item in pair}
        world.items["group"] = world.items["item_id"].map(names)
    folder = folder_of(world, tmp_path, instance)
    folder.run_alone("holdout_reservation")
    outside = figure(folder.evidence("holdout_reservation"), "twins_outside")
    assert outside is None if grouped else outside is not None and outside > 10


@pytest.mark.slow
def test_no_text_reaches_what_is_stored(twins: World, tmp_path: Path, instance: dg.DagsterInstance) -> None:
    folder = folder_of(twins, tmp_path, instance)
    assert folder.climb().status == "ok"
    stored = [path for path in Path(folder.project.store).parent.rglob("*") if path.is_file()]
    assert stored
    for path in stored:
        content = path.read_bytes()
        if path.suffix == ".parquet":
            import pandas as pd

            content += pd.read_parquet(path).to_csv().encode()
        assert b"please help" not in content.lower(), path


@pytest.mark.slow
def test_a_twin_of_a_spent_item_is_not_drawn(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    """The cheat: bring the items that were looked at again, each with another full stop, as new ones."""
    world = with_texts(world_of(strata={"billing": 100, "login": 60}))
    folder = folder_of(world, tmp_path, instance)
    folder.climb()
    assert "opened" in {event.event for event in folder.events()}

    renamed = world.items.assign(item_id="n" + world.items["item_id"], text=world.items["text"] + " . ")
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
    run = folder.climb(population="tickets-again")
    assert "10 items could be reserved; 150 were asked for" in str(run.reason)


def test_a_twin_among_the_examples_of_the_prompt_stops(
    twins: World, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    item = reserved(twins)["item_id"].iloc[5]
    text = twins.items.set_index("item_id").loc[item, "text"]
    twins.study["scorer"]["config"]["examples"] = [{"text": str(text).upper() + "?", "label": "pass"}]
    run = folder_of(twins, tmp_path, instance).climb()
    assert (run.asset, run.rung) == ("holdout_reservation", "holdout")
    assert f"1 of the 150 reserved items shaped the scorer, by its own declaration: {item}" in str(run.reason)


def test_twins_in_the_table_of_tuning_items_stop(twins: World, tmp_path: Path, instance: dg.DagsterInstance) -> None:
    shown = reserved(twins)["item_id"].head(4)
    texts = twins.items.set_index("item_id").loc[shown, "text"]
    table = "".join(json.dumps({"item_id": f"x{item}", "text": f"{text} !"}) + "\n" for item, text in texts.items())
    twins.beside[f"data/{POPULATION}/tuning.jsonl"] = table
    twins.study["scorer"]["tuned_on"] = "data/{population}/tuning.jsonl"
    run = folder_of(twins, tmp_path, instance).climb()
    assert "4 of the 150 reserved items shaped the scorer" in str(run.reason)


def test_exact_copies_by_content_digest_are_told_too(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    world = world_of()
    inside = sorted(reserved(world)["item_id"])
    outside = sorted(set(world.items["item_id"]) - set(inside))
    world.items["content_digest"] = world.items["item_id"].replace(dict(zip(outside[:2], inside[:2], strict=True)))
    folder: Folder = folder_of(world, tmp_path, instance)
    folder.run_alone("holdout_reservation")
    assert figure(folder.evidence("holdout_reservation"), "twins_outside") == 2
