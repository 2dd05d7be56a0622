"""Building a record: a pure function from evidence to content, and its address."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from calib_pipeline.digests import digest_json
from calib_pipeline.evidence.annotations import told_elsewhere
from calib_pipeline.evidence.evidence import EVIDENCE_COLUMNS, fact, figure
from calib_pipeline.evidence.scorer_agreement import LABELED, LEAVES_OUT
from calib_pipeline.records.claims import diagnostic_claim, headline_words, measured_claim
from calib_pipeline.studies.digests import plan_parts

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.chain import Declared
    from calib_pipeline.ledger import Sealing, Uses
    from calib_pipeline.studies.study import Study

FORMAT = 1
OUTSIDE_THE_ADDRESS = ("record_id", "software", "published_at")
"""What stands in a record's file and does not enter its address."""

REQUIRED = (
    "population", "sampling", "reference", "annotators", "holdout", "rubric", "scorer", "plan", "statistics",
    "interval", "confusion", "error_rates", "refusals", "youden_j", "prevalence", "comparators", "differences",
    "ceiling", "decision", "gates", "not_compared", "seeds", "inputs", "tables", "declaration", "evidence", "claim",
)  # fmt: skip
"""The fields without which a record is not checkable."""


@dataclass(frozen=True)
class Sources:
    """Where a record's inputs came from: the digests of the files that people brought, and where they stood."""

    manifest: str
    labels: str
    scores: str
    paths: Mapping[str, str]
    tuned_on: str | None = None
    function: str | None = None


def build_record(
    declared: Declared,
    evidence: Mapping[str, pd.DataFrame],
    sources: Sources,
    *,
    kind: str,
    state: str,
    why: str,
    uses: Uses | None,
    sealing: Sealing | None,
) -> dict[str, Any]:
    """The content of a record, without its address, software and time.

    Parameters
    ----------
    evidence
        The rows of the measuring rungs by asset; a diagnostic may lack the last.
    kind
        ``measurement`` or ``diagnostic``.
    state
        What the set is for the configuration.
    why
        For a diagnostic, why it can be no more.
    uses
        What the set had been used for before the opening; None for a record of a version that did not state it.
    sealing
        How its labels were stored then; None as for ``uses``.
    """
    study, manifest = declared.study, declared.manifest
    reservation, labels = evidence["holdout_reservation"], evidence["annotations"]
    baselines = evidence["baseline_comparators"]
    agreement = evidence["scorer_agreement"]
    shown = {asset: compact(rows) for asset, rows in evidence.items()}
    of_scorer, of_people, of_others = (
        shown[asset] for asset in ("scorer_agreement", "human_ceiling", "baseline_comparators")
    )
    headline = _only(of_scorer, "agreement", scope=LABELED, statistic=study.headline)
    words = headline_words(
        study.headline, headline.get("value"), headline.get("low"), headline.get("high"), study.bootstrap.level
    )
    labeled = figure(agreement, "labeled_items")
    held_out_by = fact(labels, "held_out_by") or "nothing"
    claim = (
        measured_claim(study, manifest.name, labeled, manifest.size, words, held_out_by)
        if kind == "measurement"
        else diagnostic_claim(study, manifest.name, words, state, why)
    )
    return {
        "format": FORMAT,
        "kind": kind,
        "study": study.name,
        "dimension": study.dimension,
        "claim": claim,
        "why": why,
        "headline": headline,
        "population": {
            "name": manifest.name,
            "digest": manifest.digest,
            "size": manifest.size,
            "strata": declared.strata,
            "labeled_items": labeled,
        },
        "sampling": {
            "method": fact(reservation, "sampling"),
            "seed": study.holdout.seed,
            "reserved": figure(reservation, "reserved_items"),
            "strata": _rows(shown["holdout_reservation"], "stratum_reserved"),
            "weights": "population items of the stratum over its labeled items",
        },
        "reference": {
            "kind": study.reference.kind,
            "stands_for": study.reference.stands_for,
            "consensus": study.reference.consensus,
            "undecided_share": figure(agreement, "undecided_share"),
            "blinding": fact(labels, "blinding"),
            "labels_digest": sources.labels,
        },
        "annotators": {
            "ids": fact(labels, "annotator_ids"),
            "count": figure(labels, "annotators"),
            "repeat_rate": _only(of_people, "repeat_rate"),
            "self_agreement": _only(of_people, "self_agreement"),
        },
        "holdout": {
            "set": declared.holdout_id,
            "generation": figure(reservation, "generation"),
            "state": state,
            "held_out_by": held_out_by,
            "prior_access": study.holdout.prior_access,
            "configurations_registered": figure(agreement, "configurations_registered"),
            "earlier_attempts": figure(agreement, "earlier_attempts"),
            "ledger_head": fact(agreement, "ledger_head"),
            **_other_constructs(reservation, labels),
            **({} if uses is None else {"uses_before": asdict(uses)}),
            **({} if sealing is None else {"sealed": sealing.sealed, "sealing_key": sealing.key_id}),
        },
        "rubric": {"version": study.rubric.version, "digest": fact(reservation, "digest", "rubric")},
        "scorer": {
            "id": study.scorer.id,
            "configuration": declared.configuration_parts,
            "digest": declared.configuration,
        },
        "plan": {"sections": plan_parts(study), "digest": declared.plan},
        "statistics": _rows(of_scorer, "agreement"),
        "statistics_of_strata": _rows(of_scorer, "agreement_of_stratum"),
        "interval": {
            "resamples": "rows of the labeled set, or whole groups, within strata",
            "leaves_out": LEAVES_OUT,
        },
        "confusion": _rows(of_scorer, "confusion"),
        "error_rates": [row for row in _rows(of_scorer, "error_rate") if row["statistic"] != "youden_j"],
        "youden_j": _only(of_scorer, "error_rate", statistic="youden_j"),
        "refusals": [row for name in ("abstained", "failed") for row in _rows(of_scorer, name)],
        "prevalence": _only(of_scorer, "prevalence"),
        "class_shares": _rows(of_scorer, "class_share"),
        "comparators": _rows(of_others, "comparator"),
        "differences": [row for name in ("difference", "difference_beside") for row in _rows(of_scorer, name)],
        "ceiling": [
            row
            for name in (
                "ceiling",
                "ceiling_of_stratum",
                "ceiling_of_pair",
                "human_agreement",
                "human_error_rate",
                "label_noise",
            )
            for row in _rows(of_people, name)
        ],
        "decision": shown.get("threshold_check", []),
        "gates": _only(of_scorer, "gate_level"),
        "not_compared": [
            *_rows(shown["annotations"], "not_compared"),
            *_rows(shown["annotations"], "label_rows"),
            *_rows(of_scorer, "outputs_not_compared"),
        ],
        "seeds": {
            "sampling": study.holdout.seed,
            "bootstrap": study.bootstrap.seed,
            "folds": study.bootstrap.seed,
            "resamples": study.bootstrap.resamples,
            "level": study.bootstrap.level,
        },
        "inputs": {
            "manifest": sources.manifest,
            "labels": sources.labels,
            "scores": sources.scores,
            **({} if sources.tuned_on is None else {"tuned_on": sources.tuned_on}),
            **({} if sources.function is None else {"function": sources.function}),
            "paths": dict(sources.paths),
        },
        "tables": {
            "reserved": fact(reservation, "table", "reserved"),
            "labels": fact(labels, "table", "labels"),
            "comparators": fact(baselines, "table", "comparators"),
            "rows": fact(agreement, "table", "rows"),
        },
        "declaration": {
            "study": _declared_on(manifest.name, study),
            "rubric_text": declared.rubric_text,
        },
        "evidence": shown,
    }


