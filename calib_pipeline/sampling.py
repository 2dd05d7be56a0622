"""The reservation's random sample: bottom-k by keyed hash, within strata, in whole groups."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

SHARE_OF_NAMED = 0.9
"""The share of the named items that must carry enough annotators before a ceiling is read."""


def keyed_hash(seed: int, identifier: str) -> int:
    """The rank key of an identifier: 64 bits of BLAKE2b keyed with the seed. Any engine can compute it."""
    digest = hashlib.blake2b(identifier.encode(), key=str(seed).encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "big")


def allocation(sizes: Mapping[str, int], size: int, min_per_stratum: int) -> dict[str, int]:
    """How many items each stratum gives: proportional by largest remainder, raised to the minimum.

    Parameters
    ----------
    sizes
        Items of the population in each stratum.
    size
        Items asked for in all. Raising a small stratum to its minimum adds to it.
    min_per_stratum
        Least number of items a stratum gives, where it has as many.
    """
    total = sum(sizes.values())
    if total == 0:
        return {}
    quotas = {stratum: size * count / total for stratum, count in sizes.items()}
    given = {stratum: math.floor(quota) for stratum, quota in quotas.items()}
    by_remainder = sorted(quotas, key=lambda stratum: (given[stratum] - quotas[stratum], stratum))
    for stratum in by_remainder[: size - sum(given.values())]:
        given[stratum] += 1
    return {stratum: min(max(given[stratum], min_per_stratum), sizes[stratum]) for stratum in sorted(sizes)}


def draw_holdout(
    manifest: pd.DataFrame,
    *,
    size: int,
    seed: int,
    min_per_stratum: int,
    named_items: int,
    spent: Collection[str] = (),
) -> pd.DataFrame:
    """Draw the items to hold out and name those to be labeled twice.

    Within a stratum the units with the smallest keyed hash are taken until the stratum's share is reached; the unit is
    the group where there is one, so that no conversation is cut. Hash ranks are exchangeable, so the next units after
    a spent set are a uniform sample too.

    Parameters
    ----------
    manifest
        One row an item: ``item_id``, ``stratum``, and optionally ``group`` and ``content_digest``.
    named_items
        Items on which several annotators are needed; enough are named that 90 % of them suffice.
    spent
        Ids that may not be drawn. A group with a spent member is spent whole.

    Returns
    -------
    DataFrame
        ``item_id, stratum, group, content_digest, rank, named``, by stratum and rank.
    """
    import pandas as pd

    frame = pd.DataFrame(
        {
            "item_id": manifest["item_id"],
            "stratum": manifest["stratum"],
            "group": manifest.get("group"),
            "content_digest": manifest.get("content_digest"),
        }
    )
    unit = frame["group"].where(frame["group"].notna(), frame["item_id"])
    wanted = allocation(_sizes(frame), size, min_per_stratum)
    if spent:
        usable = ~unit.isin(set(unit[frame["item_id"].isin(set(spent))]))
        frame, unit = frame[usable], unit[usable]
    hashes = {identifier: keyed_hash(seed, identifier) for identifier in unit.unique()}
    frame = frame.assign(
        unit_hash=unit.map(hashes).astype("uint64"),
        item_hash=[keyed_hash(seed, identifier) for identifier in frame["item_id"]],
    ).sort_values(["stratum", "unit_hash", "item_hash", "item_id"], ignore_index=True)

    before = frame.groupby("stratum").cumcount()
    unit_start = before.groupby([frame["stratum"], frame["unit_hash"]]).transform("min")
    drawn = frame[unit_start < frame["stratum"].map(wanted)].copy()
    drawn["rank"] = drawn.groupby("stratum").cumcount() + 1

    to_name = allocation(_sizes(drawn), math.ceil(named_items / SHARE_OF_NAMED), 1)
    order = drawn.sort_values(["stratum", "item_hash", "item_id"]).groupby("stratum").cumcount()
    drawn["named"] = order.reindex(drawn.index) < drawn["stratum"].map(to_name)
    return drawn[["item_id", "stratum", "group", "content_digest", "rank", "named"]].reset_index(drop=True)


def _sizes(frame: pd.DataFrame) -> dict[str, int]:
    return {str(stratum): int(size) for stratum, size in frame.groupby("stratum").size().items()}
