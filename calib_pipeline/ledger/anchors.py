"""Head hashes kept outside of the ledger: whoever has one can tell that the history up to it was rewritten or cut."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calib_pipeline.errors import InputError
from calib_pipeline.ledger.events import GENESIS

WORD = "calib-anchor"
_LINE = re.compile(WORD + r" (?P<at>\S+) seq (?P<seq>[0-9]{1,18}) head (?P<head>[0-9a-f]{64})(?![0-9a-f])")


@dataclass(frozen=True)
class Anchor:
    """The newest event's number and hash, and when (UTC) it was the newest; 0 and zeros of a ledger without events."""

    at: str
    seq: int
    head: str

    @property
    def line(self) -> str:
        """The line to keep in a commit, a ticket or an e-mail."""
        return f"{WORD} {self.at} seq {self.seq} head {self.head}"


def read_anchors(text: str, source: str) -> list[Anchor]:
    """Every anchor in a text; what stands around and before them, such as the marks of a quotation, is no matter.

    Raises
    ------
    InputError
        When there is none, or a line begins as one and is none.
    """
    anchors = []
    for number, line in enumerate(text.splitlines(), start=1):
        found = [Anchor(each["at"], int(each["seq"]), each["head"]) for each in _LINE.finditer(line)]
        if len(found) != line.count(WORD):
            raise InputError(
                f"line {number} holds {WORD!r} and no whole anchor",
                where=source,
                expected=f"{WORD} TIME seq NUMBER head HASH, on one line, as `calib holdout anchor` printed it",
                todo="copy the line again",
            )
        anchors += found
    if not anchors:
        raise InputError(
            "no anchor stands in it", where=source, expected="one or more lines that `calib holdout anchor` printed"
        )
    return anchors


def anchor_problems(anchors: Sequence[Anchor], hashes: Mapping[int, str]) -> list[str]:
    """How a ledger differs from what was anchored, given the hash of each event by its number."""
    problems = []
    newest = max(hashes, default=0)
    for anchor in anchors:
        named = f"the anchor of {anchor.at} (event {anchor.seq})"
        found = hashes.get(anchor.seq, GENESIS if anchor.seq == 0 else None)
        if found is None and anchor.seq > newest:
            problems.append(
                f"{named} is not in the ledger, which ends at event {newest}: it was cut, or is another ledger"
            )
        elif found != anchor.head:
            problems.append(
                f"{named} does not fit: that event now has another hash, so what stands up to it was rewritten, or "
                "this is another ledger"
            )
    return problems
