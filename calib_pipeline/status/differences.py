"""What made a cell stale, part by part: what stood before and what stands now, and for texts the lines that differ."""

from __future__ import annotations

import difflib
import json
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calib_pipeline.cell import Cell
from calib_pipeline.chain import MEASURING_RUNGS, stamped
from calib_pipeline.digests import digest_bytes, digest_json
from calib_pipeline.errors import InputError, ReviewUnavailable
from calib_pipeline.evidence_store import DamagedEvidence
from calib_pipeline.status.cell_records import newest_records
from calib_pipeline.status.next_run import declared_key, differing
from calib_pipeline.status.standing import open_ladder
from calib_pipeline.studies.digests import plan_parts
from calib_pipeline.table_cache import TableCache

if TYPE_CHECKING:
    from calib_pipeline.chain import Declared
    from calib_pipeline.ladder import Ladder
    from calib_pipeline.status.cell_status import CellStatus
    from calib_pipeline.studies.project import Project

SHORT = 12
LONGEST_VALUE = 60
LINE = 100
MOST_LINES = 30
RUBRIC_TEXT = "rubric.text"
DIGESTS = ("scores", "tuned_on", "function", RUBRIC_TEXT)
"""Parts of a configuration that are digests in it already."""


@dataclass(frozen=True)
class Difference:
    """One part that changed. Values are shown whole where they are short, else by digest; None where there is none.

    ``lines`` is a unified diff of a text, or of a long value as JSON; empty where the two values say it all, or where
    the text of before is not kept.
    """

    part: str
    before: str | None
    now: str | None
    lines: tuple[str, ...] = ()


def differences_of(project: Project, status: CellStatus) -> tuple[Difference, ...]:
    """What changed since the record of a stale cell, or since its evidence where there is no record.

    Empty where the cell is not stale, or where what is declared now cannot be read.
    """
    if not status.changed:
        return ()
    ladder = open_ladder(project)
    if ladder is None:
        return ()
    with closing(ladder.ledger):
        try:
            return tuple(_differences(ladder, status))
        except (InputError, ReviewUnavailable, DamagedEvidence):
            return ()


def _differences(ladder: Ladder, status: CellStatus) -> Iterator[Difference]:
    cell, stop = Cell(status.study, status.population), status.standing.stop
    published, diagnostic = newest_records(ladder, cell)
    record = published or diagnostic
    found = list(_since_record(ladder, cell, record)) if record is not None else []
    yield from found
    if stop is None or stop.kind != "stale":
        return
    rows = ladder.store.read_evidence(stop.asset, cell.population, cell.study)
    if rows is None:
        return
    stamps = stamped(rows)
    if not found:
        yield from _since_evidence(ladder, cell, stop.asset, stamps)
    if "labels" in ladder.stale_parts(cell, stop.asset, rows):
        yield _labels(ladder, cell, stamps)
    yield from _rungs_above(ladder, cell, stamps)


def _since_record(ladder: Ladder, cell: Cell, record: Mapping[str, Any]) -> Iterator[Difference]:
    study = ladder.project.studies[cell.study]
    held = record["holdout"]["set"]
    if ladder.sets.knows(held):
        now = ladder.sets.declared_on(study, cell.population, ladder.sets.of_id(held))
        yield from _configuration(record, now)
        yield from (_valued(*one) for one in differing(record["plan"]["sections"], plan_parts(study)))
        if now.manifest.digest != record["population"]["digest"]:
            yield Difference("population", record["population"]["digest"][:SHORT], now.manifest.digest[:SHORT])
    serving = ladder.sets.serving(cell)
    if serving is None or serving.holdout_id != held:
        yield Difference("holdout set", held, None if serving is None else serving.holdout_id)


def _configuration(record: Mapping[str, Any], now: Declared) -> Iterator[Difference]:
    then, rubric_then = record["scorer"]["configuration"], record["declaration"]["rubric_text"]
    yield from configuration_differences(then, rubric_then, now.configuration_parts, now.rubric_text)


def configuration_differences(
    then: Mapping[str, Any], rubric_then: str, now: Mapping[str, Any], rubric_now: str
) -> Iterator[Difference]:
    """The parts in which two configurations differ."""
    for part, before, after in differing(then, now):
        if part == RUBRIC_TEXT:
            lines = _diff(rubric_then, rubric_now)
            yield Difference(part, _short(before), _short(after), lines)
        elif part in DIGESTS:
            yield Difference(part.replace("_", " "), _short(before), _short(after))
        else:
            yield _valued(declared_key(part), before, after)


def _since_evidence(ladder: Ladder, cell: Cell, asset: str, stamps: Mapping[str, str | None]) -> Iterator[Difference]:
    """Evidence carries digests alone."""
    study, held = ladder.project.studies[cell.study], stamps.get("set")
    serving = ladder.sets.serving(cell)
    if held is None or not ladder.sets.knows(held):
        return
    now = ladder.sets.declared_on(study, cell.population, ladder.sets.of_id(held))
    for part, digest in now.digests(asset).items():
        if stamps.get(part) != digest:
            yield Difference(part, _short(stamps.get(part)), _short(digest))
    if serving is None or serving.holdout_id != held:
        yield Difference("holdout set", held, None if serving is None else serving.holdout_id)


def _labels(ladder: Ladder, cell: Cell, stamps: Mapping[str, str | None]) -> Difference:
    project = ladder.project
    url = project.path(project.studies[cell.study].data.annotations, cell.population)
    return Difference("labels", _short(stamps.get("labels file")), _short(TableCache(project).digest(url)))


def _rungs_above(ladder: Ladder, cell: Cell, stamps: Mapping[str, str | None]) -> Iterator[Difference]:
    for asset in MEASURING_RUNGS:
        used = stamps.get(f"above: {asset}")
        newest = None if used is None else ladder.ledger.newest_evidence(cell.study, cell.population, asset)
        if newest is not None and newest.digest != used:
            yield Difference(f"the evidence of {asset}", _short(used), _short(newest.digest))


def _valued(part: str, before: Any, now: Any) -> Difference:
    """A declared value: itself where it is short, else its digest and the lines that differ."""
    if all(len(_shown(value)) <= LONGEST_VALUE and "\n" not in str(value) for value in (before, now)):
        return Difference(part, None if before is None else _shown(before), None if now is None else _shown(now))
    return Difference(part, _digest(before), _digest(now), _diff(_text(before), _text(now)))


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _digest(value: Any) -> str | None:
    if value is None:
        return None
    return (digest_bytes(value.encode()) if isinstance(value, str) else digest_json(value))[:SHORT]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def _diff(before: str, now: str) -> tuple[str, ...]:
    """A unified diff without its heads, long lines wrapped, and cut where it is longer than people read."""
    lines = list(difflib.unified_diff(_wrapped(before), _wrapped(now), n=1, lineterm=""))[2:]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"… and {len(lines) - MOST_LINES} more lines"]
    return tuple(lines)


def _wrapped(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in textwrap.wrap(line, LINE) or [""]]


def _short(digest: str | None) -> str | None:
    return None if digest is None else str(digest)[:SHORT]
