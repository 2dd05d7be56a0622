"""The headline beside what people and comparators reach, taken from evidence rows or from a record."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from calib_pipeline.evidence.human_ceiling import ONE_OTHER, THE_OTHERS
from calib_pipeline.evidence.scorer_agreement import LABELED

Row = Mapping[str, Any]
EvidenceByAsset = Mapping[str, Sequence[Row]]
"""Evidence rows by asset, empty columns left out."""

NO_CEILING = "no ceiling: no claim"
CELLS = ("tp", "fp", "fn", "tn")


@dataclass(frozen=True)
class Figure:
    """A statistic as it is shown: with its interval, or with the note that says why it has none."""

    statistic: str
    scope: str
    value: float | None
    low: float | None
    high: float | None
    n: float | None
    note: str | None

    @classmethod
    def of(cls, row: Row) -> Figure:
        """The figure of an evidence row."""
        return cls(
            str(row.get("statistic") or ""),
            str(row.get("scope") or ""),
            number(row.get("value")),
            number(row.get("low")),
            number(row.get("high")),
            number(row.get("n")),
            row.get("note") or None,
        )

    @property
    def words(self) -> str:
        """``0.409 [0.351, 0.461]``, or "undefined"."""
        return interval_words(self.value, self.low, self.high)


@dataclass(frozen=True)
class Headline:
    """What the scorer reached, and the same statistic for people and for the best comparator.

    ``scorer`` and ``comparators`` are measured against the full reference. ``people`` are compared with the consensus
    of the others, which is another comparison: ``scorer_like_people`` is what the scorer reaches in that one, None
    where it was not measured so. ``ceiling`` is what the ceiling's gate reads, which may be another statistic.
    ``confusion`` and ``refused`` stand beside the headline because no chance-corrected figure can be read without them.
    """

    scorer: Figure
    people: Figure | None
    ceiling: Figure | None
    comparators: tuple[Figure, ...]
    prevalence: float | None
    confusion: Mapping[str, float] = field(default_factory=dict)
    refused: Mapping[str, float] = field(default_factory=dict)
    scorer_like_people: Figure | None = None

    @property
    def people_words(self) -> str:
        """``0.685 [0.640, 0.720] (scorer 0.668)``: people, and the scorer in the same comparison."""
        if self.people is None:
            return NO_CEILING
        like = self.scorer_like_people
        beside = "" if like is None or like.value is None else f" (scorer {_three(like.value)})"
        return f"{self.people.words}{beside}"

    @property
    def people_against(self) -> str | None:
        """What people, and the scorer beside them, are compared with; None where there is no figure of people."""
        if self.people is None:
            return None
        if self.scorer_like_people is None:
            return f"people against {self.people.scope}"
        return f"people, and in brackets the scorer, each against {self.people.scope}"

    @property
    def best_comparator(self) -> Figure | None:
        """The comparator with the highest value."""
        defined = [figure for figure in self.comparators if figure.value is not None]
        return max(defined, key=lambda figure: (figure.value, figure.scope), default=None)

    @property
    def table_words(self) -> str:
        """Prevalence, the confusion table and the refusals in one line."""
        cells = " ".join(f"{cell.upper()} {count_words(self.confusion.get(cell))}" for cell in CELLS)
        refused = ", ".join(f"{name} {count_words(count)}" for name, count in self.refused.items())
        prevalence = "undefined" if self.prevalence is None else f"{self.prevalence:.3f}"
        return f"prevalence {prevalence}; {cells}; {refused}"


def headline_of(evidence: EvidenceByAsset, statistic: str) -> Headline | None:
    """The headline in the evidence; None where labels and outputs never met."""
    agreement = evidence.get("scorer_agreement", ())
    scorer = first(agreement, "agreement", LABELED, statistic)
    if scorer is None:
        return None
    ceiling, people = evidence.get("human_ceiling", ()), None
    for scope in (THE_OTHERS, ONE_OTHER, "all labels of an item"):
        people = people or first(ceiling, "human_agreement", scope, statistic)
    like = None if people is None else first(agreement, "agreement", str(people.get("scope") or ""), statistic)
    gated = first(ceiling, "ceiling")
    return Headline(
        Figure.of(scorer),
        None if people is None or number(people.get("value")) is None else Figure.of(people),
        None if gated is None or number(gated.get("value")) is None else Figure.of(gated),
        comparators_of(evidence, statistic),
        value_of(agreement, "prevalence"),
        {cell: value_of(agreement, "confusion", cell) or 0.0 for cell in CELLS},
        {
            name: sum(value_of(agreement, name, side) or 0.0 for side in ("accepted", "rejected"))
            for name in ("abstained", "failed")
        },
        None if like is None or number(like.get("value")) is None else Figure.of(like),
    )


def comparators_of(evidence: EvidenceByAsset, statistic: str) -> tuple[Figure, ...]:
    """Every comparator's figure in one statistic, in the order of the evidence."""
    return tuple(
        Figure.of(row)
        for row in evidence.get("baseline_comparators", ())
        if row.get("name") == "comparator" and row.get("statistic") == statistic
    )


def first(rows: Iterable[Row], name: str, scope: str | None = None, statistic: str | None = None) -> Row | None:
    """The first row of a name, and of a scope and statistic where they are given."""
    for row in rows:
        if (
            row.get("name") == name
            and (scope is None or (row.get("scope") or "") == scope)
            and (statistic is None or row.get("statistic") == statistic)
        ):
            return row
    return None


def value_of(rows: Iterable[Row], name: str, scope: str | None = None) -> float | None:
    """The value of a count or figure, None where it is absent or undefined."""
    row = first(rows, name, scope)
    return None if row is None else number(row.get("value"))


def text_of(rows: Iterable[Row], name: str, scope: str | None = None) -> str | None:
    """The text of a fact, None where it is absent."""
    row = first(rows, name, scope)
    return None if row is None or not isinstance(row.get("text"), str) else str(row["text"])


def number(value: Any) -> float | None:
    """A finite number, or None."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def interval_words(value: float | None, low: float | None, high: float | None) -> str:
    """A figure with its interval in words."""
    if value is None:
        return "undefined"
    if low is None or high is None:
        return f"{_three(value)} (no interval)"
    return f"{_three(value)} [{_three(low)}, {_three(high)}]"


def count_words(value: float | None) -> str:
    """A count, which may be fractional where labels tie."""
    return "undefined" if value is None else f"{value:,.1f}".removesuffix(".0")


def statistic_words(statistic: str) -> str:
    """A statistic's name for people."""
    return statistic.replace("_", " ")


def _three(value: float) -> str:
    text = f"{value:.3f}"
    return text.removeprefix("-") if float(text) == 0 else text
