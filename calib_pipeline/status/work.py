"""What people can do for a stopped ladder: which items to label, which rows to mend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from calib_pipeline.errors import InputError, ReviewUnavailable
from calib_pipeline.evidence.evidence import fact
from calib_pipeline.evidence.named_items import items_to_label_again
from calib_pipeline.evidence_store import DamagedEvidence, EvidenceStore, SealedEvidence
from calib_pipeline.table_cache import TableCache
from calib_pipeline.tables.reasons import HARMLESS

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.status.standing import Standing
    from calib_pipeline.studies.project import Project


@dataclass(frozen=True)
class Work:
    """Items by id, and label rows that are no vote as (row, item, annotator, reason, detail). No label stands here.

    ``again`` are the items that were named in advance and lack independent annotators, those without any included.
    """

    unlabeled: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    unusable: tuple[tuple[object, ...], ...] = ()


def work_on(project: Project, standing: Standing) -> Work:
    """What a reserved set and its labels leave to do: the stored labels or, where these are sealed, those of the sheet
    that people brought; nothing where a table is gone."""
    reservation, labeled = standing.evidence.get("holdout_reservation"), standing.evidence.get("annotations")
    if reservation is None or standing.reasons["holdout_reservation"]:
        return Work()
    store, study = EvidenceStore(project.store), project.studies[standing.cell.study]
    try:
        drawn = _table(store, reservation, "reserved")
        if labeled is None:
            return Work(tuple(sorted(drawn["item_id"])), tuple(sorted(drawn["item_id"][drawn["named"]])))
        try:
            labels, not_compared = _table(store, labeled, "labels"), _table(store, labeled, "not_compared")
        except SealedEvidence:
            sheet = TableCache(project).labels(study, standing.cell.population, set(drawn["item_id"]))
            labels, not_compared = sheet.frame, sheet.not_compared
            not_compared = not_compared.assign(reason=[str(reason) for reason in not_compared["reason"]])
    except (DamagedEvidence, InputError, ReviewUnavailable):
        return Work()
    unlabeled = sorted(set(drawn["item_id"]) - set(labels["item_id"]))
    unusable = not_compared[~not_compared["reason"].isin([str(reason) for reason in HARMLESS])]
    columns = ["row", "item_id", "annotator_id", "reason", "detail"]
    return Work(
        tuple(unlabeled),
        tuple(items_to_label_again(study, drawn, labels)),
        tuple(unusable[columns].fillna("").itertuples(index=False, name=None)),
    )


def _table(store: EvidenceStore, rows: pd.DataFrame, name: str) -> pd.DataFrame:
    digest = fact(rows, "table", name)
    if digest is None:
        raise DamagedEvidence(f"the evidence names no table {name}")
    return store.get_table(digest)
