"""What went wrong, in a form a person can act on: the fault, its place, what was expected and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

REVIEW_UNAVAILABLE = "REVIEW_UNAVAILABLE"


class InputError(Exception):
    """A wrong call, a wrong declaration or an unusable table (exit code 2).

    Parameters
    ----------
    what
        The fault in one sentence, without a full stop.
    where
        Its place: ``file``, ``file:line`` or ``file, row 7, column value``.
    expected
        What would have been right.
    todo
        The next step for the reader.
    """

    def __init__(
        self, what: str, *, where: str | None = None, expected: str | None = None, todo: str | None = None
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.expected = expected
        self.todo = todo

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        expected = f"; expected {self.expected}" if self.expected else ""
        todo = f". {self.todo[0].upper()}{self.todo[1:]}" if self.todo else ""
        return f"{place}{self.what}{expected}{todo}"

    def __reduce__(self) -> tuple[object, ...]:
        return _restore_input_error, (type(self), self.what, self.where, self.expected, self.todo)


class Unreadable(InputError):
    """A source that cannot be opened at all, as against one whose content is wrong."""


class JudgeAwaited(Unreadable):
    """A judge that is run here has not answered yet: a result, and no fault of a declaration (exit code 3)."""


class Faults(InputError):
    """Several input faults that were found together; ``faults`` holds them in the order of their place."""

    def __init__(self, faults: Sequence[InputError]) -> None:
        self.faults = tuple(faults)
        count = len(self.faults)
        super().__init__(f"{count} fault{'' if count == 1 else 's'} in what was declared")

    def __str__(self) -> str:
        return "\n".join(str(fault) for fault in self.faults)

    def __reduce__(self) -> tuple[object, ...]:
        return Faults, (self.faults,)


class ReviewUnavailable(Exception):
    """The source of the human labels cannot be read, so no agreement can be measured (exit code 1).

    The text starts with the code ``REVIEW_UNAVAILABLE``; ``source`` is what was to be read and ``why`` the reason.
    """

    def __init__(self, source: str, why: str) -> None:
        super().__init__(source, why)
        self.source = source
        self.why = why

    def __str__(self) -> str:
        return (
            f"{REVIEW_UNAVAILABLE}: the labels at {self.source} cannot be read: {self.why}. "
            "Without labels there is no agreement figure: have the reserved items labeled (`calib show` lists them) or "
            "make the source readable, and run again"
        )


class MachineFault(Exception):
    """What no declaration can mend: a disk, a folder or a file around the program is in the way (exit code 1).

    ``where`` is its path, ``what`` the fault in one sentence without a full stop, and ``todo`` the next step.
    """

    def __init__(self, where: str, what: str, todo: str) -> None:
        super().__init__(where, what, todo)
        self.where = where
        self.what = what
        self.todo = todo

    def __str__(self) -> str:
        return f"{self.where}: {self.what}. {self.todo[0].upper()}{self.todo[1:]}"


def causes_of(fault: BaseException) -> Iterator[BaseException]:
    """The exception, and those that it was raised from or that Dagster wrapped in it, outermost first."""
    seen: set[int] = set()
    current: BaseException | None = fault
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        wrapped = getattr(current, "user_exception", None)
        current = wrapped if isinstance(wrapped, BaseException) else current.__cause__


def _restore_input_error(
    kind: type[InputError], what: str, where: str | None, expected: str | None, todo: str | None
) -> InputError:
    return kind(what, where=where, expected=expected, todo=todo)
