"""Which items are held out, and what the ledger knows of them: the facts, none of which changes once it is true."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from calib_pipeline.evidence.evidence import Evidence, EvidenceRows

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.evidence.twins import Twins
    from calib_pipeline.ledger import Allowance, Sealing, Uses
    from calib_pipeline.studies.study import Study
    from calib_pipeline.tables.tuning import TuningItems

MOST_NAMED = 5
TWINS_OUTSIDE = "twins_outside"
"""The row that counts reserved items with a twin among the rest; there is none where there are no such items."""
SAMPLING = "bottom-k by BLAKE2b of the unit's id keyed with the seed, within strata, in whole groups"


@dataclass(frozen=True)
class HoldoutFacts:
    """What the ledger says of a set for one configuration and plan.

    ``registered`` is whether both were registered before the set was first opened or read, ``why_not`` the event that
    says otherwise, and ``spent`` the number of its items that are spent for the configuration. ``allowance`` is what
    the declared limits leave of it. ``uses`` is what it had been used for at the opening and ``sealing`` how its labels
    were stored then, None before there is one. ``from_other_constructs`` counts, by dimension declared another
    construct, the items that were spent for it as the set was drawn, and ``left_out_for`` those that a draw which came
    short left out for another dimension alone. ``twins`` are those of reserved items among the rest, None where nobody
    looked.
    """

    holdout_id: str
    generation: int
    registered: bool
    why_not: str | None
    spent: int
    allowance: Allowance | None = None
    uses: Uses | None = None
    sealing: Sealing | None = None
    from_other_constructs: Mapping[str, int] = field(default_factory=dict)
    left_out_for: Mapping[str, int] = field(default_factory=dict)
    twins: Twins | None = None


def holdout_reservation(
    study: Study,
    strata: Mapping[str, int],
    drawn: pd.DataFrame,
    facts: HoldoutFacts,
    tuned_on: TuningItems,
    digests: Mapping[str, str | None],
) -> Evidence:
    """Evidence that a set was reserved.

    Parameters
    ----------
    strata
        Items of the population in each stratum.
    drawn
        The reserved items, as `sampling.draw_holdout` gives them.
    facts
        What the ledger says.
    tuned_on
        What the scorer is said to be shaped by.
    digests
        Digests of population, rubric, configuration, plan and set.
    """
    rows = EvidenceRows("holdout_reservation")
    stamp(rows, digests)
    rows.fact("holdout_set", facts.holdout_id)
    rows.count("generation", facts.generation)
    rows.fact("role", study.holdout.role)
    rows.fact("reference_kind", study.reference.kind)
    rows.fact("reference_stands_for", study.reference.stands_for)
    loose = study.loose_bars()
    rows.count("loose_bars", len(loose), bar=0, text="; ".join(loose) or None)
    rows.fact(
        "registered_before_opening",
        "yes" if facts.registered else "no",
        scope=facts.holdout_id,
        note=facts.why_not,
    )
    rows.count("spent_items", facts.spent, bar=0)
    if facts.allowance is not None:
        _add_limits(rows, facts.holdout_id, facts.allowance)
    shaping = tuned_on.among(drawn)
    rows.count("tuning_items", len(shaping), bar=0, n=len(drawn), text=", ".join(shaping[:MOST_NAMED]) or None)
    if facts.twins is not None and facts.twins.reserved:
        examples = ", ".join(facts.twins.reserved[:MOST_NAMED])
        note = f"twins of these that are not reserved: {facts.twins.outside}"
        rows.count(TWINS_OUTSIDE, len(facts.twins.reserved), n=len(drawn), text=examples, note=note)
    rows.fact("sampling", SAMPLING)
    rows.count("sampling_seed", study.holdout.seed)
    rows.fact("prior_access", study.holdout.prior_access)
    for dimension, reason in sorted((study.holdout.other_constructs or {}).items()):
        shared = facts.from_other_constructs.get(dimension, 0)
        rows.count("from_other_construct", shared, scope=dimension, n=len(drawn), text=reason)

    reserved = drawn.groupby("stratum").size().to_dict()
    named = drawn[drawn["named"]].groupby("stratum").size().to_dict()
    empty = sorted(set(strata) - set(reserved))
    rows.count("population_items", sum(strata.values()))
    rows.count("strata_drawn", len(reserved), bar=len(strata), text=", ".join(empty) or None)
    rows.count("reserved_items", len(drawn), bar=study.holdout.size, n=sum(strata.values()))
    rows.count("named_items", int(drawn["named"].sum()), n=len(drawn))
    for dimension, count in sorted(facts.left_out_for.items()):
        rows.count("spent_for_another_dimension", count, scope=dimension, bar=0)
    if drawn["group"].notna().any():
        rows.count("reserved_groups", drawn["group"].nunique())
    for stratum, size in sorted(strata.items()):
        rows.count("stratum_items", size, scope=stratum)
        rows.count("stratum_reserved", reserved.get(stratum, 0), scope=stratum, n=size)
        rows.count("stratum_named", named.get(stratum, 0), scope=stratum, n=reserved.get(stratum, 0))
    rows.table("reserved", drawn)
    return rows.build()


def _add_limits(rows: EvidenceRows, holdout_id: str, allowance: Allowance) -> None:
    """Whether the set is within its limits. What counts up while it is (measurements, days) is no evidence."""
    limits, measured = allowance.limits, allowance.measured
    if limits.max_measurements is not None:
        said = "yes" if measured is None else "no"
        rows.count("within_max_measurements", measured, scope=holdout_id, bar=limits.max_measurements, text=said)
    if limits.max_age_days is not None:
        said = "yes" if allowance.in_time else "no"
        rows.count("within_max_age", None, scope=holdout_id, bar=limits.max_age_days, text=said, note=allowance.dates)


def stamp(rows: EvidenceRows, digests: Mapping[str, str | None]) -> None:
    """The digests of everything that this evidence rests on, so that a load can tell whether it still stands."""
    for part, digest in digests.items():
        rows.fact("digest", digest, scope=part)
