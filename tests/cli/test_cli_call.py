"""The call itself: help, project folder, unknown names, and what every kind of fault is turned into."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import weakref

import pytest
from small_project import GOOD, POPULATION
from sweeps import swept

from calib_pipeline import __version__
from calib_pipeline.cli import status
from calib_pipeline.cli.exit_codes import worst
from calib_pipeline.cli.main import main
from calib_pipeline.errors import REVIEW_UNAVAILABLE, Faults, InputError, MachineFault, ReviewUnavailable
from calib_pipeline.ledger import LedgerError

HEAVY = ("pandas", "dagster", "pydantic", "rich", "numpy", "scipy", "sqlalchemy", "pandera", "yaml", "upath")


def test_help_imports_nothing_heavy():
    script = (
        "import sys\nfrom calib_pipeline.cli.main import main\ncode = main(['--help'])\n"
        f"print(code, sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"
    early, late = (
        ("init", "validate", "plan", "sample", "sheet", "run"),
        ("status", "show", "record", "holdout", "board"),
    )
    for command in (*early, *late, "dev"):
        assert f"    {command} " in done.stdout


def test_version(calib):
    assert calib("--version").out == f"calib {__version__}\n"


def test_no_command_is_a_wrong_call(calib):
    said = calib()
    assert (said.code, said.out) == (2, "")
    assert "usage: calib" in said.err


@pytest.mark.parametrize("call", [["climb"], ["status", "--nope"], ["show", GOOD], ["holdout", "forget"]])
def test_a_call_that_cannot_be_read_is_a_wrong_call(calib, call):
    said = calib(*call)
    assert said.code == 2
    assert "usage: calib" in said.err


def test_the_project_is_named_before_or_after_the_command(calib, declared):
    before, after = calib("--project", declared, "validate"), calib("validate", "--project", declared)
    assert (before.code, before.out) == (0, after.out)
    assert "5 studies" in before.out


def test_the_project_is_named_by_the_environment(calib, declared, monkeypatch):
    monkeypatch.setenv("CALIB_PROJECT", str(declared))
    assert calib("validate").code == 0


def test_the_project_is_the_current_folder(calib, declared, monkeypatch):
    monkeypatch.chdir(declared)
    assert calib("validate").code == 0


def test_a_named_project_wins_over_the_environment(calib, declared, monkeypatch, tmp_path):
    monkeypatch.setenv("CALIB_PROJECT", str(tmp_path / "nowhere"))
    assert calib("validate", "--project", declared).code == 0
    refused = calib("validate")
    assert refused.code == 2
    assert "CALIB_PROJECT: there is no folder" in refused.err


@pytest.mark.parametrize(
    "command",
    [
        ["status"], ["run"], ["board"], ["holdout", "list"], ["record", "list"], ["dev"],
        ["plan", "--study", GOOD, "--half-width", "0.1"], ["sample", POPULATION, "--size", "5", "--seed", "1"],
        ["sheet", GOOD, POPULATION, "--annotators", "ana"],
    ],
)  # fmt: skip
def test_without_a_project_the_call_is_wrong(calib, command, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    said = calib(*command)
    assert (said.code, said.out) == (2, "")
    assert "holds no calib.yaml" in said.err and "calib init" in said.err


@pytest.mark.parametrize(
    ("call", "nearest"),
    [
        (["run", "--study", "god"], "did you mean 'good'?"),
        (["status", "--population", "reply-1"], "did you mean 'replies-1'?"),
        (["show", "goood", POPULATION], "did you mean 'good'?"),
        (["show", GOOD, "replis-1"], "did you mean 'replies-1'?"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(calib, declared, call, nearest):
    said = calib(*call, "--project", declared)
    assert (said.code, said.out) == (2, "")
    assert nearest.casefold() in said.err.casefold()
    assert not (declared / ".calib").exists()


FAULTS = [
    (
        InputError("no table", where="a.csv", expected="a table", todo="bring one"),
        2,
        "a.csv: no table; expected a table",
    ),
    (Faults([InputError("one"), InputError("two")]), 2, "one\ntwo"),
    (ReviewUnavailable("labels.csv", "it is gone"), 1, REVIEW_UNAVAILABLE),
    (LedgerError("the ledger is locked"), 1, "calib: the ledger is locked"),
    (OSError("no answer"), 1, "calib: the system refused: no answer. See to it"),
    (MachineFault("/p", "its disk is full", "make room"), 1, "calib: /p: its disk is full. Make room\n"),
    (RuntimeError("first line\nsecond line"), 1, "calib: RuntimeError: first line\n"),
    (KeyboardInterrupt(), 130, "interrupted"),
]


@pytest.mark.parametrize(("fault", "code", "text"), FAULTS, ids=[type(fault[0]).__name__ for fault in FAULTS])
def test_every_fault_has_its_message_and_its_code(calib, declared, monkeypatch, fault, code, text):
    def broken(*_: object) -> None:
        raise fault

    monkeypatch.setattr(status, "read_statuses", broken)
    said = calib("status", "--project", declared)
    assert (said.code, said.out) == (code, "")
    assert text in said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize(("fault", "code", "text"), FAULTS, ids=[type(fault[0]).__name__ for fault in FAULTS])
def test_a_fault_is_told_as_json_too(calib, declared, monkeypatch, fault, code, text):
    def broken(*_: object) -> None:
        raise fault

    monkeypatch.setattr(status, "read_statuses", broken)
    said = calib("status", "--json", "--project", declared)
    assert said.code == code
    if code == 130:
        assert said.out == ""
        return
    document = json.loads(said.out)
    assert list(document) == ["error"]
    assert document["error"] in said.err.replace("calib: ", "", 1) and text in said.err


def test_a_fault_after_the_document_adds_none(calib, declared, monkeypatch):
    monkeypatch.setattr(status, "print_statuses", lambda *_: 1 / 0)
    said = calib("status", "--json", "--project", declared)
    assert said.code == 1
    assert isinstance(json.loads(said.out), list)


@pytest.mark.parametrize(
    ("call", "error"), [(["status", "--nope"], "--nope"), (["show"], "required"), ([], "no command is named")]
)
def test_a_wrong_call_is_told_as_json_too(calib, call, error):
    said = calib("--json", *call)
    assert said.code == 2
    assert error in json.loads(said.out)["error"]
    assert "usage: calib" in said.err


def test_the_help_of_status_says_when_it_exits_with_3(calib):
    said = " ".join(calib("status", "--help").out.split())
    assert "Exit code 3 where a ladder stopped, was never climbed, or rests on stale evidence or on tables" in said


def test_debug_shows_the_trace(calib, declared, monkeypatch):
    monkeypatch.setattr(status, "read_statuses", lambda *_: 1 / 0)
    said = calib("status", "--debug", "--project", declared)
    assert said.code == 1
    assert "Traceback" in said.err and "ZeroDivisionError: division by zero" in said.err


def test_a_fault_of_ours_is_found_behind_one_of_dagster(calib, declared, monkeypatch):
    class DagsterWrapping(Exception):
        user_exception = ReviewUnavailable("labels.csv", "it is gone")

    def broken(*_: object) -> None:
        raise DagsterWrapping("error in step")

    monkeypatch.setattr(status, "read_statuses", broken)
    said = calib("status", "--project", declared)
    assert said.code == 1
    assert REVIEW_UNAVAILABLE in said.err and "error in step" not in said.err


def test_the_interrupt_of_dagster_is_an_interrupt(calib, declared, monkeypatch):
    from dagster._core.errors import DagsterExecutionInterruptedError

    def broken(*_: object) -> None:
        raise DagsterExecutionInterruptedError

    monkeypatch.setattr(status, "read_statuses", broken)
    assert calib("status", "--project", declared).code == 130


@pytest.fixture
def sigint_is_heard():
    """Python's own handler, which a process that was started in the background does not have."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("sigint_is_heard")
