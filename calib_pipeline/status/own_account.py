"""Which rungs are blocked whatever the rungs above say: told from ids, statuses, declarations and the ledger alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calib_pipeline.cell import Cell
from calib_pipeline.errors import InputError, ReviewUnavailable
from calib_pipeline.evidence.annotations import annotations as label_evidence
from calib_pipeline.evidence.annotations import label_provenance
from calib_pipeline.evidence.baseline_comparators import FEWEST_DISTINCT_VALUES, KINDS, MOST_MISSING
from calib_pipeline.evidence.evidence import Evidence, EvidenceRows
from calib_pipeline.evidence.named_items import count_named_items, items_to_label_again
from calib_pipeline.evidence.scorer_agreement import Readiness, readiness
from calib_pipeline.holdout_sets import drawn_of, reserved_since
from calib_pipeline.ladder import Ladder
from calib_pipeline.ledger import HoldoutSet
from calib_pipeline.measurement.comparators import heuristic_name, is_length
from calib_pipeline.schemas import GATES, Reason
from calib_pipeline.schemas.gate import MIN_GROUPS
from calib_pipeline.table_cache import TableCache

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.ledger import SetState
    from calib_pipeline.studies.project import Project
    from calib_pipeline.studies.study import Study
    from calib_pipeline.tables.annotations import Labels
    from calib_pipeline.tables.items import Manifest
    from calib_pipeline.tables.scores import Scores


@dataclass(frozen=True)
class Brought:
    """The tables of a cell as far as they can be read; ``unread`` says what is wrong with the others."""

    manifest: Manifest | None
    held: HoldoutSet | None
    state: SetState | None
    labels: Labels | None
    scores: Scores | None
    unread: tuple[str, ...]
    since: Mapping[str, str]

    @property
    def ready(self) -> Readiness | None:
        """How many labeled items have an output, told from ids and statuses; None where a table is not readable."""
        if self.labels is None or self.scores is None:
            return None
        return readiness(set(self.labels.frame["item_id"]), self.scores.frame)


def brought(project: Project, ladder: Ladder | None, cell: Cell) -> Brought:
    """Read what there is of a cell's tables, for the set that serves it, else the newest of its dimension."""
    study, tables = project.studies[cell.study], TableCache(project)
    unread: list[str] = []
    manifest = labels = scores = held = state = None
    try:
        manifest = tables.manifest(cell.population)
        held = None if ladder is None else ladder.sets.serving(cell) or ladder.sets.newest(cell)
    except InputError as fault:
        unread.append(str(fault))
    if ladder is not None and held is not None and manifest is not None:
        reserved = {item.item_id for item in held.items}
        try:
            labels = tables.labels(study, cell.population, reserved)
        except (InputError, ReviewUnavailable) as fault:
            unread.append(str(fault))
        try:
            scores = tables.scores(study, cell.population, reserved)
        except InputError as fault:
            unread.append(str(fault))
        try:
            state = ladder.sets.state(study, held)
        except InputError as fault:
            unread.append(str(fault))
    since = {} if ladder is None or held is None else reserved_since(ladder.ledger, held)
    return Brought(manifest, held, state, labels, scores, tuple(unread), since)


def blocked(study: Study, tables: Brought) -> tuple[Reason, ...]:
    """Every gate condition that fails on facts that no label-to-score comparison enters, with the gate's own words."""
    facts = (
        _reservation(study, tables),
        *_labels(study, tables),
        _baselines(study, tables),
        _readiness(tables, study),
    )
    reasons = [reason for evidence in facts if evidence is not None for reason in failing(evidence)]
    return (*reasons, *_groups(tables))


def failing(evidence: Evidence) -> list[Reason]:
    """The reasons of those conditions whose row is there; the others cannot be told yet."""
    present = set(evidence.rows["name"])
    conditions = [condition for condition in GATES[evidence.asset].conditions if condition.row in present]
    return [reason for condition in conditions for reason in condition.reasons(evidence.rows)]


def _reservation(study: Study, tables: Brought) -> Evidence:
    rows = EvidenceRows("holdout_reservation")
    rows.fact("role", study.holdout.role)
    rows.fact("reference_kind", study.reference.kind)
    loose = study.loose_bars()
    rows.count("loose_bars", len(loose), bar=0, text="; ".join(loose) or None)
    if tables.held is not None and tables.state is not None and study.holdout.role == "holdout":
        spent = tables.state.state in ("reused", "fitted")
        rows.fact(
            "registered_before_opening", "no" if spent else "yes", scope=tables.held.holdout_id, note=tables.state.why
        )
    return rows.build()


