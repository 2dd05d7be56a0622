"""An older ledger is brought to this version where it stands, and a new one is made as the steps would make it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from ledger_story import Story
from past_the_ledger import Past, past
from sqlalchemy import inspect
from test_ledger_processes import together

from calib_pipeline.ledger import Ledger, LedgerError, migration, migrations, tables
from calib_pipeline.ledger.database import Database, _backend_of

STEP = '''"""A version that there is for this test alone."""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_index("events_by_run", "events", ["run_id"])
    {then}
'''


def next_version(monkeypatch: pytest.MonkeyPatch, folder: Path, then: str = "pass") -> None:
    """From here on, the program knows of a second version."""
    steps = Path(shutil.copytree(Path(migrations.__file__).parent, folder / "steps"))
    (steps / "versions" / "version_2.py").write_text(STEP.format(then=then))
    monkeypatch.setattr(migration, "LOCATION", str(steps))
    monkeypatch.setattr(tables, "SCHEMA_VERSION", 2)


def version_in(raw: Past) -> list[dict[str, Any]]:
    return raw.run("SELECT schema_version, version_num FROM meta, ledger_alembic_version")


def schema_of(address: str) -> dict[str, Any]:
    """All that the schema of a ledger holds, in comparable form."""
    database = Database(address, read_only=True)
    with database.reading() as journal:
        found = inspect(journal._connection)
        seen: dict[str, Any] = {
            name: (
                [{**column, "type": repr(column["type"])} for column in found.get_columns(name)],
                found.get_indexes(name),
                found.get_pk_constraint(name),
                found.get_check_constraints(name),
            )
            for name in sorted(found.get_table_names())
        }
        seen["triggers"] = journal.standing_triggers()
    database.close()
    with past(address) as raw:
        seen["versions"] = version_in(raw)
        if raw.kind == "sqlite":
            seen["statements"] = raw.run("SELECT name, sql FROM sqlite_master ORDER BY name")
    return seen


def test_the_steps_from_nothing_make_what_a_new_ledger_has(address: str, tmp_path: Path) -> None:
    with Ledger.open(address) as ledger:
        assert ledger.verify() == []
    made = schema_of(address)
    with past(address) as raw:
        if raw.kind == "postgresql":
            schema = raw.run("SELECT current_schema() AS name")[0]["name"]
            raw.run(f"DROP SCHEMA {schema} CASCADE")
            raw.run(f"CREATE SCHEMA {schema}")
            anew = address
        else:
            anew = f"sqlite:///{tmp_path / 'anew.db'}"
    backend = _backend_of(anew, False)
    engine = backend.new_engine()
    with backend.creating(engine) as connection:
        command.upgrade(migration.configuration(connection), "head")
    engine.dispose()
    assert schema_of(anew) == made
    with Ledger.open(anew) as ledger:
        assert ledger.verify() == []


@pytest.mark.parametrize("stamped", [True, False])
def test_an_older_ledger_is_brought_to_this_version_when_it_is_opened_for_writing(
    told: Story, raw: Past, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stamped: bool
) -> None:
    if not stamped:
        raw.run("DROP TABLE ledger_alembic_version")
    head = told.ledger.head()
    next_version(monkeypatch, tmp_path)
    with pytest.raises(LedgerError, match=r"has schema version 1, which this program brings to 2 when it opens it for"):
        Ledger.open(told.url, read_only=True)
    with Ledger.open(told.url) as ledger:
        assert ledger.head() == head
        assert ledger.verify() == []
        assert ledger.retire("s", "old").seq == 7
    assert version_in(raw) == [{"schema_version": 2, "version_num": "0002"}]
    with Ledger.open(told.url, read_only=True) as ledger:
        assert ledger.verify() == []


def test_a_step_that_fails_leaves_the_ledger_as_it_was(
    told: Story, raw: Past, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = schema_of(told.url)
    next_version(monkeypatch, tmp_path, then='op.execute("SELECT no_such_column FROM events")')
    with pytest.raises(LedgerError, match=r"cannot be used; nothing was written.*no_such_column"):
        Ledger.open(told.url)
    monkeypatch.undo()
    assert schema_of(told.url) == before
    assert told.ledger.retire("s", "old").seq == 7


def test_of_processes_that_open_an_older_ledger_at_once_one_brings_it_to_this_version(
    told: Story, raw: Past, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    next_version(monkeypatch, tmp_path)

    def work(number: int) -> int:
        with Ledger.open(told.url) as ledger:
            return ledger.record_read("s", f"study{number}", "c", "ceiling").seq

    assert sorted(together(8, work)) == list(range(7, 15))  # type: ignore[type-var]
    assert version_in(raw) == [{"schema_version": 2, "version_num": "0002"}]


def test_a_ledger_of_this_version_needs_no_steps(tmp_path: Path) -> None:
    code = (
        "import sys; from calib_pipeline.ledger import Ledger; "
        "[Ledger.open(sys.argv[1]).close() for _ in range(2)]; print('alembic' in sys.modules)"
    )
    address = f"sqlite:///{tmp_path / 'ledger.db'}"
    said = subprocess.run([sys.executable, "-c", code, address], check=True, capture_output=True, text=True)
    assert said.stdout == "False\n"
