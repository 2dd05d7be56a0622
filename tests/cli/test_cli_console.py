"""Where text goes: terminals, pipes and programs; nothing that a table says is taken for markup or control."""

from __future__ import annotations

import io
import re

import pytest
from small_project import GOOD

from calib_pipeline.cli import console as console_module
from calib_pipeline.cli.console import Console, aligned, printable

ESCAPES = re.compile("\x1b\\[[0-9;]*m")


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Standard streams that are terminals. pytest puts its own in place when the test starts, hence the call."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "110")

    def opened() -> dict[str, Terminal]:
        streams = {name: Terminal() for name in ("stdin", "stdout", "stderr")}
        for name, stream in streams.items():
            monkeypatch.setattr(console_module.sys, name, stream)
        return streams

    return opened


def plain(stream):
    return ESCAPES.sub("", stream.getvalue())


def test_plain_columns_are_aligned_and_nothing_is_cut():
    long = "x" * 300
    assert aligned([("a", "b"), ("1", "two"), (long, "3")]) == [
        "a" + " " * 301 + "b", "1" + " " * 301 + "two", long + "  3",
    ]  # fmt: skip


def test_control_characters_are_made_visible():
    assert printable("a\x1b[31mb\x07\u202e c\nd\té") == "a�[31mb�� c\nd\té"


def test_a_terminal_gets_colours_and_keeps_every_bracket(terminal):
    streams = terminal()
    said = Console()
    said.table(("figure", "state"), [("0.409 [0.351, 0.461]", "holds"), ("[bold]no[/bold]", "fails")], title="[x]")
    said.lines_with_notes(("figure", "state"), [(("0.4 [0.3, 0.5]", "calibrated"), ("why [not]",))])
    text = plain(streams["stdout"])
    for kept in ("0.409 [0.351, 0.461]", "[bold]no[/bold]", "[x]", "0.4 [0.3, 0.5]", "why [not]"):
        assert kept in text
    assert "\x1b[" in streams["stdout"].getvalue()


def test_a_narrow_terminal_folds_and_loses_nothing(terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    streams = terminal()
    words = [f"word{number}" for number in range(30)]
    Console().lines_with_notes(("a", "b"), [((" ".join(words), "calibrated"), (" ".join(words),))])
    lines = plain(streams["stdout"]).splitlines()
    assert all(len(line) <= 40 for line in lines)
    assert all(len(re.findall(rf"\b{word}\b", "\n".join(lines))) == 2 for word in words)


def test_json_is_all_that_stdout_carries(capsys):
    said = Console(as_json=True)
    said.result("a line")
    said.note("a note")
    said.table(("a",), [("1",)])
    said.json({"é": None})
    said.say("a message")
    out, err = capsys.readouterr()
    assert (out, err) == ('{\n "é": null\n}\n', "a message\n")


def test_an_undefined_number_never_reaches_json():
    with pytest.raises(ValueError, match="not JSON compliant"):
        Console(as_json=True).json([float("nan")])


@pytest.mark.parametrize(
    ("typed", "answer"), [("y\n", True), ("YES\n", True), ("\n", False), ("no\n", False), ("", False)]
)
def test_a_question_needs_a_yes(terminal, typed, answer):
    streams = terminal()
    streams["stdin"].write(typed)
    streams["stdin"].seek(0)
    assert Console().confirm("Sure?") is answer
    assert streams["stderr"].getvalue() == "Sure? [y/N] "


def test_without_a_terminal_nobody_is_asked(capsys):
    assert Console().confirm("Sure?") is False
    assert capsys.readouterr().err == ""


def test_progress_is_a_bar_on_a_terminal(terminal):
    streams = terminal()
    with Console().progress(2, "climbing") as progress:
        progress.starts("s on [p]")
        progress.finished("s on [p]: stopped")
        progress.finished("")
    assert "s on [p]" in streams["stderr"].getvalue()
    assert "stopped" not in streams["stderr"].getvalue()


def test_progress_is_a_line_a_step_elsewhere(capsys):
    with Console().progress(2, "climbing") as progress:
        progress.starts("s on p")
        progress.finished("s on p: stopped at ceiling")
    assert capsys.readouterr().err == "s on p: stopped at ceiling\n"


def test_a_reader_that_goes_away_stops_nothing(monkeypatch):
    class Gone(io.StringIO):
        def write(self, _text):
            raise BrokenPipeError

    monkeypatch.setattr(console_module.sys, "stdout", Gone())
    said = Console()
    said.result("one")
    said.table(("a",), [("1",)])
    said.close()


def test_the_status_on_a_terminal(climbed, terminal):
    streams = terminal()
    from calib_pipeline.cli.main import main

    assert main(["status", "--study", GOOD, "--project", str(climbed.root)]) == 0
    text = plain(streams["stdout"])
    assert "calibrated" in text and "TP 52" in text
    assert all(len(line) <= 110 for line in text.splitlines())
