"""``calib sheet``: blind, whole, and read back by what reads label sheets."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from small_project import FEW, GOOD, POPULATION, RESERVED, SIZE, reserved_ids

from calib_pipeline.cell import Cell
from calib_pipeline.holdout_sets import HoldoutSets
from calib_pipeline.ledger import Ledger
from calib_pipeline.studies.project import load_project
from calib_pipeline.table_cache import TableCache
from calib_pipeline.tables.annotations import read_labels

COLUMNS = ["item_id", "text", "allowed", "value", "confidence", "note", "labeled_at", "annotator_id", "rubric_version"]


def manifest(root, **columns):
    """The item manifest, with further columns where given."""
    path = root / "data" / POPULATION / "items.csv"
    items = pd.read_csv(path)
    if columns:
        items.assign(**columns).to_csv(path, index=False)
    return items


@pytest.fixture
def reserved(declared):
    """A project with texts whose set is reserved, and nothing labeled yet; the named items of the set."""
    manifest(declared, text=[f"Reply {row}, with “quotes”,\nand a second line" for row in range(SIZE)])
    (declared / "data" / POPULATION / "annotations.csv").unlink()
    project = load_project(declared)
    with Ledger.open(project.ledger) as ledger:
        held = HoldoutSets(project, ledger, TableCache(project)).for_run(
            Cell(GOOD, POPULATION), run_id=None, recheck=False
        )
    return declared, {item.item_id for item in held.items if item.doubly}


def sheets(folder):
    return {path.stem: pd.read_csv(path, dtype=str, keep_default_na=False) for path in folder.glob("*.csv")}


def written(calib, root, *arguments, study=GOOD):
    folder = root / "out"
    said = calib("sheet", study, POPULATION, "--output", folder, "--project", root, *arguments)
    assert said.code == 0, said.err
    return folder, said


def test_a_sheet_holds_item_text_and_room_and_nothing_else(calib, reserved):
    root, _ = reserved
    folder, _ = written(calib, root, "--annotators", "ana", "bo")
    texts = manifest(root).set_index("item_id")["text"]
    for name, sheet in sheets(folder).items():
        assert list(sheet.columns) == COLUMNS
        assert sheet["text"].tolist() == texts[sheet["item_id"]].tolist()
        assert set(sheet["annotator_id"]) == {name} and set(sheet["allowed"]) == {"no | yes"}
        assert set(sheet["value"]) == {""}
    assert (folder / "rubric.md").read_bytes() == (root / "rubrics" / "kind.md").read_bytes()
    everything = b"".join(path.read_bytes() for path in folder.glob("*.csv"))
    assert not any(word in everything for word in (b"judge", b"coin", b"stratum", b"words", b"doubly", b"named"))


def test_the_named_items_stand_on_two_sheets_and_the_others_on_one(calib, reserved):
    root, named = reserved
    folder, said = written(calib, root, "--annotators", "ana", "bo", "cy")
    counted = pd.concat(sheets(folder).values())["item_id"].value_counts()
    assert set(counted.index) == set(reserved_ids(manifest(root)[["item_id", "words"]]))
    assert set(counted.index[counted == 2]) == named and set(counted) == {1, 2}
    document = json.loads((folder / "sheets.json").read_text(encoding="utf-8"))
    assert (document["items"], document["labels"]) == (RESERVED, RESERVED + len(named))
    assert f"{RESERVED} items" in said.out and "there is no table of labels yet" in said.err


def test_filled_sheets_are_read_back_without_a_row_to_spare(calib, reserved):
    root, _ = reserved
    folder, _ = written(calib, root, "--annotators", "ana", "bo")
    filled = pd.concat(sheets(folder).values()).assign(
        value="yes", confidence="high", labeled_at="2026-04-02T10:00:00Z"
    )
    path = root / "data" / POPULATION / "annotations.csv"
    filled.to_csv(path, index=False)
    project = load_project(root)
    labels = read_labels(str(path), project.studies[GOOD], reserved_ids(manifest(root)[["item_id", "words"]]))
    assert labels.counts == {"received": len(filled), "usable": len(filled), "repeat": 0}
    assert not labels.unlabeled and set(labels.frame["confidence"]) == {"high"}
    call = ("sheet", GOOD, POPULATION, "--annotators", "ana", "bo", "--project", root)
    again = calib(*call, "--output", root / "again")
    assert again.code == 0 and "no item of kindness@replies-1.g1 awaits a label" in again.out


def test_only_what_awaits_labels_is_handed_out_and_to_who_has_not_given_one(calib, reserved):
    root, named = reserved
    ids = sorted(reserved_ids(manifest(root)[["item_id", "words"]]))
    by_ana = ids[:70]
    labels = pd.DataFrame({"item_id": by_ana, "annotator_id": "ana", "value": "yes"})
    labels.to_csv(root / "data" / POPULATION / "annotations.csv", index=False)
    folder, _ = written(calib, root, "--annotators", "ana", "bo")
    found = sheets(folder)
    assert not set(found["ana"]["item_id"]) & set(by_ana)
    again = named & set(by_ana)
    assert again <= set(found["bo"]["item_id"])
    assert set(found["ana"]["item_id"]) | set(found["bo"]["item_id"]) == (set(ids) - set(by_ana)) | again


def test_orders_differ_and_can_be_made_again(calib, reserved):
    root, _ = reserved
    folder, _ = written(calib, root, "--annotators", "ana", "bo", "--seed", "5")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    common = [
        [item for item in sheet["item_id"] if item in set(sheets(folder)["ana"]["item_id"])]
        for sheet in sheets(folder).values()
    ]
    assert sorted(common[0]) != common[0]
    written(calib, root, "--annotators", "ana", "bo", "--seed", "5", "--force")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    written(calib, root, "--annotators", "ana", "bo", "--seed", "6", "--force")
    assert (folder / "ana.csv").read_bytes() != before["ana.csv"]


def test_nothing_is_written_over_without_force(calib, reserved):
    root, _ = reserved
    folder, _ = written(calib, root, "--annotators", "ana", "bo")
    (folder / "ana.csv").write_text("half filled", encoding="utf-8")
    said = calib("sheet", GOOD, POPULATION, "--annotators", "ana", "bo", "--output", folder, "--project", root)
    assert said.code == 2 and "is there already, and nothing is written over" in said.err
    assert (folder / "ana.csv").read_text(encoding="utf-8") == "half filled"


def test_where_the_disk_is_full_no_folder_is_left(calib, reserved, monkeypatch):
    root, _ = reserved

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    said = calib("sheet", GOOD, POPULATION, "--annotators", "ana", "bo", "--output", root / "out", "--project", root)
    assert said.code == 2 and "No space left on device" in said.err
    assert not (root / "out").exists()


def test_too_few_people_for_the_named_items_are_refused(calib, reserved):
    root, _ = reserved
    said = calib("sheet", GOOD, POPULATION, "--annotators", "ana", "--output", root / "out", "--project", root)
    assert said.code == 2 and "needs 2 people" in said.err and not (root / "out").exists()


@pytest.mark.parametrize(
    ("names", "told"),
    [(["a/b", "c"], "cannot name a file"), (["ana", "Ana"], "would be one file"), (["..", "c"], "cannot name a file")],
)
def test_names_that_are_no_files_are_refused(calib, declared, names, told):
    said = calib("sheet", GOOD, POPULATION, "--annotators", *names, "--output", declared / "out", "--project", declared)
    assert said.code == 2 and told in said.err


def test_without_a_set_the_way_to_one_is_told(calib, declared):
    said = calib("sheet", GOOD, POPULATION, "--annotators", "ana", "bo", "--project", declared)
    assert said.code == 2 and "no reserved set serves 'good'" in said.err and "calib run --study good" in said.err
    assert not (declared / ".calib").exists()


def test_a_sample_has_sheets_too(calib, declared):
    sample = declared / "mine.csv"
    calib(
        "sample", POPULATION, "--size", 30, "--seed", 1, "--doubly", 9, "--output", sample, "--project", declared,
    )  # fmt: skip
    folder, said = written(calib, declared, "--annotators", "ana", "bo", "--sample", sample)
    drawn = pd.read_csv(sample)
    counted = pd.concat(sheets(folder).values())["item_id"].value_counts()
    assert set(counted.index) == set(drawn["item_id"])
    assert set(counted.index[counted == 2]) == set(drawn["item_id"][drawn["doubly"]])
    assert "text" not in sheets(folder)["ana"].columns and "name a table of texts with --texts" in said.err
    assert "under one header" not in said.out


def test_a_sample_of_other_items_or_of_held_out_ones_is_told(calib, reserved):
    root, _ = reserved
    strange, held = root / "strange.csv", root / "held.csv"
    strange.write_text("item_id\nr001\nnowhere\n", encoding="utf-8")
    said = calib("sheet", GOOD, POPULATION, "--annotators", "ana", "--sample", strange, "--project", root)
    assert said.code == 2 and "strange.csv:3" in said.err and "'nowhere' is no item of replies-1" in said.err
    held.write_text("item_id\n" + reserved_ids(manifest(root)[["item_id", "words"]])[0] + "\n", encoding="utf-8")
    _, said = written(calib, root, "--annotators", "ana", "--sample", held)
    assert "1 items of the sample are held out" in said.err


def test_texts_come_from_another_table_and_must_be_the_scorers(calib, reserved):
    root, _ = reserved
    texts = manifest(root)[["item_id", "text"]]
    elsewhere = root / "texts.csv"
    texts.to_csv(elsewhere, index=False)
    call = ("--annotators", "ana", "bo", "--texts", elsewhere)
    folder, _ = written(calib, root, *call)
    assert list(sheets(folder)["ana"].columns) == COLUMNS
    texts.assign(text=[f"{text} shortened" for text in texts["text"]]).to_csv(elsewhere, index=False)
    said = calib("sheet", GOOD, POPULATION, *call, "--output", root / "other", "--project", root)
    assert said.code == 2 and "is not the one that the item manifest has the text_digest of" in said.err
    texts.iloc[:40].to_csv(elsewhere, index=False)
    said = calib("sheet", GOOD, POPULATION, *call, "--output", root / "other", "--project", root)
    assert said.code == 2 and "has no text (and" in said.err and not (root / "other").exists()


def test_no_table_of_scores_is_shown(calib, reserved):
    root, _ = reserved
    scores = root / "data" / POPULATION / "scores.csv"
    said = calib("sheet", GOOD, POPULATION, "--annotators", "ana", "bo", "--texts", scores, "--project", root)
    assert said.code == 2 and "is the table of scores of" in said.err


def test_a_text_that_a_spreadsheet_would_run_is_told(calib, reserved):
    root, _ = reserved
    texts = root / "texts.csv"
    items = [f"r{row:03d}" for row in range(SIZE)]
    manifest(root).drop(columns="text").to_csv(root / "data" / POPULATION / "items.csv", index=False)
    sample = root / "mine.csv"
    sample.write_text("item_id\nr001\nr002\n", encoding="utf-8")
    pd.DataFrame({"item_id": items, "text": "=1+1"}).to_csv(texts, index=False)
    _, said = written(calib, root, "--annotators", "ana", "--sample", sample, "--texts", texts)
    assert "2 texts begin like a formula" in said.err


def test_the_study_whose_labels_are_few_hands_out_the_rest(calib, own_copy):
    folder, _ = written(calib, own_copy, "--annotators", "cy", "di", study=FEW)
    ids = reserved_ids(manifest(own_copy))
    few = set(pd.read_csv(own_copy / "data" / POPULATION / "few.csv")["item_id"])
    assert set(pd.concat(sheets(folder).values())["item_id"]) == set(ids) - few
