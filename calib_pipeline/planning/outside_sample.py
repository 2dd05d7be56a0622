"""A sample outside of a study: drawn as a reservation is, without the held-out items, and documented."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calib_pipeline.errors import InputError
from calib_pipeline.ledger import SpentItems
from calib_pipeline.sampling import draw_holdout

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.ledger import Ledger
    from calib_pipeline.tables.items import Manifest

METHOD = (
    "bottom-k by keyed hash (64 bits of BLAKE2b, keyed with the seed) within strata, in whole groups: the draw of a "
    "reservation"
)
IDENTITY = ("item_id", "content_digest", "text_digest")


@dataclass(frozen=True)
class Request:
    """What is asked of a draw; ``doubly`` items are to be labeled by several people."""

    size: int
    seed: int
    min_per_stratum: int
    doubly: int


@dataclass(frozen=True)
class OutsideSample:
    """A drawn sample.

    Attributes
    ----------
    items
        ``item_id, stratum, weight, doubly``, by stratum and rank. The weight is N_h/n_h: items of the population that
        were to be drawn from, held-out ones included since they were drawn at random too, over items drawn.
    strata
        By stratum ``population`` (items that were to be drawn from), ``held_out`` (of these), ``drawn`` and ``weight``
        (None where none is drawn).
    """

    items: pd.DataFrame
    strata: Mapping[str, Mapping[str, Any]]


def draw_outside(frame: pd.DataFrame, request: Request, held_out: Collection[str]) -> OutsideSample:
    """Draw from the items of a manifest that are not held out.

    Raises
    ------
    InputError
        When no item is left.
    """
    drawn = draw_holdout(
        frame,
        size=request.size,
        seed=request.seed,
        min_per_stratum=request.min_per_stratum,
        named_items=request.doubly,
        spent=held_out,
    )
    if drawn.empty:
        raise InputError(
            f"no item is left to draw: {len(held_out):,} of {len(frame):,} are held out",
            expected="items that no set of this project's ledger holds",
            todo="add items to the population and to its manifest, or filter less",
        )
    sizes, counts = Counter(frame["stratum"].tolist()), Counter(drawn["stratum"].tolist())
    out = Counter(frame["stratum"][frame["item_id"].isin(set(held_out))].tolist())
    strata = {
        name: {
            "population": sizes[name],
            "held_out": out[name],
            "drawn": counts[name],
            "weight": sizes[name] / counts[name] if counts[name] else None,
        }
        for name in sorted(sizes)
    }
    items = drawn[["item_id", "stratum"]].assign(
        weight=[sizes[name] / counts[name] for name in drawn["stratum"]],
        doubly=["true" if named and request.doubly else "false" for named in drawn["named"]],
    )
    return OutsideSample(items, strata)


def held_out_items(frame: pd.DataFrame, ledger: Ledger | None) -> dict[str, set[str]]:
    """The items of a manifest that each set of the ledger holds, under their name, under another or as a twin."""
    if ledger is None:
        return {}
    known = [frame[name].tolist() for name in IDENTITY if name in frame.columns]
    rows = list(zip(*known, strict=True))
    found = {}
    for header in ledger.sets():
        held = SpentItems.of(ledger.items(header.holdout_id))
        inside = {row[0] for row in rows if held.holds(*row)}
        if inside:
            found[header.holdout_id] = inside
    return found


def refuse_lacking_strata(declared: Sequence[str], frame: pd.DataFrame, where: str) -> None:
    """Refuse a population without a stratum that production has.

    Raises
    ------
    InputError
        Naming the strata, and those that there are.
    """
    present = sorted(set(frame["stratum"].tolist()))
    lacking = [name for name in declared if name not in present]
    if lacking:
        raise InputError(
            f"the population has no item of the stratum {' and '.join(map(repr, lacking))}, so a sample says nothing "
            "of it",
            where=where,
            expected=f"items of every declared stratum; there are {', '.join(present)}",
            todo="bring a manifest of all that the scorer sees in production",
        )


def document_of(
    manifest: Manifest, sample: OutsideSample, request: Request, held_out: Mapping[str, Collection[str]]
) -> dict[str, Any]:
    """What must be known of a sample to draw it again, and to know what it is one of."""
    left_out = set().union(*held_out.values()) if held_out else set()
    return {
        "population": manifest.name,
        "population_digest": manifest.digest,
        "population_items": manifest.size,
        "items_file_digest": manifest.file_digest,
        "method": METHOD,
        "seed": request.seed,
        "size_asked": request.size,
        "min_per_stratum": request.min_per_stratum,
        "doubly_asked": request.doubly,
        "items": len(sample.items),
        "doubly": int((sample.items["doubly"] == "true").sum()),
        "strata": {name: dict(row) for name, row in sample.strata.items()},
        "held_out_left_out": {
            "items": len(left_out),
            "by_set": {name: len(items) for name, items in sorted(held_out.items())},
        },
    }
