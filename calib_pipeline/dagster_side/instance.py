"""The Dagster instance of a project: its own folder, quiet, one run a cell at a time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

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
    home = own_home(root)
    settings = home / "dagster.yaml"
    if not settings.exists():
        from upath import UPath

        from calib_pipeline.evidence_store import write_atomically

        write_atomically(UPath(settings), DAGSTER_YAML.encode())
    os.environ["DAGSTER_HOME"] = str(home)
    return home


def project_instance(root: Path) -> dg.DagsterInstance:
    """The Dagster instance of the project; use it as a context manager, so that its connections are closed.

    The project's own instance is made whole by one process at a time. Where making it was interrupted, what is left of
    it holds no history and is made again.
    """
    import dagster as dg

    home = dagster_home(root)
    if home != own_home(root):
        return dg.DagsterInstance.get()
    with only_one(home):
        made = home / ".made"
        if not made.exists():
            for part in ("history", "schedules", "storage"):
                shutil.rmtree(home / part, ignore_errors=True)
        instance = dg.DagsterInstance.get()
        if not made.exists():
            instance.get_runs(limit=1)
            instance.get_dynamic_partitions("calib_populations")
            instance.all_instigator_state()
            made.touch()
        return instance


def own_home(root: Path) -> Path:
    """The folder of a project's own Dagster instance."""
    return root.absolute() / ".calib" / "dagster"


@contextmanager
def only_one(home: Path) -> Iterator[None]:
    """Keep other processes of this machine out while the instance's tables or partitions are made."""
    import fcntl

    with (home / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