def _labels(study: Study, tables: Brought) -> tuple[Evidence, ...]:
    """What ids and reasons of the label sheet say: blinding, coverage, dates, and who labeled the named items."""
    if tables.labels is None or tables.held is None:
        rows = EvidenceRows("annotations")
        declared = study.annotation.blind.to if study.annotation.blind is not None else ()
        missing = [what for what in ("output", "confidence", "difficulty") if what not in declared]
        rows.count("blinding_missing", len(missing), bar=0, text=" and ".join(missing) or None)
        return (rows.build(),)
    labels, drawn = tables.labels, drawn_of(tables.held)
    provenance = label_provenance(study, labels.frame, tables.since)
    return label_evidence(study, drawn, labels, provenance, {}), _annotators(study, drawn, labels.frame)


def _annotators(study: Study, drawn: pd.DataFrame, labels: pd.DataFrame) -> Evidence:
    rows = EvidenceRows("human_ceiling")
    named, lacking = int(drawn["named"].sum()), items_to_label_again(study, drawn, labels)
    count_named_items(rows, study, named=named, enough=named - len(lacking))
    return rows.build()


def _baselines(study: Study, tables: Brought) -> Evidence:
    rows = EvidenceRows("baseline_comparators")
    heuristics = [heuristic.column for heuristic in study.baselines.heuristics]
    absent = [] if heuristics else ["heuristic"]
    rows.count("comparator_kinds", len(KINDS) - len(absent), bar=len(KINDS), text=", ".join(absent) or None)
    lengths = [column for column in heuristics if is_length(column)]
    rows.count("length_heuristics", len(lengths), bar=1, text=", ".join(lengths) or None)
    if tables.manifest is not None:
        for column in heuristics:
            _column(rows, tables, column)
    return rows.build()


def _column(rows: EvidenceRows, tables: Brought, column: str) -> None:
    import pandas as pd

    assert tables.manifest is not None
    frame, name = tables.manifest.frame, heuristic_name(column)
    if column not in frame:
        rows.count("heuristic_distinct_values", 0, scope=name, bar=FEWEST_DISTINCT_VALUES, note="no such column")
        return
    if tables.labels is not None:
        frame = frame[frame["item_id"].isin(set(tables.labels.frame["item_id"]))]
    values = pd.to_numeric(frame[column], errors="coerce")
    if not len(values):
        return
    rows.count(
        "heuristic_distinct_values", values.dropna().nunique(), scope=name, bar=FEWEST_DISTINCT_VALUES, n=len(values)
    )
    if tables.labels is not None or values.isna().all():
        missing = float(values.isna().mean())
        rows.count("heuristic_missing_share", missing, scope=name, bar=MOST_MISSING, n=len(values))


def _readiness(tables: Brought, study: Study) -> Evidence | None:
    ready = tables.ready
    if ready is None or ready.labeled == 0:
        return None
    rows = EvidenceRows("scorer_agreement")
    rows.count("scored_share", ready.scored_share, bar=study.agreement.min_scored, n=ready.labeled)
    rows.count("decided_pairs", ready.decided, bar=study.agreement.min_pairs, n=ready.labeled)
    return rows.build()


def _groups(tables: Brought) -> tuple[Reason, ...]:
    """Fewer groups than a clustered interval needs, countable as soon as a set is reserved."""
    if tables.held is None:
        return ()
    grouped = [item.group for item in tables.held.items if item.group is not None]
    if not grouped or len(set(grouped)) >= MIN_GROUPS:
        return ()
    sentence = f"the set has {len(set(grouped))} groups; intervals over groups need {MIN_GROUPS}"
    return (Reason("enough_groups", "interval", sentence, "reserve items of more groups", ""),)


def by_rung(reasons: tuple[Reason, ...]) -> Mapping[str, tuple[Reason, ...]]:
    """The reasons of each rung that has any."""
    found: dict[str, list[Reason]] = {}
    for reason in reasons:
        found.setdefault(reason.rung, []).append(reason)
    return {rung: tuple(of_rung) for rung, of_rung in found.items()}