def _other_constructs(reservation: pd.DataFrame, labels: pd.DataFrame) -> dict[str, Any]:
    """What is declared of other constructs: why, how many items they had spent, and how far the labels are theirs."""
    declared = reservation[reservation["name"] == "from_other_construct"]
    if declared.empty:
        return {}
    constructs = [
        {"dimension": one["scope"], "because": one["text"], "items_spent_for_it": int(one["value"])}
        for one in declared.to_dict("records")
    ]
    return {"other_constructs": constructs, "labels_elsewhere": told_elsewhere(labels)}


def _declared_on(population: str, study: Study) -> dict[str, Any]:
    """The study as declared on the record's own population: where else it is measured is nothing to this record."""
    data = study.data.model_copy(update={"populations": (population,)})
    return study.model_copy(update={"data": data}).model_dump(mode="json", by_alias=True, exclude_none=True)


def address(content: Mapping[str, Any]) -> str:
    """The record's id: the digest of its content without software versions and times."""
    return digest_json({key: value for key, value in content.items() if key not in OUTSIDE_THE_ADDRESS})


def missing_fields(content: Mapping[str, Any]) -> list[str]:
    """Required fields that are absent or empty."""
    may_be_empty = {"not_compared", "differences"}
    return [
        field
        for field in REQUIRED
        if content.get(field) is None or (content[field] in ([], {}, "") and field not in may_be_empty)
    ]


def figures_without_interval(content: Mapping[str, Any]) -> list[str]:
    """Published statistics that have neither an interval nor a note."""
    rows = [*content["statistics"], *content["error_rates"], *content["ceiling"], *content["comparators"]]
    return [
        f"{row.get('statistic')} ({row.get('scope')})"
        for row in rows
        if (row.get("low") is None or row.get("high") is None) and not row.get("note")
    ]


def compact(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Evidence rows as JSON objects without their empty columns."""
    columns = [rows[name].tolist() for name in EVIDENCE_COLUMNS]
    return [
        {name: value for name, value in zip(EVIDENCE_COLUMNS, row, strict=True) if not _is_empty(value)}
        for row in zip(*columns, strict=True)
    ]


def _is_empty(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _rows(shown: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [row for row in shown if row["name"] == name]


def _only(shown: list[dict[str, Any]], name: str, **where: str) -> dict[str, Any]:
    for row in _rows(shown, name):
        if all(row.get(key) == value for key, value in where.items()):
            return row
    return {}
