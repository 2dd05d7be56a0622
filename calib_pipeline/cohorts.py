"""Strata split by what earlier draws could have taken, so that what they left is a random sample of each part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from calib_pipeline.ledger import SpentItems

if TYPE_CHECKING:
    import pandas as pd


def strata_by_cohort(manifest: pd.DataFrame, populations: Mapping[str, SpentItems]) -> list[str]:
    """(N,) the stratum of every item, with the earlier populations that hold it where its items differ in that.

    The unspent items of a population are a random sample of it as long as whatever is spent was drawn from the same
    items. Where it was drawn from others (the population grew, or shares items with another), that is true within each
    part only: among the items that an earlier draw could have taken, and among those that it could not.

    Parameters
    ----------
    manifest
        ``item_id, stratum, group, content_digest``, perhaps ``text_digest``; a group is in a population when one of its
        items is.
    populations
        What each population held from which a spent item was drawn, by a name for people.
    """
    items, strata = manifest["item_id"].tolist(), manifest["stratum"].tolist()
    contents, groups = manifest["content_digest"].tolist(), manifest["group"].tolist()
    texts = manifest["text_digest"].tolist() if "text_digest" in manifest.columns else [None] * len(items)
    grouped = manifest["group"].notna().tolist()
    units = [
        ("group", group) if known else ("item", item) for item, group, known in zip(items, groups, grouped, strict=True)
    ]
    held: dict[tuple[str, str], set[str]] = {unit: set() for unit in units}
    for *known, unit in zip(items, contents, texts, units, strict=True):
        held[unit].update(name for name, population in populations.items() if population.holds(*known))
    cohorts = [", ".join(sorted(held[unit])) for unit in units]
    if len(set(cohorts)) < 2:
        return strata
    return [
        f"{stratum}, in {cohort}" if cohort else f"{stratum}, new"
        for stratum, cohort in zip(strata, cohorts, strict=True)
    ]
