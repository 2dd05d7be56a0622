"""A record judged before it is written: are its fields there, and does every figure recompute?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from calib_pipeline.evidence.evidence import Evidence, EvidenceRows
from calib_pipeline.evidence.holdout_reservation import stamp
from calib_pipeline.evidence.scorer_agreement import FEWEST_USABLE_PAIRS
from calib_pipeline.records.record import (
    Sources,
    address,
    build_record,
    compact,
    figures_without_interval,
    missing_fields,
)

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.chain import Chain, Declared
    from calib_pipeline.studies.study import Study

MOST_NAMED = 5


@dataclass(frozen=True)
class Made:
    """A record's evidence, its content and address; the last two are None where there is nothing to record."""

    evidence: Evidence
    content: dict[str, Any] | None
    record_id: str | None
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)


def publication_evidence(
    declared: Declared,
    above: Mapping[str, pd.DataFrame],
    sources: Sources,
    chain: Chain,
    *,
    state: str,
    digests: Mapping[str, str | None],
) -> Made:
    """Evidence of a record of the rungs above, which it recomputes from the tables that people brought.

    Parameters
    ----------
    above
        The stored rows of the measuring rungs by asset.
    chain
        The same rungs, to be computed again.
    state
        What the set is for the configuration.
    """
    facts = chain.given.facts
    content = build_record(
        declared, above, sources, kind="measurement", state=state, why="", uses=facts.uses, sealing=facts.sealing
    )
    differ = [
        difference
        for again in chain.rungs()
        for difference in differences(again.asset, compact(above[again.asset]), compact(again.rows))
    ]
    return _judged("published_record", content, differ, digests)


def diagnostic_evidence(declared: Declared, sources: Sources, chain: Chain, *, state: str, why: str) -> Made:
    """Evidence of a diagnostic record: every rung's figures, whether or not its gate holds."""
    made = list(chain.rungs())
    tables = {name: frame for evidence in made for name, frame in evidence.tables.items()}
    agreement = chain.evidence["scorer_agreement"]
    if "rows" not in agreement.tables:
        rows = EvidenceRows("diagnostic_record")
        stamp(rows, declared.digests("diagnostic_record"))
        rows.fact("record_id", None, note="nothing to record: no item has both a label and a decided output")
        return Made(rows.build(), None, None)
    evidence = {asset: of_rung.rows for asset, of_rung in chain.evidence.items()}
    facts = chain.given.facts
    content = build_record(
        declared, evidence, sources, kind="diagnostic", state=state, why=why, uses=facts.uses, sealing=facts.sealing
    )
    above = {f"above: {asset}": of_rung.digest for asset, of_rung in chain.evidence.items()}
    judged = _judged("diagnostic_record", content, [], declared.digests("diagnostic_record") | above)
    return Made(judged.evidence, judged.content, judged.record_id, tables)


def _judged(asset: str, content: dict[str, Any], differ: list[str], digests: Mapping[str, str | None]) -> Made:
    record_id = address(content)
    missing, without = missing_fields(content), figures_without_interval(content)
    rows = EvidenceRows(asset)
    stamp(rows, digests)
    rows.fact("record_id", record_id)
    rows.fact("claim", content["claim"])
    rows.fact("holdout_state", content["holdout"]["state"])
    rows.fact("ledger_head", content["holdout"]["ledger_head"])
    rows.count("missing_fields", len(missing), bar=0, text=_named(missing))
    rows.count("figures_without_interval", len(without), bar=0, text=_named(without))
    rows.count("figures_that_differ", len(differ), bar=0, text=_named(differ))
    return Made(rows.build(), content, record_id)


def differences(asset: str, stored: list[dict[str, Any]], again: list[dict[str, Any]]) -> list[str]:
    """Where two evidence tables differ, row by row, each difference in words."""
    if len(stored) != len(again):
        return [f"{asset} has {len(again)} rows, not {len(stored)}"]
    return [
        f"{asset}: {row.get('name')} {row.get('statistic') or ''} ({row.get('scope') or 'all'})"
        for row, other in zip(stored, again, strict=True)
        if row != other
    ]


def _named(names: list[str]) -> str | None:
    if not names:
        return None
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return "; ".join(names[:MOST_NAMED]) + more


def why_diagnostic(study: Study, decided: int) -> str:
    """Why the record of a study with so many decided outputs is a diagnostic one."""
    if study.holdout.role == "fitted":
        return "its set shaped the scorer"
    if study.reference.kind == "proxy":
        return f"its reference is a proxy that stands for {study.reference.stands_for}"
    loose = study.loose_bars()
    if loose:
        return "; ".join(loose)
    return f"{decided} usable pairs are fewer than {FEWEST_USABLE_PAIRS}"
