"""The labels that items of a set have under another dimension, which is declared to be another construct."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from calib_pipeline.evidence.annotations import LabelProvenance, LabelsElsewhere, label_provenance
from calib_pipeline.evidence.same_labels import same_labels
from calib_pipeline.holdout_sets import reserved_since

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.evidence_store import EvidenceStore
    from calib_pipeline.ledger import Event, HoldoutSet, Ledger
    from calib_pipeline.studies.study import Study


def sets_of_other_constructs(ledger: Ledger, study: Study, held: HoldoutSet) -> list[HoldoutSet]:
    """The sets that share items with one, under a dimension that the study declares to be another construct."""
    others = study.holdout.other_constructs or {}
    sharing = [ledger.reserved_set(holdout_id) for holdout_id in ledger.sharing(held.holdout_id)] if others else []
    return [other for other in sharing if other.dimension in others]


def provenance_on(
    ledger: Ledger,
    store: EvidenceStore,
    study: Study,
    held: HoldoutSet,
    config_digest: str,
    labels: pd.DataFrame,
    opens: Callable[[str], object] = lambda _: None,
) -> LabelProvenance:
    """Since when the labels of a set were held out, and how far they are those of other constructs; as below."""
    elsewhere = labels_elsewhere(ledger, store, study, held, config_digest, labels, opens)
    return label_provenance(study, labels, reserved_since(ledger, held), elsewhere)


def labels_elsewhere(
    ledger: Ledger,
    store: EvidenceStore,
    study: Study,
    held: HoldoutSet,
    config_digest: str,
    labels: pd.DataFrame,
    opens: Callable[[str], object],
) -> tuple[LabelsElsewhere, ...]:
    """How far a set's labels are those of the sets of other constructs that share items with it.

    What was seen there counts until this configuration first opened the set, so that the answer then stays as it is.

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
    opened = (event for event in ledger.events(held.holdout_id) if event.event == "opened")
    until = next((event.seq for event in opened if event.config_digest == config_digest), None)
    found = []
    for other in sets_of_other_constructs(ledger, study, held):
        holdout_id = other.holdout_id
        events = [event for event in ledger.events(holdout_id) if until is None or event.seq < until]
        here = _names_here(held, other)
        opens(holdout_id)
        seen = [_renamed(store.get_table(digest), here) for digest in sorted(_tables(events))]
        if seen:
            compared = [same_labels(labels, one) for one in seen]
            found.append(
                LabelsElsewhere(holdout_id, other.dimension, max(compared, key=lambda one: (one.same, one.equal)))
            )
        elif any(event.event == "opened" for event in events):
            found.append(LabelsElsewhere(holdout_id, other.dimension, None))
    return tuple(found)


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
