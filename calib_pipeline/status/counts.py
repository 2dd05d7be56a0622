"""What became of every received row: the counts that each run prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from calib_pipeline.status.figures import count_words

if TYPE_CHECKING:
    from calib_pipeline.status.own_account import Brought

TOLD = ("received", "usable", "scored", "errored", "abstained", "unsupported")


@dataclass(frozen=True)
class Counts:
    """Rows of labels and of the scorer's outputs; ``labels`` and ``outputs`` add up to what was received.

    ``spellings`` counts cells that were read under another spelling, ``noticed`` says what was detected while reading.
    """

    labels: dict[str, int]
    outputs: dict[str, int]
    spellings: int
    noticed: tuple[str, ...]

    @property
    def told(self) -> dict[str, int | None]:
        """The six counts of a run: labels received and usable, outputs scored, errored, abstained and unsupported."""
        known = {name: self.labels.get(name) for name in TOLD[:2]}
        return known | {name: self.outputs.get(name) for name in TOLD[2:]}

    @property
    def words(self) -> str:
        """All counts in one line; what is not used stands under its reason."""
        told = ", ".join(f"{name} {_words(count)}" for name, count in self.told.items())
        others = [
            f"{count_words(count)} {name.replace('_', ' ')}{' outputs' if counts is self.outputs else ' labels'}"
            for counts in (self.labels, self.outputs)
            for name, count in counts.items()
            if count and name not in TOLD
        ]
        received = self.outputs.get("received")
        of_outputs = [] if received is None else [f"{count_words(received)} outputs received"]
        return "; ".join([told, *of_outputs, *others])


def counts_of(tables: Brought) -> Counts | None:
    """The counts of a cell's tables; None where neither could be read."""
    if tables.labels is None and tables.scores is None:
        return None
    labels, scores = tables.labels, tables.scores
    given = [table for table in (labels, scores) if table is not None]
    noticed = [] if tables.manifest is None else list(tables.manifest.report)
    noticed += [line for table in given for line in table.report]
    return Counts(
        {} if labels is None else {str(name): count for name, count in labels.counts.items()},
        {} if scores is None else {str(name): count for name, count in scores.counts.items()},
        sum(sum(table.mapped.values()) for table in given),
        tuple(dict.fromkeys(noticed)),
    )


def _words(count: int | None) -> str:
    return "unknown" if count is None else count_words(count)
