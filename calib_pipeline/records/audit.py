"""From a record back to the reservation: what the ledger says of its set, and whether what it rests on still stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from calib_pipeline.errors import InputError, MachineFault, ReviewUnavailable
from calib_pipeline.evidence_store import DamagedEvidence, EvidenceStore
from calib_pipeline.holdout_sets import HoldoutSets
from calib_pipeline.ledger import Event, Ledger
from calib_pipeline.ledger.sentences import sentence_of
from calib_pipeline.records.archive import RecordArchive, damage_of
from calib_pipeline.records.history import superseded_by
from calib_pipeline.records.on_disk import (
    OnDisk,
    brought_tables,
    evidence_on_disk,
    kept_copies,
    row_tables,
    rows_beside,
)
from calib_pipeline.records.set_state import state_problem
from calib_pipeline.table_cache import TableCache

if TYPE_CHECKING:
    from upath import UPath

    from calib_pipeline.studies.project import Project

OF_EVERYONE = ("reserved", "read", "opened", "exported", "fitted", "retired")
"""Events of the set that are told whichever study they are of; the others are told of the record's study."""
OF_SHARING_SETS = ("reserved", "opened", "exported", "fitted", "retired")
DECLARED = ("population", "rubric", "configuration", "scores", "plan")


@dataclass(frozen=True)
class AuditedEvent:
    """An event with its sentence; ``since`` is whether it came after the record was published."""

    event: Event
    said: str
    since: bool


