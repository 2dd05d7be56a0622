"""Verifying a record: everything is rebuilt from the brought tables by digest, and compared bit for bit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calib_pipeline.chain import Chain, Declared, Given
from calib_pipeline.construct_labels import provenance_on, stored_elsewhere
from calib_pipeline.digests import digest_frame
from calib_pipeline.errors import InputError
from calib_pipeline.evidence.evidence import Evidence
from calib_pipeline.evidence.holdout_reservation import TWINS_OUTSIDE, HoldoutFacts
from calib_pipeline.evidence.scorer_agreement import Opening
from calib_pipeline.evidence.twins import twins_outside
from calib_pipeline.evidence_store import DamagedEvidence, EvidenceStore
from calib_pipeline.holdout_sets import (
    EXCLUDED,
    FROM_OTHER_CONSTRUCTS,
    LEFT_OUT_FOR,
    STRATA,
    drawn_of,
    limits_of,
)
from calib_pipeline.label_custody import NAME_THE_KEY
from calib_pipeline.ledger import Ledger, LedgerError
from calib_pipeline.records.archive import RecordArchive, parsed_record, software_versions
from calib_pipeline.records.on_disk import OnDisk, brought_tables, evidence_on_disk, rows_beside
from calib_pipeline.records.publication import differences
from calib_pipeline.records.record import Sources, address, build_record, compact
from calib_pipeline.records.set_state import state_problem
from calib_pipeline.sampling import draw_holdout
from calib_pipeline.sealing import key_of_environment

if TYPE_CHECKING:
    from upath import UPath

    from calib_pipeline.studies.project import Project
    from calib_pipeline.studies.study import Study


@dataclass(frozen=True)
class Verification:
    """What a verification found: problems refute the record, notes do not."""

    record_id: str
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.problems


def verify_record(project: Project, record_id: str) -> Verification:
    """Rebuild a record from the label, score and manifest files by digest, and compare.

    The ledger must be whole and hold the opening and the publication; the record's address, its row tables and the
    evidence on disk must be what was published; and rows, consensus, folds and every figure must come out the same.

    Raises
    ------
    InputError
        When no record, or more than one, has that id, or its labels are sealed with a key that is not at hand.
    """
    archive = RecordArchive(EvidenceStore(project.store))
    file = archive.file(record_id)
    if file is None:
        raise InputError(
            f"there is no record {record_id!r}, or more than one begins so",
            expected="the id of a published record",
            todo="`calib record list` shows them",
        )
    record = parsed_record(file)
    if record is None:
        return Verification(record_id, (f"{file.name} is damaged: it holds no record",), ())
    found = list(_findings(project, _opened_store(project, record), file, record))
    problems = tuple(sentence for kind, sentence in found if kind == "problem")
    notes = tuple(sentence for kind, sentence in found if kind == "note")
    return Verification(str(record.get("record_id", record_id)), problems, notes)


def _opened_store(project: Project, record: dict[str, Any]) -> EvidenceStore:
    """The store, with its key where the record's labels are sealed; the ledger has it before that they are opened."""
    store = EvidenceStore(project.store)
    try:
        held, labels = record["holdout"]["set"], record["inputs"]["labels"]
        key_id = store.key_of_input(labels)
        if key_id is None:
            return store
        key = key_of_environment(project.root)
        if key is None or key.key_id != key_id:
            raise InputError(
                f"the labels of the record are sealed with the key {key_id}, which is not at hand",
                expected="that key",
                todo=NAME_THE_KEY,
            )
        with Ledger.open(project.ledger) as ledger:
            if not ledger.verify():
                config_digest = record["scorer"]["digest"]
                beside = stored_elsewhere(ledger, declared_study(record), ledger.reserved_set(held), config_digest)
                for holdout_id in (held, *(other.held.holdout_id for other in beside if other.tables)):
                    ledger.record_read(holdout_id, record["study"], config_digest, "verification")
                return EvidenceStore(project.store, key)
    except (DamagedEvidence, LedgerError, KeyError, TypeError, ValueError):
        pass
    return store


