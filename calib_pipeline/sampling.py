"""The reservation's random sample: bottom-k by keyed hash, within strata, in whole groups."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import groupby, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

SHARE_OF_NAMED = 0.9
"""The share of the named items that must carry enough annotators before a ceiling is read."""


def keyed_hash(seed: int, identifier: str) -> int:
    """The rank key of an identifier: 64 bits of BLAKE2b keyed with the seed. Any engine can compute it."""
    digest = hashlib.blake2b(identifier.encode(), key=str(seed).encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "big")


def allocation(
    sizes: Mapping[str, int], size: int, min_per_stratum: int, available: Mapping[str, int] | None = None
) -> dict[str, int]:
    """How many items each stratum gives: proportional by largest remainder, raised to the minimum.

    What a stratum cannot give since its items are spent, the others give.

    Parameters
    ----------
    sizes
        Items of the population in each stratum.
    size
        Items asked for in all. Raising a small stratum to its minimum adds to it.
    min_per_stratum
        Least number of items a stratum gives, where it has as many.
    available
        Items of each stratum that may be drawn; all of them by default.
    """
    total = sum(sizes.values())
    if total == 0:
        return {}
    quotas = {stratum: size * count / total for stratum, count in sizes.items()}
    given = {stratum: math.floor(quota) for stratum, quota in quotas.items()}
    by_remainder = sorted(quotas, key=lambda stratum: (given[stratum] - quotas[stratum], stratum))
    for stratum in by_remainder[: size - sum(given.values())]:
        given[stratum] += 1
    given = {stratum: min(max(given[stratum], min_per_stratum), sizes[stratum]) for stratum in sorted(sizes)}
    if available is None:
        return given
    given = {stratum: min(count, available.get(stratum, 0)) for stratum, count in given.items()}
    room = {stratum: available.get(stratum, 0) - count for stratum, count in given.items()}
    short = min(size - sum(given.values()), sum(room.values()))
    more = allocation(room, short, 0) if short > 0 else {}
    return {stratum: count + more.get(stratum, 0) for stratum, count in given.items()}


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
        One row an item: ``item_id``, ``stratum``, and optionally ``group``, ``content_digest`` and ``text_digest``.
    named_items
        Items on which several annotators are needed; enough are named that 90 % of them suffice.
    spent
        Ids that may not be drawn. A group with a spent member is spent whole.

    Returns
    -------
    DataFrame
        ``item_id, stratum, group, content_digest, rank, named``, by stratum and rank; ``text_digest`` before ``rank``
        where the manifest has it.
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
    if "text_digest" in manifest.columns:
        frame["text_digest"] = manifest["text_digest"]
    items, strata = frame["item_id"].tolist(), frame["stratum"].tolist()
    grouped = frame["group"].notna().tolist()
    units = [group if known else item for item, group, known in zip(items, frame["group"], grouped, strict=True)]
    spent_items = set(spent)
    spent_units = {unit for item, unit in zip(items, units, strict=True) if item in spent_items}
    rank_key = {identifier: keyed_hash(seed, identifier) for identifier in {*items, *units}}

    usable = [row for row in range(len(items)) if units[row] not in spent_units]
    wanted = allocation(_sizes(strata), size, min_per_stratum, _sizes([strata[row] for row in usable]))
    order = sorted(usable, key=lambda row: (strata[row], rank_key[units[row]], rank_key[items[row]], items[row]))
    drawn: list[int] = []
    ranks: list[int] = []
    of_stratum: dict[str, int] = {}
    for (stratum, _), members in groupby(order, key=lambda row: (strata[row], units[row])):
        before = of_stratum.get(stratum, 0)
        if before < wanted[stratum]:
            unit = list(members)
            drawn += unit
            ranks += range(before + 1, before + 1 + len(unit))
            of_stratum[stratum] = before + len(unit)

    to_name = allocation(_sizes([strata[row] for row in drawn]), math.ceil(named_items / SHARE_OF_NAMED), 1)
    named: set[int] = set()
    by_item = sorted(drawn, key=lambda row: (strata[row], rank_key[items[row]], items[row]))
    for stratum, rows in groupby(by_item, key=lambda row: strata[row]):
        named.update(islice(rows, to_name[stratum]))
    sample = frame.take(drawn).reset_index(drop=True)
    return sample.assign(rank=ranks, named=[row in named for row in drawn])


def _sizes(strata: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(strata).items()))