@dataclass(frozen=True)
class Audit:
    """What a record rests on.

    ``events`` are in order of the ledger. ``shared`` counts the items that another set holds too, by its id, and
    ``superseded_by`` is the record that took this one's place. ``answers`` say in sentences who reserved the set, what
    was frozen, who saw its labels and what happened since; ``problems`` say what the record no longer rests on.
    """

    record_id: str
    study: str
    population: str
    kind: str
    claim: str
    published_at: str
    holdout_set: str
    superseded_by: str | None
    shared: Mapping[str, int]
    events: tuple[AuditedEvent, ...]
    named: tuple[OnDisk, ...]
    answers: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether everything that the record rests on is there as it was."""
        return not self.problems


def audit_record(project: Project, file: UPath, record: dict[str, Any]) -> Audit:
    """Follow a record back; nothing is computed again (that is `verify_record`).

    Parameters
    ----------
    file, record
        The record's file, and what it holds.

    Raises
    ------
    LedgerError
        When the ledger cannot be read.
    MachineFault
        When the file was edited and lacks what an audit starts from.
    """
    store = EvidenceStore(project.store)
    damage = damage_of(file)
    try:
        with Ledger.open(project.ledger, read_only=True) as ledger:
            return _audit(project, ledger, store, file, record)
    except (KeyError, TypeError, AttributeError) as error:
        if damage is None:
            raise
        raise MachineFault(str(file), f"the record {damage}", "restore it from a copy") from error


def _audit(
    project: Project,
    ledger: Ledger,
    store: EvidenceStore,
    file: UPath,
    record: dict[str, Any],
) -> Audit:
    held = record["holdout"]["set"]
    known = any(header.holdout_id == held for header in ledger.sets())
    shared = {name: len(items) for name, items in ledger.sharing(held).items()} if known else {}
    published = _published(ledger, record)
    opening = next((event for event in ledger.events() if event.hash == record["holdout"]["ledger_head"]), None)
    bound = published or opening
    told = [
        AuditedEvent(event, sentence_of(event), since=bound is not None and event.seq > bound.seq)
        for event in ledger.events()
        if _is_told(event, record, shared)
    ]
    named = (
        _file(file, record),
        *_in_ledger(record, opening, published),
        *evidence_on_disk(ledger, store, record),
        rows_beside(store, file, record),
        *row_tables(store, record),
        *kept_copies(store, record),
        *brought_tables(project, record),
        *(_declared_now(project, ledger, record, opening) if known else ()),
    )
    state = state_problem(ledger, record) if known else f"the ledger holds no set {held}"
    problems = [f"the ledger: {problem}" for problem in ledger.verify()]
    problems += [one.said for one in named if one.refutes] + ([state] if state else [])
    return Audit(
        record["record_id"],
        record["study"],
        record["population"]["name"],
        record["kind"],
        record["claim"],
        record["published_at"],
        held,
        superseded_by(RecordArchive(store).entries(), ledger.published()).get(record["record_id"]),
        shared,
        tuple(told),
        named,
        tuple(_answers(told, record, opening)),
        tuple(problems),
    )


def _is_told(event: Event, record: Mapping[str, Any], shared: Mapping[str, int]) -> bool:
    if event.holdout_id in shared:
        return event.event in OF_SHARING_SETS
    if event.holdout_id != record["holdout"]["set"]:
        return False
    return event.event in OF_EVERYONE or event.study == record["study"]


def _published(ledger: Ledger, record: Mapping[str, Any]) -> Event | None:
    """The first event that published the record."""
    return next(
        (
            event
            for event in ledger.events(study=record["study"])
            if event.event == "published" and event.details["record_id"] == record["record_id"]
        ),
        None,
    )


def _file(file: UPath, record: Mapping[str, Any]) -> OnDisk:
    damage = damage_of(file)
    said = "" if damage is None else f"the record file {file.name} {damage}"
    return OnDisk("record", record["record_id"], "matches" if damage is None else "altered", said)


def _in_ledger(record: Mapping[str, Any], opening: Event | None, published: Event | None) -> Iterator[OnDisk]:
    head = record["holdout"]["ledger_head"]
    if opening is None:
        said = "the ledger does not hold the opening that the record names: its history was rewritten or cut"
        yield OnDisk("opening in the ledger", head, "missing", said)
    elif opening.event != "opened" or opening.config_digest != record["scorer"]["digest"]:
        said = f"event {opening.seq} of the ledger is not the opening of this configuration"
        yield OnDisk("opening in the ledger", head, "altered", said)
    else:
        yield OnDisk("opening in the ledger", head, "matches")
    if record["kind"] == "measurement":
        said = "the ledger does not hold the publication of this record"
        if published is None:
            yield OnDisk("publication in the ledger", None, "missing", said)
        else:
            yield OnDisk("publication in the ledger", published.hash, "matches")


def _declared_now(
    project: Project, ledger: Ledger, record: Mapping[str, Any], opening: Event | None
) -> Iterator[OnDisk]:
    """What was frozen, beside what is declared now: a change makes the record one of what was."""
    then = {
        "population": record["population"]["digest"],
        "rubric": record["rubric"]["digest"],
        "configuration": record["scorer"]["digest"],
        "scores": None if opening is None else opening.details["scores_digest"],
        "plan": record["plan"]["digest"],
    }
    study = project.studies.get(record["study"])
    population = record["population"]["name"]
    now: Mapping[str, str | None] | None = None
    why = "the study is not declared on the population any more"
    if study is not None and population in project.populations and population in study.data.populations:
        try:
            sets = HoldoutSets(project, ledger, TableCache(project))
            now = sets.declared_on(study, population, sets.of_id(record["holdout"]["set"])).digests("published_record")
        except (InputError, ReviewUnavailable, DamagedEvidence) as fault:
            why = f"what is declared now cannot be read: {fault}"
    for part in DECLARED:
        what = f"{part} as declared"
        if then[part] is None:
            continue
        if now is None:
            yield OnDisk(what, then[part], "changed", why)
        elif now[part] != then[part]:
            said = f"another {part} is declared now ({str(now[part])[:12]}); the record stands for its own"
            yield OnDisk(what, then[part], "changed", said)
        else:
            yield OnDisk(what, then[part], "matches")


def _answers(told: list[AuditedEvent], record: Mapping[str, Any], opening: Event | None) -> Iterator[str]:
    own = [one for one in told if one.event.holdout_id == record["holdout"]["set"]]
    for one in own:
        if one.event.event == "reserved":
            yield f"reserved by {_by(one.event)}: {one.said}"
    frozen = next(
        (
            one
            for one in own
            if one.event.event == "registered"
            and one.event.config_digest == record["scorer"]["digest"]
            and one.event.details.get("plan_digest") == record["plan"]["digest"]
        ),
        None,
    )
    looks = [one.event for one in own if one.event.event in ("read", "opened", "exported")]
    if frozen is None:
        yield "frozen: the ledger holds no registration of this configuration and plan on the set"
    else:
        first = looks[0] if looks else None
        when = "nobody has looked at the labels" if first is None else f"the first look at the labels was {first.cited}"
        yield f"frozen by {_by(frozen.event)}: {frozen.said}; {when}"
    if opening is None:
        yield "opened: the opening that the record names is not in the ledger"
        return
    seen = sorted({event.actor for event in looks if event.seq <= opening.seq})
    reads = sum(event.event == "read" for event in looks if event.seq < opening.seq)
    yield f"labels seen until the opening: by {', '.join(seen)}, in {reads} reads and the opening"
    yield from _replaced(own, record, looks[0].seq if looks else opening.seq, opening)
    yield f"opened by {_by(opening)}: {sentence_of(opening)}"
    yield _storage(record["holdout"])
    yield from _since(told, record)


def _replaced(own: list[AuditedEvent], record: Mapping[str, Any], look: int, opening: Event) -> Iterator[str]:
    """Label sheets of the study that came after the first look and before the opening."""
    ingested = [
        one.event
        for one in own
        if one.event.event == "labels_ingested" and one.event.study == record["study"] and one.event.seq < opening.seq
    ]
    for before, event in pairwise(ingested):
        if event.seq > look and event.details.get("digest") != before.details.get("digest"):
            yield f"labels replaced after they were read: {event.cited}, by {_by(event)}"


def _storage(holdout: Mapping[str, Any]) -> str:
    """How the labels were stored until the opening, as the record says it."""
    if holdout.get("sealed", "no") == "no":
        return "labels stored unsealed: whoever could read the store could read them"
    since = " after they had been stored unsealed" if holdout["sealed"] == "later" else ""
    return f"labels stored sealed with the key {holdout['sealing_key']}{since}"


def _since(told: list[AuditedEvent], record: Mapping[str, Any]) -> Iterator[str]:
    """What happened to the items after the record; runs of its own study that repeat it are nothing."""
    reads: Counter[tuple[str, str | None]] = Counter()
    nothing = True
    for one in told:
        event = one.event
        if not one.since or event.event not in OF_EVERYONE:
            continue
        if event.event == "read":
            reads[event.actor, event.study] += event.study != record["study"]
            continue
        nothing = False
        yield f"since the record, {event.holdout_id} {event.event} by {_by(event)}: {one.said}"
    reads = +reads
    for (actor, study), count in reads.items():
        yield f"since the record, labels read {count} times by {actor} for {study}"
    if nothing and not reads:
        yield "since the record, nothing but runs of its own study"


def _by(event: Event) -> str:
    return f"{event.actor} on {event.at[:10]} (event {event.seq})"
