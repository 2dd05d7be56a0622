"""The Dagster instance of a project: its own folder, quiet, one run a cell at a time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from calib_pipeline.dagster_side.history_faults import (
    SETTINGS,
    faults_in_words,
    history_fault,
    refuse_unusable,
    refused_settings,
)
from calib_pipeline.errors import InputError

if TYPE_CHECKING:
    import dagster as dg

DAGSTER_YAML = """\
# Written by calib when the project was first climbed; yours to edit, it is not written again.
telemetry:
  enabled: false

python_logs:
  # every log line is a row in the event log; the events themselves are kept whatever their level
  python_log_level: INFO

concurrency:
  runs:
    max_concurrent_runs: 4
    tag_concurrency_limits:
      # two runs of one cell would write the same evidence
      - key: dagster/partition
        value: {applyLimitPerUniqueValue: true}
        limit: 1

run_monitoring:
  enabled: true
  max_runtime_seconds: 21600

run_retries:
  enabled: true
  max_retries: 1
  # a rung that does not hold is a result: only a run whose process died is run again
  retry_on_asset_or_op_failure: false
"""


def dagster_home(root: Path) -> Path:
    """The folder of the project's Dagster instance: DAGSTER_HOME where it is set, else ``.calib/dagster``.

    The project's own folder is made, with a ``dagster.yaml``, when it is first asked for; a folder that someone set is
    left as it is. DAGSTER_HOME is set afterwards, for this process and those that it starts.
    """
    given = os.environ.get("DAGSTER_HOME")
    if given:
        return Path(given)
    home = _made_home(root)
    os.environ["DAGSTER_HOME"] = str(home)
    return home


def project_instance(root: Path) -> dg.DagsterInstance:
    """The Dagster instance of the project; use it as a context manager, so that its connections are closed.

    The project's own instance is made whole by one process at a time. Where making it was interrupted, what is left of
    it holds no history and is made again.

    Raises
    ------
    InputError, MachineFault
        Dagster's settings or its history cannot be used.
    OSError
        The folder cannot be made or written to.
    """

    refuse_unusable_home(root)
    home = dagster_home(root)
    if home != own_home(root):
        with faults_in_words(home):
            return _opened(home)
    with only_one(home), faults_in_words(home):
        made = home / ".made"
        if not made.exists():
            for part in ("history", "schedules", "storage"):
                shutil.rmtree(home / part, ignore_errors=True)
        instance = _opened(home)
        if not made.exists():
            instance.get_runs(limit=1)
            instance.get_dynamic_partitions("calib_populations")
            instance.all_instigator_state()
            made.touch()
        return instance


def refuse_unusable_home(root: Path) -> None:
    """Refuse a Dagster folder that no climb can use, before one begins; errors as of :func:`project_instance`."""
    given = os.environ.get("DAGSTER_HOME")
    home = Path(given) if given else _made_home(root)
    if not (home.is_absolute() and home.is_dir()):
        raise InputError(
            f"{given!r} is no folder that Dagster can use",
            where="DAGSTER_HOME",
            expected="the absolute path of a folder",
            todo="make it, or unset the variable: then the project's own folder is used",
        )
    refuse_unusable(home)
    if home == own_home(root):
        with only_one(home):
            pass


def own_home(root: Path) -> Path:
    """The folder of a project's own Dagster instance."""
    return root.absolute() / ".calib" / "dagster"


def _made_home(root: Path) -> Path:
    """The project's own folder with its settings."""
    home = own_home(root)
    settings = home / SETTINGS
    if not settings.exists():
        from upath import UPath

        from calib_pipeline.evidence_store import write_atomically

        write_atomically(UPath(settings), DAGSTER_YAML.encode())
    return home


def _opened(home: Path) -> dg.DagsterInstance:
    import dagster as dg

    try:
        return dg.DagsterInstance.get()
    except OSError:
        raise
    except Exception as fault:
        if history_fault(home, fault) is not None:
            raise
        raise refused_settings(home, fault) from fault


@contextmanager
def only_one(home: Path) -> Iterator[None]:
    """Keep other processes of this machine out while the instance's tables or partitions are made."""
    import fcntl

    with (home / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
