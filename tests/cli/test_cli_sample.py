"""``calib sample``: the draw of a reservation, documented, without held-out items and not on the outcome."""

from __future__ import annotations

import json
import os

import pandas as pd
import pytest
from small_project import POPULATION, RESERVED, SIZE

from calib_pipeline.digests import digest_bytes
from calib_pipeline.ledger import Ledger, ReservedItem, SetDraw
from calib_pipeline.sampling import draw_holdout, keyed_hash
from calib_pipeline.studies.project import load_project
from calib_pipeline.table_cache import TableCache


def drawn(calib, root, *arguments, size=20, seed=11):
    """A sample and its document."""
    target = root / "mine.csv"
    said = calib(
        "sample", POPULATION, "--size", size, "--seed", seed, "--output", target, "--project", root, *arguments
    )
    assert said.code == 0, said.err
    document = json.loads((root / "mine.json").read_text(encoding="utf-8"))
    return pd.read_csv(target, dtype={"item_id": str}), document, said


def with_column(root, name, values):
    """Write a column into the item manifest."""
    path = root / "data" / POPULATION / "items.csv"
    items = pd.read_csv(path)
    items.assign(**{name: values(items)}).to_csv(path, index=False)


def test_the_items_have_the_smallest_hashes_of_their_stratum(calib, declared):
    with_column(declared, "stratum", lambda items: ["long" if words > 60 else "short" for words in items["words"]])
    sample, document, _ = drawn(calib, declared, "--min-per-stratum", 8)
    manifest = pd.read_csv(declared / "data" / POPULATION / "items.csv")
    for name, part in sample.groupby("stratum"):
        all_of_it = manifest["item_id"][manifest["stratum"] == name]
        by_hash = sorted(all_of_it, key=lambda item: keyed_hash(11, item))
        assert part["item_id"].tolist() == by_hash[: len(part)]
        assert part["weight"].tolist() == [len(all_of_it) / len(part)] * len(part)
        assert document["strata"][name]["population"] == len(all_of_it)
    assert sample["weight"].sum() == pytest.approx(SIZE)
    assert document["strata"]["long"]["drawn"] >= 8


def test_the_draw_is_that_of_the_reservation_and_can_be_made_again(calib, declared):
    sample, document, _ = drawn(calib, declared, "--doubly", 9)
    frame = TableCache(load_project(declared)).manifest(POPULATION).frame
    expected = draw_holdout(frame, size=20, seed=11, min_per_stratum=1, named_items=9)
    assert sample["item_id"].tolist() == expected["item_id"].tolist()
    assert sample["doubly"].tolist() == expected["named"].tolist() and document["doubly"] == 10
    before = (declared / "mine.csv").read_bytes(), (declared / "mine.json").read_bytes()
    drawn(calib, declared, "--doubly", 9, "--force")
    assert ((declared / "mine.csv").read_bytes(), (declared / "mine.json").read_bytes()) == before


def test_the_document_says_what_it_is_a_sample_of(calib, declared):
    _, document, _ = drawn(calib, declared)
    manifest = TableCache(load_project(declared)).manifest(POPULATION)
    assert (document["population"], document["population_digest"]) == (POPULATION, manifest.digest)
    assert (document["seed"], document["size_asked"], document["items"]) == (11, 20, 20)
    assert document["sample_digest"] == digest_bytes((declared / "mine.csv").read_bytes())
    assert "keyed hash" in document["method"] and document["not_detectable"]
    assert document["items_table"] == f"data/{POPULATION}/items.csv" and str(declared) not in json.dumps(document)
    assert not (declared / ".calib").exists()


def test_held_out_items_are_left_out_and_counted(calib, own_copy):
    with Ledger.open(f"sqlite:///{own_copy}/.calib/ledger.db", read_only=True) as ledger:
        [header] = ledger.sets()
        held = {item.item_id for item in ledger.items(header.holdout_id)}
        head = ledger.head()
    sample, document, said = drawn(calib, own_copy, size=SIZE)
    assert not held & set(sample["item_id"]) and len(sample) == SIZE - RESERVED
    assert document["held_out_left_out"] == {"items": RESERVED, "by_set": {header.holdout_id: RESERVED}}
    assert f"{RESERVED} items are held out or their twins" in said.out
    assert "40 items are drawn where 160 were asked for" in said.err
    assert sample["weight"].tolist() == [SIZE / len(sample)] * len(sample)
    with Ledger.open(f"sqlite:///{own_copy}/.calib/ledger.db", read_only=True) as ledger:
        assert ledger.head() == head


def test_a_set_of_another_version_of_the_items_is_told(calib, own_copy):
    with Ledger.open(f"sqlite:///{own_copy}/.calib/ledger.db", read_only=True) as ledger:
        held = sorted(item.item_id for item in ledger.items(ledger.sets()[0].holdout_id))
    path = own_copy / "data" / POPULATION / "items.csv"
    items = pd.read_csv(path)
    pd.concat([items, pd.DataFrame({"item_id": ["new"], "words": [7]})]).to_csv(path, index=False)
    sample, document, _ = drawn(calib, own_copy, size=SIZE + 1)
    assert "new" in set(sample["item_id"]) and not set(held) & set(sample["item_id"])
    assert any("another version of these items" in warning for warning in document["warnings"])


def test_what_the_judge_flagged_is_no_sample(calib, declared):
    with_column(declared, "flagged", lambda items: [1] * len(items))
    said = calib(
        "sample", POPULATION, "--size", 5, "--seed", 1, "--where", "flagged=1", "--project", declared,
        "--output", declared / "mine.csv",
    )  # fmt: skip
    assert said.code == 2 and "cannot estimate agreement at all" in said.err
    assert not (declared / "mine.csv").exists() and not (declared / "mine.json").exists()


