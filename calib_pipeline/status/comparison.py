"""Every statistic of the scorer with the same one of people and of each comparator, like beside like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from calib_pipeline.evidence.human_ceiling import ONE_OTHER, THE_OTHERS
from calib_pipeline.evidence.scorer_agreement import DECIDED, LABELED
from calib_pipeline.status.figures import EvidenceByAsset, Figure, Row, statistic_words

COMPARED = ("agreement", "error_rate", "human_agreement", "human_error_rate", "comparator")
"""The rows that stand in the comparison."""

REFERENCE = "the reference"


@dataclass(frozen=True)
class Line:
    """One statistic in one form. ``comparators`` are in the order of `Comparison.comparators`."""

    statistic: str
    against: str
    scorer: str
    people: str
    comparators: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """The table of scorer, people and comparators; ``notes`` say why a figure is undefined or has no interval."""

    comparators: tuple[str, ...]
    lines: tuple[Line, ...]
    has_people: bool
    notes: tuple[str, ...]


def comparison_of(evidence: EvidenceByAsset) -> Comparison | None:
    """The table, or None where labels and outputs never met.

    A comparator is measured against the reference on all labeled items. People are measured against one other label,
    and against the consensus of the others; so is the scorer, on lines of its own.
    """
    agreement = evidence.get("scorer_agreement", ())
    scorer = [row for row in agreement if row["name"] == "agreement"]
    if not scorer:
        return None
    people = {
        (str(row.get("statistic")), str(row.get("scope"))): Figure.of(row)
        for row in evidence.get("human_ceiling", ())
        if row["name"] in ("human_agreement", "human_error_rate")
    }
    of_comparators = {
        (str(row.get("statistic")), str(row.get("scope"))): Figure.of(row)
        for row in evidence.get("baseline_comparators", ())
        if row["name"] == "comparator"
    }
    names = tuple(dict.fromkeys(scope for _, scope in of_comparators))
    lines: list[Line] = []
    for statistic in dict.fromkeys(str(row["statistic"]) for row in scorer):
        for row in scorer:
            if row["statistic"] != statistic:
                continue
            scope = str(row["scope"])
            theirs = of_comparators if scope == LABELED else {}
            lines.append(
                Line(
                    statistic,
                    f"{REFERENCE}, {scope}" if scope in (DECIDED, LABELED) else scope,
                    Figure.of(row).words,
                    _words(people.get((statistic, scope))),
                    tuple(_words(theirs.get((statistic, name))) for name in names),
                )
            )
    lines += _error_rates(agreement, people, of_comparators, names)
    has_people = any(figure.value is not None for figure in people.values())
    rows = [row for part in evidence.values() for row in part if row["name"] in COMPARED]
    return Comparison(names, tuple(lines), has_people, tuple(dict.fromkeys(_notes(rows))))


def _error_rates(
    agreement: Sequence[Row],
    people: dict[tuple[str, str], Figure],
    of_comparators: dict[tuple[str, str], Figure],
    names: tuple[str, ...],
) -> list[Line]:
    """Error rates of the scorer and of comparators against the reference, and of people in both their forms."""
    lines = []
    for row in agreement:
        if row["name"] != "error_rate":
            continue
        statistic = str(row["statistic"])
        theirs = tuple(_words(of_comparators.get((statistic, name))) for name in names)
        lines.append(Line(statistic, REFERENCE, Figure.of(row).words, "", theirs))
        for scope in (ONE_OTHER, THE_OTHERS):
            figure = people.get((statistic, scope))
            if figure is not None:
                lines.append(Line(statistic, scope, "", figure.words, ("",) * len(names)))
    return lines


def _notes(rows: Sequence[Row]) -> Iterator[str]:
    whose = {"agreement": "scorer", "error_rate": "scorer", "human_agreement": "people", "human_error_rate": "people"}
    for row in rows:
        figure = Figure.of(row)
        if figure.note is not None and (figure.value is None or figure.low is None):
            who = whose.get(str(row["name"]), figure.scope)
            form = f", {figure.scope}" if who != figure.scope and row["name"] != "error_rate" else ""
            yield f"{statistic_words(figure.statistic)} ({who}{form}): {figure.note}"


def _words(figure: Figure | None) -> str:
    return "" if figure is None else figure.words
