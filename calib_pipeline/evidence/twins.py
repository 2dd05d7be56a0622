"""Twins: items of one content, exactly or but for case, spaces and punctuation, on both sides of the reservation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("content_digest", "text_digest")


@dataclass(frozen=True)
class Twins:
    """Reserved items that have a twin outside, all in order, and how many items outside are such twins."""

    reserved: tuple[str, ...]
    outside: int


def twins_outside(manifest: pd.DataFrame, reserved: set[str]) -> Twins:
    """The twins of reserved items among the rest of a population, which anyone may see.

    Parameters
    ----------
    manifest
        ``item_id`` and ``content_digest`` of every item, and ``text_digest`` where texts are known.
    """
    items = manifest["item_id"].tolist()
    columns = [(kind, manifest[kind].tolist()) for kind in KINDS if kind in manifest.columns]
    keys = [{(kind, cells[row]) for kind, cells in columns if isinstance(cells[row], str)} for row in range(len(items))]
    inside = {key for item, own in zip(items, keys, strict=True) if item in reserved for key in own}
    outside = [own & inside for item, own in zip(items, keys, strict=True) if item not in reserved]
    shared = {key for own in outside for key in own}
    known = [item for item, own in zip(items, keys, strict=True) if item in reserved and own & shared]
    return Twins(tuple(sorted(known)), sum(bool(own) for own in outside))
