"""What an event of the ledger says, as a sentence for people."""

from __future__ import annotations

from calib_pipeline.ledger.events import Event
from calib_pipeline.ledger.sealing import SEALED

SHORT = 12
READ_FOR = {
    "ceiling": "to see how far people agree with each other (ceiling)",
    "baselines": "to score the comparators (baselines)",
    "agreement": "to see whether enough is labeled to open the set",
    "threshold": "to hold the expected cost against the budget",
    "record": "to store the rows beside the record",
    "construct": "to compare them with the labels of another construct",
    "verification": "to compute a record again",
}


def sentence_of(event: Event) -> str:
    """What an event says; digests by their first twelve characters."""
    details = event.details
    match event.event:
        case "reserved":
            return _reserved(event)
        case "registered":
            return _registered(event)
        case "labels_ingested":
            counted = f": {details['usable']} of {details['rows']} rows are usable" if "rows" in details else ""
            kept = f", stored sealed with the key {details[SEALED]}" if SEALED in details else ""
            return f"labels {_short(details.get('digest'))} of {event.study} arrived{counted}{kept}"
        case "read":
            purpose = str(details.get("purpose"))
            diagnostic = " for a diagnostic record" if details.get("record") == "diagnostic" else ""
            return f"labels were read for {event.study}{diagnostic}, {READ_FOR.get(purpose, f'for {purpose}')}"
        case "opened":
            return (
                f"labels {_short(details.get('labels_digest'))} met the outputs {_short(details.get('scores_digest'))} "
                f"of {event.study}: a {details.get('purpose')} of configuration {_short(event.config_digest)} under "
                f"plan {_short(details.get('plan_digest'))}"
            )
        case "exported":
            return f"labels left the pipeline, for {details.get('to')}"
        case "fitted":
            return f"declared to have shaped {_shaped(event)}: {details.get('reason')}"
        case "retired":
            return f"taken out of use: {details.get('reason')}"
        case "evidence":
            holds = "holds" if details.get("holds") else "does not hold"
            return f"{details.get('asset')} of {event.study} {holds}, evidence {_short(details.get('digest'))}"
        case "published":
            claim = details.get("details", {}).get("claim")
            return f"record {_short(details.get('record_id'))} of {event.study}" + (f": {claim}" if claim else "")
    return ", ".join(f"{name} {value}" for name, value in details.items())


def _reserved(event: Event) -> str:
    details = event.details
    left_out = f", {details['excluded']} spent items left out" if details.get("excluded") else ""
    again = ", to measure again" if details.get("recheck") else ""
    shared = "".join(
        f", {count} of them spent for {dimension}"
        for dimension, count in sorted((details.get("from_other_constructs") or {}).items())
    )
    return (
        f"generation {details.get('generation')} for {details.get('dimension')}: {details.get('size')} items of "
        f"{details.get('population')} (version {_short(details.get('population_digest'))}), drawn with seed "
        f"{details.get('seed')}{left_out}{shared}{again}"
    )


def _registered(event: Event) -> str:
    details = event.details
    scores = details.get("scores_digest")
    outputs = f", its outputs {_short(scores)}" if scores else ", without outputs yet"
    said = f"{event.study} is frozen: configuration {_short(event.config_digest)}{outputs}, plan "
    said += _short(details.get("plan_digest"))
    for dimension, reason in sorted((details.get("other_constructs") or {}).items()):
        said += f"; it declares {dimension} another construct: {reason}"
    if details.get("role") == "fitted":
        return f"{said}; it declares that the set shaped it"
    return said if details.get("for_status") else f"{said}; it can earn no status"


def _shaped(event: Event) -> str:
    if event.study is not None:
        return str(event.study)
    return "every scorer" if event.config_digest is None else f"configuration {_short(event.config_digest)}"


def _short(digest: object) -> str:
    return str(digest)[:SHORT] if digest else "none"
