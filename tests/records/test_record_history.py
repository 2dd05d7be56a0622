"""Which record of a study is current, and what took the place of the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from calib_pipeline.ledger import Publication
from calib_pipeline.records.archive import RecordEntry
from calib_pipeline.records.history import superseded_by


def entry(record_id: str, day: int, kind: str = "measurement", **cell: str) -> RecordEntry:
    made = RecordEntry(record_id, "s", "p", kind, "Accurate.", f"2026-01-{day:02d}T00:00:00+00:00")
    return replace(made, **cell)


def publication(record_id: str, seq: int, day: int) -> Publication:
    return Publication("s", "p", record_id, "set", seq, f"2026-01-{day:02d}T00:00:00.000001+00:00", {})


def test_the_next_record_of_a_cell_supersedes_and_the_newest_is_current() -> None:
    found = superseded_by([entry("a", 1), entry("b", 2), entry("c", 3)], [])
    assert found == {"a": "b", "b": "c", "c": None}


@pytest.mark.parametrize("other", [{"study": "t"}, {"population": "q"}])
def test_another_cell_supersedes_nothing(other: dict[str, str]) -> None:
    assert superseded_by([entry("a", 1), entry("b", 2, **other)], []) == {"a": None, "b": None}


def test_a_record_that_was_published_again_is_the_newest() -> None:
    """The scorer went back to what it was: the old record is measured again as it stands, and its file is not new."""
    published = [publication("a", 1, 1), publication("b", 2, 2), publication("a", 3, 3)]
    assert superseded_by([entry("a", 1), entry("b", 2)], published) == {"b": "a", "a": None}


def test_a_diagnostic_supersedes_no_measurement_and_a_measurement_any_diagnostic() -> None:
    found = superseded_by([entry("d", 1, "diagnostic"), entry("m", 2), entry("e", 3, "diagnostic")], [])
    assert found == {"d": "m", "m": None, "e": None}