def test_an_output_under_another_name_is_known_by_what_it_keeps(calib, declared):
    scores = pd.read_csv(declared / "data" / POPULATION / "scores.csv")
    judge = scores[scores["scorer_id"] == "judge"].set_index("item_id")["value"]
    with_column(declared, "queue", lambda items: ["a" if judge[item] == "no" else "b" for item in items["item_id"]])
    call = ("sample", POPULATION, "--size", 5, "--seed", 1, "--project", declared, "--output", declared / "mine.csv")
    said = calib(*call, "--where", "queue=a")
    assert said.code == 2 and "what 'judge' said tells which items queue = a keeps (1.00 of 1)" in said.err
    assert calib(*call, "--where", "words>20").code == 0
    document = json.loads((declared / "mine.json").read_text(encoding="utf-8"))
    assert set(document["filter"]["how_well_outputs_tell_it"]) == {"judge", "coin"}
    assert max(document["filter"]["how_well_outputs_tell_it"].values()) < 0.5
    assert any("it says nothing of items without words > 20" in warning for warning in document["warnings"])


def test_scores_that_cannot_be_read_are_told(calib, declared):
    (declared / "data" / POPULATION / "scores.csv").unlink()
    _, document, said = drawn(calib, declared, "--where", "words>20")
    assert any("not compared with the filter" in warning for warning in document["warnings"])
    assert "warning: not compared with the filter" in said.err


def test_the_most_recent_items_are_a_period(calib, declared):
    with_column(declared, "created_at", lambda items: [f"2026-0{1 + row % 9}-01" for row in range(len(items))])
    _, document, said = drawn(calib, declared, "--where", "created_at>=2026-07-01")
    assert document["filter"]["kept"] == sum(1 + row % 9 >= 7 for row in range(SIZE))
    assert "a sample of one period tests the period" in said.err


def test_a_population_that_lacks_a_stratum_is_refused(calib, declared):
    with_column(declared, "stratum", lambda items: ["long" if words > 60 else "short" for words in items["words"]])
    call = ("sample", POPULATION, "--size", 5, "--seed", 1, "--project", declared, "--output", declared / "mine.csv")
    lacking = calib(*call, "--strata", "long", "short", "foreign")
    assert lacking.code == 2 and "no item of the stratum 'foreign'" in lacking.err
    filtered = calib(*call, "--strata", "long", "short", "--where", "words<=60")
    assert filtered.code == 2 and "--where: the population has no item of the stratum 'long'" in filtered.err
    warned = calib(*call, "--where", "words<=60")
    assert warned.code == 0 and "no item of the stratum 'long'" in warned.err


def test_nothing_is_written_over_without_force(calib, declared):
    (declared / "mine.json").write_text("mine", encoding="utf-8")
    call = ("sample", POPULATION, "--size", 5, "--seed", 1, "--project", declared, "--output", declared / "mine.csv")
    refused = calib(*call)
    assert refused.code == 2 and "mine.json is there already" in refused.err
    assert not (declared / "mine.csv").exists()
    assert calib(*call, "--force").code == 0
    assert calib(*call[:-1], declared / "mine.txt").code == 2
    assert "there is no folder" in calib(*call[:-1], declared / "nowhere" / "mine.csv").err


def test_where_one_file_cannot_be_written_none_is(calib, declared, monkeypatch):
    before = sorted(declared.iterdir())
    synced = []

    def full(descriptor):
        synced.append(descriptor)
        if len(synced) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    call = ("sample", POPULATION, "--size", 5, "--seed", 1, "--project", declared, "--output", declared / "mine.csv")
    said = calib(*call)
    assert said.code == 2 and "No space left on device" in said.err and "--output" in said.err
    assert sorted(declared.iterdir()) == before


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (["--size", "0", "--seed", "1"], "--size: 0 cannot be"),
        (["--size", "5", "--seed", "-1"], "--seed: -1 cannot be"),
        (["--size", "5", "--seed", "1", "--doubly", "6"], "6 of 5 items cannot be labeled doubly"),
        (["--size", "5", "--seed", "1", "--where", "words>1000"], "no item meets words > 1000"),
    ],
)
def test_what_cannot_be_drawn_is_refused(calib, declared, call, told):
    said = calib("sample", POPULATION, *call, "--project", declared, "--output", declared / "mine.csv")
    assert (said.code, said.out) == (2, "") and told in said.err


def test_the_json_on_stdout_is_the_document(calib, declared):
    call = ("sample", POPULATION, "--size", 5, "--seed", 1, "--project", declared, "--output", declared / "mine.csv")
    said = calib(*call, "--json")
    told = json.loads(said.out)
    stored = json.loads((declared / "mine.json").read_text(encoding="utf-8"))
    assert {name: told[name] for name in stored} == stored and told["file"] == str(declared / "mine.csv")


def test_a_copy_of_a_held_out_text_is_left_out_too(calib, declared):
    with_column(declared, "text", lambda items: [f"reply number {row // 2}" for row in range(len(items))])
    frame = TableCache(load_project(declared)).manifest(POPULATION).frame
    item = frame.iloc[0]
    held = (ReservedItem("elsewhere", None, "all", None, 1, False, item["text_digest"]),)
    draw = SetDraw("kindness@other.g1", "kindness", "other", "0" * 64, 1, 3, held)
    with Ledger.open(load_project(declared).ledger) as ledger:
        ledger.reserve(draw, [])
    sample, document, _ = drawn(calib, declared, size=SIZE)
    assert document["held_out_left_out"] == {"items": 2, "by_set": {"kindness@other.g1": 2}}
    assert {"r000", "r001"}.isdisjoint(sample["item_id"]) and len(sample) == SIZE - 2
