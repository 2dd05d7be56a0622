"""Does the ledger still say what was written? The chain, its triggers, and the items of every set."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from calib_pipeline.ledger.chain import row_hash
from calib_pipeline.ledger.constructs import registered_construct
from calib_pipeline.ledger.events import EVENT_KINDS, GENESIS
from calib_pipeline.ledger.sets import ReservedItem, digest_items
from calib_pipeline.ledger.states import Overlap, Subject, state_of

if TYPE_CHECKING:
    from calib_pipeline.ledger.backend import Trigger
    from calib_pipeline.ledger.journal import Journal


def problems_of(journal: Journal) -> list[str]:
    """Every problem as a sentence that names the event; an empty list where the ledger is sound."""
    rows = list(journal.stored_rows())
    problems = [
        *journal.integrity_problems(),
        *chain_problems(rows),
        *_trigger_problems(journal.standing_triggers(), journal.expected_triggers),
        *_item_problems(journal, rows),
    ]
    return problems or _rule_problems(journal)


def chain_problems(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """What is wrong with the chain, given its stored rows in order of ``seq``."""
    problems: list[str] = []
    seq, head = 0, GENESIS
    for row in rows:
        named = f"event {row['seq']} ({row['event']})"
        if row["seq"] != seq + 1:
            last = row["seq"] - 1
            gap = f"event {last} is" if last == seq + 1 else f"events {seq + 1} to {last} are"
            problems.append(f"{gap} missing before {named}: a row was deleted or moved")
        if _hash_or_none(row) != row["hash"]:
            problems.append(f"{named} was edited: its hash is not that of its content")
        if row["prev_hash"] != head:
            before = f"event {seq}" if seq else "the beginning"
            problems.append(
                f"{named} does not follow {before}: a row was edited, deleted, inserted or moved between them"
            )
        if row["event"] not in EVENT_KINDS:
            problems.append(f"{named} is of no kind that a ledger holds")
        if not _is_object(row["details"]):
            problems.append(f"{named} was edited: its details are no JSON object")
        seq, head = row["seq"], row["hash"]
    return problems


def _trigger_problems(standing: Mapping[str, Trigger], expected: Mapping[str, str]) -> list[str]:
    problems = []
    for name, statement in expected.items():
        if name not in standing:
            problems.append(f"trigger {name} is gone: rows could be changed without a refusal")
        elif standing[name].statement != statement:
            problems.append(f"trigger {name} was replaced by another statement")
        elif not standing[name].enabled:
            problems.append(f"trigger {name} is switched off: rows could be changed without a refusal")
    problems += [f"trigger {name} does not belong to a ledger" for name in sorted(set(standing) - set(expected))]
    return problems


def _item_problems(journal: Journal, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    problems = []
    reserved: set[str] = set()
    for row in rows:
        if row["event"] != "reserved" or not _is_object(row["details"]):
            continue
        holdout_id, details = str(row["holdout_id"]), json.loads(row["details"])
        named = f"set {holdout_id}, reserved as event {row['seq']}"
        if holdout_id in reserved:
            problems.append(f"{named}, was reserved before: a set is reserved once")
            continue
        reserved.add(holdout_id)
        items = journal.items(holdout_id)
        if len(items) != details.get("size"):
            problems.append(f"{named}, holds {len(items)} items and was reserved with {details.get('size')}")
        elif _digest_or_none(items) != details.get("items_digest"):
            problems.append(f"{named}: its item rows were changed since")
    strays = sorted(journal.sets_with_items() - reserved)
    problems += [f"item rows stand under {name}, which no event reserved" for name in strays]
    return problems


def _rule_problems(journal: Journal) -> list[str]:
    """Measurements that the ledger's own rules would have refused: written past them, with hashes that fit."""
    problems = []
    for event in journal.events(kinds=("opened",)):
        if event.details.get("purpose") != "measurement":
            continue
        holdout_id = str(event.holdout_id)
        config_digest, plan_digest = str(event.config_digest), str(event.details.get("plan_digest"))
        history = journal.history(holdout_id).until(event.seq)
        construct = registered_construct(history.of_kind("registered"), config_digest, plan_digest)
        subject = Subject(str(event.study), config_digest, plan_digest, construct=construct)
        overlaps = [Overlap(it.history.until(event.seq), it.items) for it in journal.overlaps(holdout_id)]
        state = state_of(history, subject, overlaps)
        if state.state != "unopened":
            problems.append(
                f"event {event.seq} (opened) claims a measurement of set {holdout_id} that was "
                f"{state.state} for it: {state.why}"
            )
    return problems


def _hash_or_none(row: Mapping[str, Any]) -> str | None:
    try:
        return row_hash(row)
    except (TypeError, ValueError):
        return None


def _digest_or_none(items: Sequence[ReservedItem]) -> str | None:
    try:
        return digest_items(items)
    except (TypeError, ValueError):
        return None


def _is_object(text: object) -> bool:
    try:
        return isinstance(json.loads(str(text)), dict)
    except ValueError:
        return False
