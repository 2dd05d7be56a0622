"""What else a ledger holds: labels, evidence, records; and how its events read."""

from __future__ import annotations

import getpass
import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from ledger_story import A, Story

from calib_pipeline.ledger import LedgerError, UnknownSet


class TestEvents:
    def test_time_is_utc_with_microseconds(self, story: Story) -> None:
        story.reserve()
        (event,) = story.ledger.events()
        assert event.at.endswith("+00:00")
        assert len(event.at) == len("2026-10-04T12:34:56.123456+00:00")
        assert abs(datetime.now(UTC) - datetime.fromisoformat(event.at)) < timedelta(minutes=1)

    def test_the_actor_is_the_user_of_the_system_unless_named(
        self, story: Story, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        story.reserve()
        monkeypatch.setattr(getpass, "getuser", lambda: "ana")
        assert story.ledger.retire("s", "old").actor == "ana"
        assert story.ledger.retire("s", "old", actor="auditor").actor == "auditor"

    @pytest.mark.parametrize("fault", [KeyError, OSError, ImportError])
    def test_a_system_without_users_has_an_unknown_actor(
        self, story: Story, monkeypatch: pytest.MonkeyPatch, fault: type[Exception]
    ) -> None:
        def nobody() -> str:
            raise fault("no user")

        story.reserve()
        monkeypatch.setattr(getpass, "getuser", nobody)
        assert story.ledger.retire("s", "old").actor == "unknown"

    def test_details_are_canonical_and_come_back_as_they_were(self, story: Story) -> None:
        story.reserve()
        details = {"z": 1, "a": {"ü": [True, None, 0.5]}}
        event = story.ledger.record_read("s", "a", "a1", "ceiling", details)
        assert event.details == {**details, "purpose": "ceiling"}
        assert story.ledger.events()[-1] == event
        with story.ledger._database.reading() as journal:
            stored = list(journal.stored_rows())[-1]["details"]
        assert stored == '{"a":{"ü":[true,null,0.5]},"purpose":"ceiling","z":1}'

    def test_are_listed_by_set_and_by_study(self, story: Story) -> None:
        story.reserve("s", [A])
        story.reserve("t", [A], items=["j1"], dimension="tone")
        story.read("t", study="b")
        assert [event.seq for event in story.ledger.events()] == [1, 2, 3, 4, 5]
        assert [event.seq for event in story.ledger.events("t")] == [3, 4, 5]
        assert [event.seq for event in story.ledger.events(study="a")] == [2, 4]
        assert [event.seq for event in story.ledger.events("t", "a")] == [4]
        with pytest.raises(UnknownSet):
            story.ledger.events("u")

    @pytest.mark.parametrize("call", ["record_export", "retire"])
    def test_an_export_and_a_retirement_say_for_whom_and_why(self, story: Story, call: str) -> None:
        story.reserve()
        with pytest.raises(LedgerError, match="needs"):
            getattr(story.ledger, call)("s", " ")


class TestLabels:
    def test_only_a_change_is_an_event(self, story: Story) -> None:
        story.reserve(registrations=[A])
        first = story.ledger.ingest_labels("s", "a", "one", {"rows": 300})
        assert story.ledger.ingest_labels("s", "a", "one") == first
        story.ledger.ingest_labels("s", "b", "one")
        story.ledger.ingest_labels("s", "a", "two")
        back = story.ledger.ingest_labels("s", "a", "one")
        assert back.seq > first.seq
        assert story.count("labels_ingested") == 4
        assert first.details == {"rows": 300, "digest": "one"}

    def test_of_an_unknown_set(self, story: Story) -> None:
        with pytest.raises(UnknownSet):
            story.ledger.ingest_labels("s", "a", "one")


class TestEvidence:
    def test_only_a_change_is_an_event(self, story: Story) -> None:
        story.reserve()
        first = story.ledger.record_evidence("a", "pop", "annotations", "one", True, "s")
        assert story.ledger.record_evidence("a", "pop", "annotations", "one", True, "s") == first
        assert story.ledger.newest_evidence("a", "pop", "annotations") == first
        story.ledger.record_evidence("a", "pop", "annotations", "two", False, "s")
        again = story.ledger.record_evidence("a", "pop", "annotations", "one", True, "s")
        assert again.seq == 4
        assert story.ledger.newest_evidence("a", "pop", "annotations") == again

    def test_each_asset_population_and_study_has_its_own(self, story: Story) -> None:
        cells = [(study, pop, asset) for study in "ab" for pop in ("may", "june") for asset in ("one", "two")]
        for number, cell in enumerate(cells):
            story.ledger.record_evidence(*cell, f"digest {number}", number % 2 == 0)
        newest = story.ledger.newest_evidence_all()
        assert set(newest) == set(cells)
        for number, cell in enumerate(cells):
            entry = story.ledger.newest_evidence(*cell)
            assert entry == newest[cell]
            assert (entry.digest, entry.holds, entry.holdout_id) == (f"digest {number}", number % 2 == 0, None)
        assert story.ledger.newest_evidence("c", "may", "one") is None


class TestPublished:
    def test_a_record_is_published_once(self, story: Story) -> None:
        story.reserve()
        first = story.ledger.publish("a", "pop", "r1", "s", {"claim": "Accurate at 0.8"})
        assert story.ledger.publish("a", "pop", "r1", "s") == first
        assert first.details == {"claim": "Accurate at 0.8"}
        story.ledger.publish("a", "pop", "r2", "s")
        story.ledger.publish("a", "june", "r3", "s")
        story.ledger.publish("b", "pop", "r4", "s")
        assert [entry.record_id for entry in story.ledger.published()] == ["r1", "r2", "r3", "r4"]
        assert [entry.record_id for entry in story.ledger.published(study="a", population="pop")] == ["r1", "r2"]
        assert [entry.record_id for entry in story.ledger.published(population="pop")] == ["r1", "r2", "r4"]

    def test_an_older_record_that_holds_again_is_the_newest(self, story: Story) -> None:
        for record in ("r1", "r2", "r1"):
            story.ledger.publish("a", "pop", record)
        assert [entry.record_id for entry in story.ledger.published("a", "pop")] == ["r1", "r2", "r1"]


def test_importing_the_ledger_loads_no_database_library() -> None:
    code = (
        "import sys, json; import calib_pipeline.ledger; from calib_pipeline.ledger import Ledger; "
        "print(json.dumps(sorted(set(sys.modules) & {'sqlalchemy', 'pandas', 'numpy', 'dagster', 'pydantic'})))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout) == []
