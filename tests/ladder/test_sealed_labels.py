"""With a key no stored row that holds a label can be read without it, and each opening is an event."""

from __future__ import annotations

import json
import os
from pathlib import Path

import dagster as dg
import pandas as pd
import pytest
from climbs import Folder, folder_of
from ladder_fixtures import labeled_world
from made_once import made_once
from made_up_project import POPULATION
from other_constructs import TONE, another_construct, opened_for_tone, spent_for_tone

from calib_pipeline.cli.main import main
from calib_pipeline.errors import InputError
from calib_pipeline.evidence_store import OF_A_DRAW
from calib_pipeline.records.archive import parsed_record
from calib_pipeline.records.verification import verify_record
from calib_pipeline.sealing import KEY_VARIABLE

KEY = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
OTHER = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="


def store(folder: Folder) -> Path:
    return Path(folder.project.store)


def stored_open(folder: Folder) -> list[str]:
    """Every open file of the store that holds more of an item than its draw."""
    tables = sorted(store(folder).glob("tables/*.parquet"))
    found = [str(path) for path in tables if not set(pd.read_parquet(path).columns) <= OF_A_DRAW]
    found += map(str, store(folder).glob("records/**/*.rows.parquet"))
    sheet = (folder.root / "data").rglob("annotations*")
    contents = {path.read_bytes() for path in sheet}
    return found + [str(path) for path in store(folder).glob("inputs/*") if path.read_bytes() in contents]


def reads(folder: Folder, since: int = 0) -> list[str]:
    return [str(one.details["purpose"]) for one in folder.events() if one.event == "read" and one.seq > since]


def record_of(folder: Folder, at: int = -1) -> dict:
    [file] = store(folder).glob(f"records/*/*/{folder.records()[at].record_id}.json")
    record = parsed_record(file)
    assert record is not None
    return record


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)


@pytest.fixture
def sealed(tmp_path_factory: pytest.TempPathFactory, instance: dg.DagsterInstance, key: None) -> Folder:
    """The project climbed with a key from the first run on."""

    def climb(root: Path) -> None:
        assert folder_of(labeled_world(), root, instance).climb().status == "ok"

    return Folder(made_once(tmp_path_factory, "sealed-tickets", climb), instance)


def test_without_a_key_the_record_says_so(climbed_once: Folder) -> None:
    assert (record_of(climbed_once)["holdout"]["sealed"], record_of(climbed_once)["holdout"]["sealing_key"]) == (
        "no",
        None,
    )
    assert stored_open(climbed_once)


def test_nothing_that_holds_a_label_is_stored_open_and_every_opening_is_an_event(
    sealed: Folder, climbed_once: Folder
) -> None:
    assert stored_open(sealed) == []
    assert reads(sealed) == ["ceiling", "baselines", "agreement", "threshold", "record"]
    [ingested] = [event for event in sealed.events() if event.event == "labels_ingested"]
    record, plain = record_of(sealed), record_of(climbed_once)
    assert record["holdout"]["sealed"] == "yes"
    assert record["holdout"]["sealing_key"] == ingested.details["sealed"]
    assert record["statistics"] == plain["statistics"]


