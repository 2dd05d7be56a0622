"""The labels that items of a set have under another dimension, which is declared to be another construct."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from calib_pipeline.evidence.annotations import LabelProvenance, LabelsElsewhere, label_provenance
from calib_pipeline.evidence.same_labels import same_labels
from calib_pipeline.holdout_sets import reserved_since

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.evidence_store import EvidenceStore
    from calib_pipeline.ledger import Event, HoldoutSet, Ledger
    from calib_pipeline.studies.study import Study


class StoredElsewhere(NamedTuple):
    """A set of another construct that shares items with one, and the digests of its labels that rungs have read."""

    held: HoldoutSet
    tables: tuple[str, ...]


def stored_elsewhere(ledger: Ledger, study: Study, held: HoldoutSet, config_digest: str) -> list[StoredElsewhere]:
    """The labels of a set's items under dimensions that the study declares to be other constructs.

    What was read there counts until this configuration first opened the set, so that the answer then stays as it is.
    Sets whose labels nobody read by then are left out; without tables are those of which only an opening is known.
    """
    constructs = study.holdout.other_constructs or {}
    if not constructs:
        return []
    opened = (event for event in ledger.events(held.holdout_id) if event.event == "opened")
    until = next((event.seq for event in opened if event.config_digest == config_digest), None)
    found = []
    for other in map(ledger.reserved_set, ledger.sharing(held.holdout_id)):
        events = [event for event in ledger.events(other.holdout_id) if until is None or event.seq < until]
        tables = tuple(sorted(_tables(events)))
        if other.dimension in constructs and (tables or any(event.event == "opened" for event in events)):
            found.append(StoredElsewhere(other, tables))
    return found


def provenance_on(
    ledger: Ledger,
    store: EvidenceStore,
    study: Study,
    held: HoldoutSet,
    config_digest: str,
    labels: pd.DataFrame,
    opens: Callable[[str], object] = lambda _: None,
) -> LabelProvenance:
    """Since when the labels of a set were held out, and how far they are those of other constructs.

    Parameters
    ----------
    labels
        ``item_id, value`` of the usable labels.
    opens
        Told the id of another set before stored labels of it are read.

    Raises
    ------
    DamagedEvidence
        When a table of labels that the ledger names is not in the store.
    """
    elsewhere = []
    for other, tables in stored_elsewhere(ledger, study, held, config_digest):
        if tables:
            opens(other.holdout_id)
        here = _names_here(held, other)
        compared = [same_labels(labels, _renamed(store.get_table(digest), here)) for digest in tables]
        most = max(compared, key=lambda one: (one.same, one.equal), default=None)
        elsewhere.append(LabelsElsewhere(other.holdout_id, other.dimension, most))
    ingested = _last_ingested(ledger, held, config_digest)
    return label_provenance(study, labels, reserved_since(ledger, held), tuple(elsewhere), ingested)


def _last_ingested(ledger: Ledger, held: HoldoutSet, config_digest: str) -> str | None:
    """When labels of a set were last ingested before this configuration first opened it."""
    events = ledger.events(held.holdout_id)
    opened = (event.seq for event in events if event.event == "opened" and event.config_digest == config_digest)
    until = next(opened, None)
    at = [event.at for event in events if event.event == "labels_ingested" and (until is None or event.seq < until)]
    return at[-1] if at else None


def _tables(events: list[Event]) -> set[str]:
    """The tables of labels that rungs have read from a set, by digest."""
    read = {event.details.get("labels") for event in events if event.event == "read"}
    measured = {
        event.details.get("labels_digest")
        for event in events
        if event.event == "opened" and event.details.get("purpose") == "measurement"
    }
    return {digest for digest in read | measured if digest is not None}


def _names_here(held: HoldoutSet, other: HoldoutSet) -> Mapping[str, str]:
    """What this set calls an item of the other: the same id, else the same content or text."""
    ids = {item.item_id for item in held.items}
    contents = {item.content_digest: item.item_id for item in held.items if item.content_digest is not None}
    texts = {item.text_digest: item.item_id for item in held.items if item.text_digest is not None}
    names = {}
    for item in other.items:
        twin = contents.get(str(item.content_digest)) or texts.get(str(item.text_digest))
        if item.item_id in ids or twin is not None:
            names[item.item_id] = item.item_id if item.item_id in ids else str(twin)
    return names


def _renamed(labels: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    shared = labels[labels["item_id"].isin(set(names))]
    return shared.assign(item_id=shared["item_id"].map(names))