def test_an_interrupt_that_a_callback_swallowed_is_heard(calib, declared, monkeypatch):
    class Watched:
        pass

    def landing_in_a_callback(*_: object) -> None:
        def interrupted(_: object) -> None:
            raise KeyboardInterrupt

        watched = Watched()
        watcher = weakref.ref(watched, interrupted)
        del watched
        assert watcher() is None
        time.sleep(20)

    monkeypatch.setattr(status, "read_statuses", landing_in_a_callback)
    said = calib("status", "--project", declared)
    assert said.code == 130
    assert "interrupted" in said.err and "ignored" not in said.err


@pytest.mark.parametrize(
    ("codes", "code"), [([], 0), ([0, 0], 0), ([0, 3], 3), ([3, 1, 0], 1), ([3, 1, 2], 2), ([2, 0], 2)]
)
def test_where_several_codes_apply(codes, code):
    assert worst(codes) == code


def test_a_closed_pipe_is_quiet(declared):
    """The reader goes away before a word is written, as ``head`` does."""
    process = subprocess.Popen(
        [sys.executable, "-m", "calib_pipeline.cli.main", "validate", "--schema"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), said) == (0, b"")


def test_names_that_would_write_over_a_terminal_are_made_visible(capsys):
    main(["show", "a\x1b[2Jb", POPULATION, "--project", "/nowhere\x1b]0;x\x07"])
    said = capsys.readouterr()
    assert "\x1b" not in said.err and "\x07" not in said.err


def test_json_of_the_schema_is_the_schema(calib):
    schema = json.loads(calib("validate", "--schema").out)
    assert {"study", "dimension", "scale", "decision"} <= set(schema["properties"])


@pytest.mark.parametrize("command", swept(["status", "validate --json", "status --json"], "validate --json"))
def test_a_stream_that_is_closed_is_no_fault(declared, command):
    whole = f"{sys.executable} -m calib_pipeline.cli.main {command} --project {declared} >&-"
    ended = subprocess.run(["sh", "-c", whole], capture_output=True, text=True, check=False)
    assert "Traceback" not in ended.stderr
    assert ended.returncode == (0 if "validate" in command else 3)