def test_the_figures_of_the_record_rest_on_what_is_sealed(sealed: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    record_id = sealed.records()[0].record_id
    before = sealed.events()[-1].seq
    assert verify_record(sealed.project, record_id).problems == ()
    assert reads(sealed, before) == ["verification"]
    monkeypatch.delenv(KEY_VARIABLE)
    with pytest.raises(InputError, match="sealed with the key"):
        verify_record(sealed.project, record_id)
    assert reads(sealed, before) == ["verification"]


def test_a_sealed_file_in_anothers_place_refutes_the_record(sealed: Folder) -> None:
    one, other, *_ = sorted(store(sealed).glob("tables/*.sealed"))
    one.write_bytes(other.read_bytes())
    problems = verify_record(sealed.project, sealed.records()[0].record_id).problems
    assert any(
        "does not open: it was altered after it was sealed, or put in another's place" in one for one in problems
    )


def test_an_audit_says_how_much_it_could_not_look_into(sealed: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    record_id = sealed.records()[0].record_id
    before = sealed.events()[-1].seq
    assert main(["audit", record_id, "--project", str(sealed.root)]) == 0
    said = capsys.readouterr().out
    parts = said.count("there, sealed")
    assert parts > 3 and f"; {parts} of the " in said and "`calib record verify` opens them" in said
    assert "Everything that the record rests on" not in said
    assert sealed.events()[-1].seq == before
    next(iter(store(sealed).glob("records/*/*/*.sealed"))).write_bytes(b"calib sealed 1\n{")
    assert main(["audit", record_id, "--project", str(sealed.root)]) == 1


def test_a_run_without_the_key_or_with_another_stores_and_reserves_nothing(
    sealed: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [event.hash for event in sealed.events()]
    for given, said in (("", "no key is at hand"), (OTHER, "the key at hand is")):
        monkeypatch.setenv(KEY_VARIABLE, given)
        run = sealed.climb()
        assert run.materialized == []
        assert said in run.error
        assert [event.hash for event in sealed.events()] == before
    assert stored_open(sealed) == []


def test_a_rung_alone_without_the_key_names_it(sealed: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE)
    run = sealed.run_alone("human_ceiling")
    assert run.materialized == []
    assert "is sealed with the key" in run.error


@pytest.mark.slow
def test_a_second_run_changes_nothing(sealed: Folder) -> None:
    files = {path: path.read_bytes() for path in store(sealed).rglob("*.sealed")}
    records = sealed.records()
    assert sealed.climb().status == "ok"
    assert sealed.records() == records
    assert {path: path.read_bytes() for path in store(sealed).rglob("*.sealed")} == files


@pytest.mark.slow
def test_what_is_left_to_label_is_told_without_the_key(
    tmp_path: Path,
    instance: dg.DagsterInstance,
    key: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    world = labeled_world()
    labeled = sorted(set(world.labels["item_id"]))
    world.label_only(labeled[:-3])
    folder = folder_of(world, tmp_path / "unfinished", instance)
    folder.climb()
    said = {}
    for given in (KEY, ""):
        monkeypatch.setenv(KEY_VARIABLE, given)
        before = reads(folder)
        main(["show", "judge", POPULATION, "--project", str(folder.root)])
        said[given] = capsys.readouterr().out
        assert reads(folder) == before
    assert said[KEY] == said[""]
    assert all(item in said[""] for item in labeled[-3:])


@pytest.mark.slow
def test_a_diagnostic_record_seals_no_draw(tmp_path: Path, instance: dg.DagsterInstance, key: None) -> None:
    world = labeled_world()
    world.study["reference"] = {"kind": "proxy", "stands_for": "what people would say", "consensus": "majority"}
    folder = folder_of(world, tmp_path / "proxy", instance)
    folder.climb()
    assert folder.diagnose().status == "ok"
    assert stored_open(folder) == []
    drawn = [path for path in store(folder).glob("tables/*.parquet") if "rank" in pd.read_parquet(path).columns]
    assert len(drawn) == 1
    assert record_of(folder)["holdout"]["sealed"] == "yes"
    assert verify_record(folder.project, folder.records()[-1].record_id).problems == ()


class TestSealingLater:
    def test_it_seals_what_was_stored_open_and_the_old_record_still_verifies(
        self, climbed: Folder, key: None, capsys: pytest.CaptureFixture[str]
    ) -> None:
        record_id = climbed.records()[0].record_id
        assert main(["holdout", "seal", "--project", str(climbed.root), "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        assert said["files"] == len(list(store(climbed).rglob("*.sealed")))
        assert said["sets"] == [climbed.ladder.ledger.sets()[0].holdout_id]
        assert stored_open(climbed) == []
        assert climbed.ladder.ledger.verify() == []
        assert verify_record(climbed.project, record_id).problems == ()
        assert climbed.climb().status == "ok"
        assert [one.record_id for one in climbed.records()] == [record_id]
        assert stored_open(climbed) == []

    def test_a_second_call_finds_nothing_to_do(
        self, climbed: Folder, key: None, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for _ in range(2):
            capsys.readouterr()
            assert main(["holdout", "seal", "--project", str(climbed.root)]) == 0
        assert "nothing is stored open" in capsys.readouterr().out

    def test_one_that_was_killed_goes_on(self, climbed: Folder, key: None, monkeypatch: pytest.MonkeyPatch) -> None:
        from calib_pipeline import evidence_store

        real, left = evidence_store.write_atomically, [2]

        def dies(path: object, content: bytes) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            real(path, content)

        monkeypatch.setattr(evidence_store, "write_atomically", dies)
        main(["holdout", "seal", "--project", str(climbed.root)])
        assert stored_open(climbed) != []
        assert not any("sealed" in event.details for event in climbed.events())
        monkeypatch.setattr(evidence_store, "write_atomically", real)
        assert main(["holdout", "seal", "--project", str(climbed.root)]) == 0
        assert stored_open(climbed) == []
        assert verify_record(climbed.project, climbed.records()[0].record_id).problems == ()

    def test_what_is_sealed_is_not_written_open_again(
        self, climbed: Folder, key: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Killed before the ledger had it: no event says that there is a key."""
        from calib_pipeline.evidence_store import EvidenceStore
        from calib_pipeline.sealing import key_of_environment

        keyed = EvidenceStore(climbed.project.store, key_of_environment(climbed.root))
        for file in list(keyed.files_with_labels()):
            keyed.write(file, file.read_bytes(), labels=True)
        monkeypatch.delenv(KEY_VARIABLE)
        assert climbed.climb().status != "ok"
        assert stored_open(climbed) == []

    def test_it_needs_a_key(self, climbed: Folder, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["holdout", "seal", "--project", str(climbed.root)]) == 2
        assert "openssl rand -base64 32" in capsys.readouterr().err

    def test_it_keeps_to_the_first_key(
        self, sealed: Folder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv(KEY_VARIABLE, OTHER)
        assert main(["holdout", "seal", "--project", str(sealed.root)]) == 2
        assert "the key at hand is" in capsys.readouterr().err


class TestBesideAnotherConstruct:
    @pytest.fixture
    def both(self, tmp_path_factory: pytest.TempPathFactory, instance: dg.DagsterInstance, key: None) -> Folder:
        """A project whose items were measured for their tone, with a key, and then for what they resolve."""

        def climb(root: Path) -> None:
            world = spent_for_tone()
            another_construct(world)
            opened_for_tone(world, root, instance).climb()

        return Folder(made_once(tmp_path_factory, "two-constructs", climb), instance)

    @pytest.mark.slow
    def test_the_labels_of_the_other_are_opened_with_an_event_of_its_set(self, both: Folder) -> None:
        opened = [event for event in both.events() if event.event == "read" and event.study == "judge"]
        assert (TONE, "construct") in {(event.holdout_id, event.details["purpose"]) for event in opened}
        assert (both.evidence("annotations")["name"] == "labels_as_elsewhere").any()
        assert stored_open(both) == []

    @pytest.mark.slow
    def test_the_record_verifies_with_an_event_on_both_sets(self, both: Folder) -> None:
        [record] = [one for one in both.records() if one.study == "judge"]
        before = both.events()[-1].seq
        assert verify_record(both.project, record.record_id).problems == ()
        later = [event for event in both.events() if event.seq > before]
        assert {str(event.details["purpose"]) for event in later} == {"verification"}
        assert len({event.holdout_id for event in later}) == 2

    @pytest.mark.slow
    def test_a_set_that_nobody_looked_at_is_not_read_for_it(
        self, tmp_path: Path, instance: dg.DagsterInstance, key: None
    ) -> None:
        world = spent_for_tone()
        another_construct(world)
        folder = folder_of(world, tmp_path / "unread", instance)
        assert folder.climb_to("annotations", "tone").status == "ok"
        assert folder.climb().status == "ok"
        [record] = folder.records()
        assert verify_record(folder.project, record.record_id).problems == ()
        of_tone = {event.event for event in folder.events() if event.holdout_id == TONE}
        assert of_tone == {"reserved", "registered", "labels_ingested", "evidence"}

    @pytest.mark.slow
    def test_status_opens_neither(self, both: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
        before = len(both.events())
        for given in (KEY, ""):
            monkeypatch.setenv(KEY_VARIABLE, given)
            assert main(["status", "--project", str(both.root)]) in (0, 3)
        assert len(both.events()) == before


def test_with_a_key_no_set_is_climbed_while_labels_lie_open(
    climbed: Folder, key: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """The kept sheet of an earlier set may hold the labels of the next one."""
    before = [event.hash for event in climbed.events()]
    run = climbed.climb()
    assert run.materialized == [] and "`calib holdout seal`" in run.error
    assert [event.hash for event in climbed.events()] == before
    assert main(["holdout", "seal", "--project", str(climbed.root)]) == 0
    assert climbed.climb().status == "ok"
    assert stored_open(climbed) == []


def test_what_a_killed_write_left_is_removed_before_it_is_said_that_all_is_sealed(
    climbed: Folder, key: None, capsys: pytest.CaptureFixture[str]
) -> None:
    [rows] = store(climbed).glob("records/*/*/*.rows.parquet")
    left = rows.with_name(f".{rows.name}.{'5f' * 16}")
    left.write_bytes(rows.read_bytes())
    assert main(["holdout", "seal", "--project", str(climbed.root)]) == 2
    assert "1 files are being written" in capsys.readouterr().err
    assert rows.exists()
    long_ago = left.stat().st_mtime - 3600
    os.utime(left, (long_ago, long_ago))
    assert main(["holdout", "seal", "--project", str(climbed.root)]) == 0
    assert not left.exists() and stored_open(climbed) == []