def _findings(project: Project, store: EvidenceStore, file: UPath, record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if address(record) != record.get("record_id") or file.stem != record.get("record_id"):
        yield "problem", "the record's content has another address than its name: it was edited"
    try:
        with Ledger.open(project.ledger, read_only=True) as ledger:
            yield from (("problem", f"the ledger: {problem}") for problem in ledger.verify())
            yield from _ledger_findings(ledger, record)
            yield from _found(evidence_on_disk(ledger, store, record))
            yield from _found([rows_beside(store, file, record)])
            yield from _rebuilt_findings(project, ledger, store, record)
    except LedgerError as error:
        yield "problem", f"the ledger cannot be read: {error}"
    except DamagedEvidence as error:
        yield "problem", str(error)
    except (KeyError, TypeError, AttributeError, StopIteration) as error:
        yield "problem", f"the record lacks what it is rebuilt from: {type(error).__name__} {error}"
    yield from _found(brought_tables(project, record))
    if record.get("software") != software_versions():
        yield "note", f"the record was made with other software: {record.get('software')}"


def _ledger_findings(ledger: Ledger, record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    head = record["holdout"]["ledger_head"]
    opening = next((event for event in ledger.events() if event.hash == head), None)
    if opening is None:
        yield "problem", "the ledger does not hold the opening that the record names: its history was rewritten or cut"
    elif opening.event != "opened" or opening.config_digest != record["scorer"]["digest"]:
        yield "problem", f"event {opening.seq} of the ledger is not the opening of this configuration"
    if record["kind"] == "measurement":
        published = {entry.record_id for entry in ledger.published(record["study"], record["population"]["name"])}
        if record["record_id"] not in published:
            yield "problem", "the ledger does not hold the publication of this record"
        state = state_problem(ledger, record)
        if state is not None:
            yield "problem", state


def _found(named: Iterable[OnDisk]) -> Iterator[tuple[str, str]]:
    """What does not match, as problems and notes."""
    for one in named:
        if one.stands != "matches":
            yield "problem" if one.refutes else "note", one.said


def _rebuilt_findings(
    project: Project, ledger: Ledger, store: EvidenceStore, record: dict[str, Any]
) -> Iterator[tuple[str, str]]:
    study = declared_study(record)
    declared, given = _given(ledger, store, record, study)
    if not ledger.reserved_set(record["holdout"]["set"]).details.get(EXCLUDED, 0):
        yield from _draw_findings(declared, given)
    chain = Chain(given)
    for again in chain.rungs():
        if again.asset in record["evidence"]:
            found = differences(again.asset, record["evidence"][again.asset], compact(again.rows))
            yield from (("problem", f"does not recompute: {difference}") for difference in found)
        yield from _row_tables(store, again)
    evidence = {asset: made.rows for asset, made in chain.evidence.items()}
    inputs = record["inputs"]
    sources = Sources(
        inputs["manifest"],
        inputs["labels"],
        inputs["scores"],
        inputs["paths"],
        inputs.get("tuned_on"),
        inputs.get("function"),
    )
    rebuilt = build_record(
        declared,
        evidence,
        sources,
        kind=record["kind"],
        state=record["holdout"]["state"],
        why=record["why"],
        uses=given.facts.uses if "uses_before" in record["holdout"] else None,
        sealing=given.facts.sealing if "sealed" in record["holdout"] else None,
    )
    rebuilt = json.loads(json.dumps(rebuilt))
    for field, value in rebuilt.items():
        if record.get(field) != value:
            yield "problem", f"does not recompute: the field {field}"


def declared_study(record: dict[str, Any]) -> Study:
    """The study as it was declared when the record was made."""
    from calib_pipeline.studies.study import Study

    return Study.model_validate(record["declaration"]["study"])


def _given(ledger: Ledger, store: EvidenceStore, record: dict[str, Any], study: Study) -> tuple[Declared, Given]:
    """What the rungs are computed from, read again from the kept copies of the brought tables."""
    from calib_pipeline.tables.annotations import read_labels
    from calib_pipeline.tables.items import read_manifest
    from calib_pipeline.tables.scores import outputs_digest, read_scores
    from calib_pipeline.tables.tuning import NOTHING, read_tuning

    inputs, holdout = record["inputs"], record["holdout"]
    held = ledger.reserved_set(holdout["set"])
    reserved = {item.item_id for item in held.items}
    manifest = read_manifest(store.get_input(inputs["manifest"]), record["population"]["name"])
    contents = manifest.contents
    labels = read_labels(store.get_input(inputs["labels"]), study, reserved, contents, contents)
    scores = read_scores(store.get_input(inputs["scores"]), study, reserved, contents, contents=contents)
    panel = {
        scorer.id: read_scores(store.get_input(inputs["scores"]), study, reserved, contents, scorer, contents)
        for scorer in study.panel
    }
    rubric = record["declaration"]["rubric_text"]
    strata = held.details.get(STRATA)
    tuned_on = read_tuning(store.get_input(inputs["tuned_on"])) if "tuned_on" in inputs else NOTHING
    tuned_on = tuned_on.with_examples(study.scorer.config)
    function = inputs.get("function")
    outputs = outputs_digest(scores, panel)
    declared = Declared(study, rubric, manifest, outputs, held.holdout_id, strata, tuned_on, function)
    opening = Opening(
        "measurement" if record["kind"] == "measurement" else "diagnostic",
        None,
        int(holdout["configurations_registered"]),
        int(holdout["earlier_attempts"]),
        holdout["ledger_head"],
    )
    reused = holdout["state"] == "reused"
    head = holdout["ledger_head"]
    facts = HoldoutFacts(
        held.holdout_id,
        held.generation,
        registered=not reused,
        why_not=record["why"] if reused else None,
        spent=0,
        allowance=ledger.allowance(held.holdout_id, record["scorer"]["digest"], limits_of(study), head),
        uses=ledger.uses(held.holdout_id, head),
        sealing=ledger.sealing(held.holdout_id, head),
        from_other_constructs=held.details.get(FROM_OTHER_CONSTRUCTS, {}),
        left_out_for=held.details.get(LEFT_OUT_FOR, {}),
        twins=twins_outside(manifest.frame, reserved) if _tells_twins(record) else None,
    )
    provenance = provenance_on(ledger, store, study, held, record["scorer"]["digest"], labels.frame)
    given = Given(declared, drawn_of(held), facts, labels, labels.file_digest, provenance, scores, panel, opening)
    return declared, given


def _tells_twins(record: dict[str, Any]) -> bool:
    """Whether the evidence of the reservation counts twins; what an earlier version made does not."""
    return any(row.get("name") == TWINS_OUTSIDE for row in record["evidence"].get("holdout_reservation", ()))


def _draw_findings(declared: Declared, given: Given) -> Iterator[tuple[str, str]]:
    """A set that left out no spent item is drawn from the whole population, so that its draw can be repeated."""
    again = draw_holdout(
        declared.manifest.frame,
        size=declared.study.holdout.size,
        seed=declared.study.holdout.seed,
        min_per_stratum=declared.study.holdout.min_per_stratum,
        named_items=1,
    )
    if set(again["item_id"]) != set(given.drawn["item_id"]):
        yield "problem", "the reserved items are not the ones that the seed draws from the population"


def _row_tables(store: EvidenceStore, again: Evidence) -> Iterator[tuple[str, str]]:
    for name, frame in again.tables.items():
        digest = digest_frame(frame)
        try:
            store.get_table(digest)
        except DamagedEvidence as error:
            yield "problem", f"the row table {name} of {again.asset}: {error}"
