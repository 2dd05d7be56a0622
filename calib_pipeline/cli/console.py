"""Where text goes: results to stdout, messages to stderr, tables as suits who reads them."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console as RichConsole

INDENT = "    "
STYLES = {
    "calibrated": "bold green",
    "uncalibrated": "yellow",
    "stale": "magenta",
    "insufficient_data": "cyan",
    "candidate_for_removal": "bold red",
    "holds": "green",
    "fails": "red",
    "unresolved": "dim",
}
"""Colours of the words that say how something stands; a terminal only, and the word is always there."""


class Console:
    """Prints for people on a terminal, for pipes, and for programs.

    Parameters
    ----------
    as_json
        Whether stdout carries one JSON document and nothing else.
    """

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self._reader_left = False
        self._document_written = False
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")

    @property
    def on_terminal(self) -> bool:
        """Whether stdout is a terminal."""
        return sys.stdout.isatty()

    @property
    def shows_progress(self) -> bool:
        """Whether a progress bar has someone to look at it."""
        return sys.stderr.isatty()

    def say(self, text: str) -> None:
        """A message, to stderr."""
        with contextlib.suppress(BrokenPipeError):
            sys.stderr.write(printable(text) + "\n")
            sys.stderr.flush()

    def result(self, text: str = "") -> None:
        """A line of the result, to stdout; nothing where the result is JSON."""
        if not self.as_json:
            self._write(printable(text) + "\n")

    def note(self, text: str) -> None:
        """Indented lines below a result, wrapped to the terminal."""
        if self.as_json:
            return
        if self.on_terminal:
            width = max(self._rich().width, 40)
            text = textwrap.fill(
                printable(text), width, initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False
            )
            self._write(text + "\n")
        else:
            self._write(f"{INDENT}{printable(text)}\n")

    def json(self, document: Any) -> None:
        """The result as one JSON document; nothing unless it was asked for."""
        if self.as_json:
            self._document_written = True
            self._write(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n")

    def error(self, message: str) -> None:
        """An error as the one JSON document; nothing unless JSON was asked for, or where the document is written."""
        if not self._document_written:
            self.json({"error": message})

    def raw(self, text: str) -> None:
        """Text as it is, JSON or not."""
        self._write(text)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]], *, title: str | None = None) -> None:
        """Rows under a header: ruled on a terminal, aligned in plain text elsewhere."""
        if self.as_json:
            return
        if self.on_terminal:
            self._rich_table(header, rows, title)
            return
        lines = [] if title is None else [printable(title)]
        lines += aligned([header, *rows])
        self._write("\n".join(lines) + "\n")

    def lines_with_notes(self, header: Sequence[str], rows: Sequence[tuple[Sequence[str], Sequence[str]]]) -> None:
        """A table whose rows each carry notes, which stand below their row and across its columns."""
        if self.as_json:
            return
        if self.on_terminal:
            self._rich_lines(header, rows)
            return
        lines = aligned([header, *(cells for cells, _ in rows)])
        self._write(lines[0] + "\n")
        for line, (_, notes) in zip(lines[1:], rows, strict=True):
            self._write(line + "\n")
            for text in notes:
                self.note(text)

    def confirm(self, question: str) -> bool:
        """Ask on a terminal; without one the answer is no."""
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return False
        sys.stderr.write(f"{printable(question)} [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().casefold() in ("y", "yes")

    @contextlib.contextmanager
    def progress(self, total: int, what: str) -> Iterator[Progress]:
        """A progress bar on a terminal; elsewhere each finished step is a message."""
        if not self.shows_progress:
            yield Progress(self, None, None)
            return
        from rich.console import Console as RichConsole
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=RichConsole(stderr=True),
            transient=True,
        )
        with bar:
            yield Progress(self, bar, bar.add_task(what, total=total))

    def close(self) -> None:
        """Flush, and be quiet about a reader that went away."""
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            self._leave()
        except ValueError:
            pass

    def _write(self, text: str) -> None:
        if self._reader_left:
            return
        try:
            sys.stdout.write(text)
        except BrokenPipeError:
            self._leave()

    def _leave(self) -> None:
        """The reader of stdout is gone: write no more, so that the interpreter does not complain at its end."""
        self._reader_left = True
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def _rich(self, file: TextIO | None = None) -> RichConsole:
        from rich.console import Console as RichConsole

        return RichConsole(file=file or sys.stdout, highlight=False, markup=False, emoji=False)

    def _rich_table(self, header: Sequence[str], rows: Sequence[Sequence[str]], title: str | None) -> None:
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, title=printable(title) if title else None, title_justify="left")
        for name in header:
            table.add_column(styled(name), overflow="fold")
        for row in rows:
            table.add_row(*(styled(cell) for cell in row))
        self._print_rich(table)

    def _rich_lines(self, header: Sequence[str], rows: Sequence[tuple[Sequence[str], Sequence[str]]]) -> None:
        """One grid a row with the same widths in all, so that the notes between them can use the whole line."""
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        cells = [list(header), *(list(row) for row, _ in rows)]
        widths = _fitting([max(len(row[at]) for row in cells) for at in range(len(header))], self._rich().width)

        def grid(row: Sequence[str], style: str | None = None) -> Table:
            table = Table.grid(padding=(0, 2, 0, 0))
            for width in widths:
                table.add_column(width=width, overflow="fold")
            table.add_row(*(Text(printable(cell), style=style) if style else styled(cell) for cell in row))
            return table

        self._print_rich(grid(header, "bold"))
        for row, notes in rows:
            self._print_rich(grid(row))
            for text in notes:
                self._print_rich(Padding(Text(printable(text), style="dim"), (0, 0, 0, len(INDENT))))

    def _print_rich(self, renderable: Any) -> None:
        if self._reader_left:
            return
        try:
            self._rich().print(renderable)
        except BrokenPipeError:
            self._leave()


class Progress:
    """Progress over steps; see :meth:`Console.progress`."""

    def __init__(self, console: Console, bar: Any, task: Any) -> None:
        self._console, self._bar, self._task = console, bar, task

    def starts(self, step: str) -> None:
        """Show what is being done."""
        if self._bar is not None:
            self._bar.update(self._task, description=printable(step))

    def finished(self, said: str) -> None:
        """Count a step as done; off a terminal say how it ended."""
        if self._bar is not None:
            self._bar.advance(self._task)
        else:
            self._console.say(said)


def printable(text: str) -> str:
    """The text without control characters, which ids and notes from tables could use to write over a terminal."""
    return "".join(
        character if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs") else "�"
        for character in text
    )


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines with aligned columns; no cell is cut."""
    cells = [[printable(cell).replace("\n", " ") for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in cells) for at in range(len(cells[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def styled(text: str) -> Any:
    """A cell for a terminal, coloured where it starts with a word that says how something stands."""
    from rich.text import Text

    word = text.split(" ", 1)[0]
    return Text(printable(text), style=STYLES.get(word, ""))


def _fitting(widths: list[int], room: int) -> list[int]:
    """Column widths that fit into the room, taken from the widest columns first."""
    widths = list(widths)
    spare = room - 2 * len(widths)
    while sum(widths) > spare and max(widths) > 8:
        widths[widths.index(max(widths))] -= 1
    return widths
