"""``calib holdout``: the sets, the events, and the two ways by which a person spends one."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3

import pandas as pd
import pytest
from small_project import ALONE, FITTED, GOOD, NOISE, POPULATION, RESERVED, SIZE, studies, write_study

from calib_pipeline.cli.console import Console
from calib_pipeline.cli.holdout import log_lines
from calib_pipeline.ledger import Event, Ledger

SET = f"kindness@{POPULATION}.g1"
CONTRACT = [
    "seq",
    "holdout_id",
    "event",
    "study",
    "config_digest",
    "run_id",
    "actor",
    "at",
    "details",
    "prev_hash",
    "hash",
]


def events(calib, root):
    return json.loads(calib("holdout", "log", "--project", root, "--json").out)


def test_before_any_run_there_is_nothing(calib, declared):
    for action in ("list", "log", "state"):
        said = calib("holdout", action, "--project", declared, "--json")
        assert (said.code, json.loads(said.out)) == (0, [])
    assert calib("holdout", "verify", "--project", declared).code == 0
    assert not (declared / ".calib").exists()


@pytest.mark.slow
def test_list_counts_what_happened_to_each_set(calib, climbed):
    [holdout] = json.loads(calib("holdout", "list", "--project", climbed.root, "--json").out)
    assert (holdout["holdout_id"], holdout["size"], holdout["generation"]) == (SET, RESERVED, 1)
    line = calib("holdout", "list", "--project", climbed.root).out.splitlines()[1]
    assert SET in line and f"  {RESERVED}  " in line


def test_log_prints_the_events_of_the_contract(calib, climbed):
    found = events(calib, climbed.root)
    assert all(list(event) == CONTRACT for event in found)
    assert [event["seq"] for event in found] == list(range(1, len(found) + 1))
    assert found[0]["event"] == "reserved"
    assert {"registered", "labels_ingested", "read", "opened", "evidence", "published"} <= {e["event"] for e in found}
    of_study = json.loads(calib("holdout", "log", SET, "--study", GOOD, "--project", climbed.root, "--json").out)
    assert {event["study"] for event in of_study} == {GOOD}
    text = calib("holdout", "log", "--project", climbed.root).out.splitlines()
    assert len(text) == len(found) + 1


def test_the_log_reads_as_a_timeline(calib, own_copy):
    calib(
        "holdout",
        "export",
        SET,
        "--to",
        "A. Person",
        "--output",
        own_copy / "labels.csv",
        "--yes",
        "--project",
        own_copy,
    )
    lines = calib("holdout", "log", SET, "--project", own_copy).out.splitlines()
    found = [event for event in events(calib, own_copy) if event["holdout_id"] == SET]
    said = {event["event"]: line for event, line in zip(found, lines[1:], strict=True)}
    for kind, words in {
        "reserved": f"generation 1 for kindness: {RESERVED} items of {POPULATION} (version ",
        "registered": " is frozen: configuration ",
        "labels_ingested": " arrived: ",
        "read": "labels were read for ",
        "opened": " met the outputs ",
        "exported": "labels left the pipeline, for A. Person",
        "published": ": Accurate at cohen kappa",
    }.items():
        assert words in said[kind]
    assert lines[0].split()[:4] == ["seq", "at", "day", "event"]
    assert {line[lines[0].index("day")] for line in lines[1:]} == {"0"}


@pytest.mark.slow
def test_the_state_says_who_may_not_open_a_set_that_is_past_its_limits(calib, declared, quick_dagster):
    """One of the five configurations measures it, and no second may."""
    for study in studies():
        study["holdout"]["max_measurements"] = 1
        write_study(declared, study)
    calib("run", "--study", GOOD, "--project", declared)
    said = json.loads(calib("holdout", "state", "--project", declared, "--json").out)
    why = {one["study"]: one["why"] for one in said}
    past = "past its limits: 1 configurations were measured on it, and holdout.max_measurements is 1"
    assert why[ALONE].endswith(past) and why[NOISE].endswith(past)
    assert "past its limits" not in why[GOOD]
    stopped = calib("run", "--study", ALONE, "--project", declared)
    assert (stopped.code, "holdout.max_measurements is 1" in stopped.out) == (3, True)


def test_the_day_is_counted_from_the_reservation():
    def at(seq, day, holdout_id=SET):
        return Event(
            seq,
            holdout_id,
            "retired",
            None,
            None,
            None,
            "a",
            f"2026-01-{day:02d}T12:00:00+00:00",
            {"reason": "old"},
            "",
            "",
        )

    days = [line[2] for line in log_lines([at(1, 1), at(2, 11), at(3, 12, None)], {SET: "2026-01-01T12:00:00+00:00"})]
    assert days == ["0", "10", ""]


def test_state_says_what_a_set_is_for_each_study(calib, climbed):
    states = {
        one["study"]: one for one in json.loads(calib("holdout", "state", "--project", climbed.root, "--json").out)
    }
    assert (states[GOOD]["state"], states[FITTED]["state"], states[ALONE]["state"]) == (
        "measured",
        "fitted",
        "unopened",
    )
    assert all(one["holdout_id"] == SET and one["why"] for one in states.values())


@pytest.mark.parametrize(
    "action", [["log"], ["state"], ["export", "--to", "x"], ["mark-fitted", "--everyone", "--reason", "x"]]
)
def test_an_unknown_set_is_refused_with_the_nearest(calib, climbed, action):
    said = calib("holdout", *action, SET.replace("kindness", "kindnes"), "--project", climbed.root)
    assert (said.code, said.out) == (2, "")
    assert f"did you mean '{SET}'?".casefold() in said.err.casefold()


@pytest.mark.parametrize("project", ["declared", "climbed"])
def test_the_log_of_an_unknown_study_is_refused_with_the_known_ones(calib, project, request):
    given = request.getfixturevalue(project)
    said = calib("holdout", "log", "--study", "nope", "--project", given.root if project == "climbed" else given)
    assert (said.code, said.out) == (2, "")
    assert "there is no study 'nope'" in said.err and GOOD in said.err


def test_the_log_of_a_study_that_is_no_longer_declared_is_shown(calib, own_copy):
    (own_copy / "studies" / f"{FITTED}.yaml").unlink()
    said = calib("holdout", "log", "--study", FITTED, "--project", own_copy)
    assert said.code == 0 and "registered" in said.out


def test_a_configuration_is_marked_by_the_beginning_of_its_digest(calib, own_copy):
    registered = [one for one in events(calib, own_copy) if (one["event"], one["study"]) == ("registered", ALONE)]
    digest = registered[0]["config_digest"]
    call = ["holdout", "mark-fitted", SET, "--reason", "x", "--project", own_copy, "--config"]
    before = events(calib, own_copy)
    for wrong in ("JUNK", ""):
        said = calib(*call, wrong)
        assert said.code == 2
        assert f"is no configuration registered on {SET}" in said.err and digest in said.err
    assert events(calib, own_copy) == before
    assert calib(*call, digest[:12]).code == 0
    assert events(calib, own_copy)[-1]["config_digest"] == digest


def test_verify_finds_a_ledger_that_was_edited(calib, own_copy):
    assert calib("holdout", "verify", "--project", own_copy).code == 0
    with sqlite3.connect(own_copy / ".calib" / "ledger.db") as database:
        names = [name for (name,) in database.execute("select name from sqlite_master where type = 'trigger'")]
        for name in names:
            database.execute(f'drop trigger "{name}"')
        database.execute("update events set actor = 'nobody' where seq = 3")
    said = calib("holdout", "verify", "--project", own_copy, "--json")
    document = json.loads(said.out)
    assert (said.code, document["verified"]) == (1, False)
    assert any("3" in problem for problem in document["problems"])
    assert "the ledger does not verify" in said.err


def test_an_anchor_is_printed_and_checked(calib, own_copy, tmp_path):
    line = calib("holdout", "anchor", "--project", own_copy).out.strip()
    again = json.loads(calib("holdout", "anchor", "--project", own_copy, "--json").out)["line"]
    assert again.partition(" seq ")[2] == line.partition(" seq ")[2] != ""
    kept = tmp_path / "mail.txt"
    kept.write_text(f"> {line}\n", encoding="utf-8")
    fits = calib("holdout", "verify", "--anchor", kept, "--project", own_copy)
    assert fits.code == 0
    assert "it holds what 1 anchor says" in fits.out
    kept.write_text(line.replace(" head ", " head f")[:-1], encoding="utf-8")
    said = calib("holdout", "verify", "--anchor", kept, "--project", own_copy, "--json")
    assert said.code == 1
    assert "now has another hash" in json.loads(said.out)["problems"][0]
    for wrong in (tmp_path / "none.txt", tmp_path, own_copy / ".calib" / "ledger.db"):
        assert calib("holdout", "verify", "--anchor", wrong, "--project", own_copy).code == 2


def test_an_anchor_of_a_ledger_that_is_gone_does_not_fit(calib, declared, tmp_path):
    said = calib("holdout", "anchor", "--project", declared)
    assert (said.code, said.out) == (2, "")
    assert "nothing to anchor" in said.err
    kept = tmp_path / "mail.txt"
    kept.write_text(f"calib-anchor 2026-12-01T01:00:00+00:00 seq 3 head {'a' * 64}", encoding="utf-8")
    assert calib("holdout", "verify", "--anchor", kept, "--project", declared).code == 1


def test_a_damaged_ledger_is_a_fault(calib, own_copy):
    for path in (own_copy / ".calib").glob("ledger.db*"):
        path.unlink()
    (own_copy / ".calib" / "ledger.db").write_text("this is no database" * 100)
    said = calib("status", "--project", own_copy)
    assert (said.code, said.out) == (1, "")
    assert "ledger" in said.err and "Traceback" not in said.err


def _no_file(path):
    path.symlink_to(path.with_name("elsewhere.db"))


def _itself(path):
    path.symlink_to(path.name)


def _other_database(path):
    with sqlite3.connect(path) as database:
        database.execute("create table accounts (name text)")
    database.close()


PLACES = {
    "dangling link": (_no_file, "is a symbolic link, and there is no file behind it; bring the file back"),
    "link to itself": (_itself, "is a symbolic link, and there is no file behind it; bring the file back"),
    "folder": (lambda path: path.mkdir(), "is a folder; a ledger is a file"),
    "pipe": (os.mkfifo, "is no file; move it away"),
    "another file": (lambda path: path.write_text("item_id,value\n"), "is a file of another kind, or damaged; name"),
    "another database": (_other_database, "is a database, but no ledger: it holds accounts. Name another file"),
}


@pytest.mark.parametrize("command", ["verify", "list", "state", "run"])
@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_ledger_is_named_and_left_as_it_is(calib, declared, place, command):
    make, words = PLACES[place]
    path = declared / ".calib" / "ledger.db"
    path.parent.mkdir()
    make(path)
    said = calib(*([command] if command == "run" else ["holdout", command]), "--project", declared)
    assert (said.code, said.out) == (1, "")
    assert str(path) in said.err and words in said.err
    assert not path.with_name("elsewhere.db").exists()
    assert not (declared / ".calib" / "store").exists()


@pytest.mark.parametrize("content", [None, b""], ids=["missing", "empty"])
def test_a_ledger_that_is_gone_is_a_problem_where_records_rest_on_it(calib, own_copy, content):
    for path in (own_copy / ".calib").glob("ledger.db*"):
        path.unlink()
    if content is not None:
        (own_copy / ".calib" / "ledger.db").write_bytes(content)
    said = calib("holdout", "verify", "--project", own_copy)
    assert (said.code, said.out) == (1, "")
    assert f"problem: {own_copy / '.calib' / 'ledger.db'} is missing or empty, and records rest on" in said.err
    shutil.rmtree(own_copy / ".calib" / "store")
    assert calib("holdout", "verify", "--project", own_copy).code == 0


def test_marking_a_set_as_fitted_is_for_good(calib, own_copy):
    said = calib(
        "holdout", "mark-fitted", SET, "--study", ALONE, "--reason", "the prompt quotes it", "--project", own_copy
    )
    assert said.code == 0
    assert f"{SET} is fitted for {ALONE}, for good" in said.out
    states = {one["study"]: one for one in json.loads(calib("holdout", "state", "--project", own_copy, "--json").out)}
    assert states[ALONE]["state"] == "fitted"
    assert "the prompt quotes it" in states[ALONE]["why"]
    assert states[GOOD]["state"] == "measured"


def test_who_is_named_twice_is_marked_once(calib, own_copy):
    before = events(calib, own_copy)
    digest = next(one["config_digest"] for one in before if one["event"] == "registered" and one["study"] == GOOD)
    twice = ["--study", ALONE, "--study", ALONE, "--config", digest, "--config", digest[:10]]
    said = calib("holdout", "mark-fitted", SET, *twice, "--reason", "tuned", "--project", own_copy)
    assert said.code == 0 and len(said.out.splitlines()) == 2
    added = events(calib, own_copy)[len(before) :]
    assert [(one["study"], one["config_digest"]) for one in added] == [(ALONE, None), (None, digest)]


def test_marking_again_writes_nothing_and_says_so(calib, own_copy):
    call = ("holdout", "mark-fitted", SET, "--study", ALONE, "--everyone", "--project", own_copy, "--reason")
    calib(*call, "tuned")
    before = events(calib, own_copy)
    said = calib(*call, "tuned")
    assert said.code == 0 and events(calib, own_copy) == before
    study, everyone = before[-2:]
    assert said.out.splitlines() == [
        f"{SET} is fitted for {ALONE} already, for this reason, since {study['at'][:10]} (event {study['seq']})",
        f"{SET} is fitted for every scorer already, for this reason, since {everyone['at'][:10]} "
        f"(event {everyone['seq']})",
    ]
    assert json.loads(calib(*call, "tuned", "--json").out) == before[-2:]
    assert ", for good (event " in calib(*call, "the rubric quotes it").out
    assert len(events(calib, own_copy)) == len(before) + 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--reason", "x"], "whom is not said"),
        (["--study", "nobody", "--reason", "x"], "there is no study 'nobody'"),
        (["--everyone", "--reason", "  "], "--reason is empty"),
        (["--everyone", "--reason", "\u200b\u3000\n"], "--reason is empty"),
        (["--everyone", "--reason", "a\x1b[2Jb"], "--reason holds the control character 0x1b at character 2"),
        (["--everyone", "--reason", "tun\udced"], "--reason is not UTF-8 at character 4"),
        (["--study", ALONE, "--study", "nobody", "--reason", "x"], "there is no study 'nobody'"),
    ],
)
def test_marking_needs_to_say_whom_and_why(calib, own_copy, options, said):
    before = events(calib, own_copy)
    refused = calib("holdout", "mark-fitted", SET, *options, "--project", own_copy)
    assert refused.code == 2
    assert said in refused.err
    assert events(calib, own_copy) == before


def test_an_export_spends_the_set_and_writes_its_plain_labels(calib, own_copy, tmp_path):
    target = tmp_path / "labels.csv"
    said = calib("holdout", "export", SET, "--to", "Zoë", "--yes", "--output", target, "--project", own_copy, "--json")
    document = json.loads(said.out)
    assert (said.code, document["event"]["event"], document["event"]["details"]) == (0, "exported", {"to": "Zoë"})
    written = pd.read_csv(target, dtype=str)
    of_good = written[written["study"] == GOOD]
    brought = pd.read_csv(own_copy / "data" / POPULATION / "annotations.csv", dtype=str)
    both = of_good.merge(brought, on=["item_id", "annotator_id"], suffixes=("", "_brought"))
    assert len(of_good) == len(both) == 2 * RESERVED < 2 * SIZE
    assert (both["value"] == both["value_brought"]).all()
    assert events(calib, own_copy)[-1]["event"] == "exported"
    states = {
        one["study"]: one["state"] for one in json.loads(calib("holdout", "state", "--project", own_copy, "--json").out)
    }
    assert (states[ALONE], states[GOOD]) == ("reused", "measured")


@pytest.mark.parametrize(("to", "said"), [(" ", "--to is empty"), ("e\x07", "0x07 at"), ("\udcff", "not UTF-8")])
def test_an_export_needs_a_name_that_can_be_read(calib, own_copy, tmp_path, to, said):
    before = events(calib, own_copy)
    target = tmp_path / "labels.csv"
    refused = calib("holdout", "export", SET, "--to", to, "--yes", "--output", target, "--project", own_copy)
    assert refused.code == 2 and said in refused.err
    assert events(calib, own_copy) == before and not target.exists()


def test_an_export_needs_a_yes(calib, own_copy, tmp_path, monkeypatch):
    call = ("holdout", "export", SET, "--to", "Zoë", "--output", tmp_path / "labels.csv", "--project", own_copy)
    before = events(calib, own_copy)
    said = calib(*call)
    assert said.code == 2
    assert "This spends" in said.err and "--yes" in said.err
    monkeypatch.setattr(Console, "confirm", lambda *_: False)
    assert calib(*call).code == 2
    assert events(calib, own_copy) == before
    assert not (tmp_path / "labels.csv").exists()
    monkeypatch.setattr(Console, "confirm", lambda *_: True)
    assert calib(*call).code == 0
    assert (tmp_path / "labels.csv").exists()


def test_the_event_is_written_before_the_file(calib, own_copy, tmp_path, monkeypatch):
    target = tmp_path / "labels.csv"
    seen = []
    write = Ledger.record_export

    def spied(ledger, *given, **named):
        seen.append(target.exists())
        return write(ledger, *given, **named)

    monkeypatch.setattr(Ledger, "record_export", spied)
    calib("holdout", "export", SET, "--to", "Zoë", "--yes", "--output", target, "--project", own_copy)
    assert seen == [False]
    assert target.exists()


def test_an_export_that_cannot_be_written_or_read_spends_nothing(calib, own_copy, tmp_path):
    before = events(calib, own_copy)
    there = tmp_path / "labels.csv"
    there.write_text("mine")
    for target in (there, tmp_path / "nowhere" / "labels.csv"):
        said = calib("holdout", "export", SET, "--to", "Zoë", "--yes", "--output", target, "--project", own_copy)
        assert said.code == 2
    (own_copy / "data" / POPULATION / "annotations.csv").unlink()
    said = calib(
        "holdout", "export", SET, "--to", "Zoë", "--yes", "--output", tmp_path / "a.csv", "--project", own_copy
    )
    assert said.code == 1
    assert "REVIEW_UNAVAILABLE" in said.err
    assert there.read_text() == "mine"
    assert events(calib, own_copy) == before


def test_a_record_file_that_is_damaged_is_a_problem(calib, own_copy):
    [file] = (own_copy / ".calib" / "store" / "records").glob(f"{POPULATION}/{GOOD}/*.json")
    file.write_text(file.read_text(encoding="utf-8")[:500], encoding="utf-8")
    said = calib("holdout", "verify", "--project", own_copy)
    assert said.code == 1
    assert f"the record file {file.name} cannot be read" in said.err


@pytest.mark.parametrize("name", ["x" * 252 + ".csv", "nowhere/x.csv"])
def test_labels_do_not_leave_for_a_file_that_cannot_be_written(calib, own_copy, tmp_path, name):
    before = events(calib, own_copy)
    target = tmp_path / name
    said = calib("holdout", "export", SET, "--to", "eve", "--yes", "--output", target, "--project", own_copy)
    assert said.code == 2
    assert "name another" in said.err.casefold()
    assert events(calib, own_copy) == before
    assert list(tmp_path.glob(".*")) == []


def test_nothing_is_told_from_a_ledger_that_was_edited(calib, own_copy):
    with sqlite3.connect(own_copy / ".calib" / "ledger.db") as database:
        database.execute("drop trigger events_are_never_updated")
        database.execute("update events set actor = 'bob' where event = 'opened'")
    for call in (("status",), ("show", GOOD, POPULATION), ("board",), ("holdout", "anchor")):
        said = calib(*call, "--project", own_copy)
        assert (said.code, said.out) == (1, ""), call
        assert "was edited" in said.err and "calib holdout verify" in said.err


def test_a_record_whose_set_was_declared_to_shape_its_scorer_does_not_verify(calib, own_copy):
    records = json.loads(calib("record", "list", "--project", own_copy, "--json").out)
    [record] = [one for one in records if one["study"] == GOOD]
    assert calib("record", "verify", record["record_id"], "--project", own_copy).code == 0
    told = ("--study", GOOD, "--reason", "the prompt was chosen on it")
    assert calib("holdout", "mark-fitted", SET, *told, "--project", own_copy).code == 0
    said = calib("record", "verify", record["record_id"], "--project", own_copy)
    assert said.code == 1
    assert "is fitted now" in said.err
