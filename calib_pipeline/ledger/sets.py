"""A held-out set: what is drawn, what is frozen before anyone looks, and what the ledger remembers of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from calib_pipeline.digests import digest_json
from calib_pipeline.ledger.constructs import NOT_SAID, Construct

Role = Literal["holdout", "fitted"]
TEXTS = "text_digests"
"""In the details of a ``reserved`` event: digests of normalised texts by item, where they are known."""


@dataclass(frozen=True)
class Registration:
    """A study's frozen configuration and plan.

    Parameters
    ----------
    study
        Name of the study.
    config_digest, plan_digest
        Digests of the scorer's configuration and of every other declaration.
    scores_digest
        For a table of scores, the digest of its rows for the set's items, from the moment they are there.
    for_status
        Whether the study can earn a status; those that can are what the gates' level is divided by.
    role
        ``holdout``, or ``fitted`` where the study declares that the set shaped its scorer.
    construct
        What it measures: its rubric, and the dimensions that it declares to be other constructs.
    details
        Anything more to remember, as JSON.
    """

    study: str
    config_digest: str
    plan_digest: str
    scores_digest: str | None = None
    for_status: bool = True
    role: Role = "holdout"
    construct: Construct = NOT_SAID
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ReservedItem:
    """One item of a set: ``rank`` orders the draw within its stratum, ``doubly`` names it for several annotators.

    ``text_digest`` is that of its normalised text: an item of the same is a twin, and what happens to one happened to
    the other.
    """

    item_id: str
    content_digest: str | None
    stratum: str
    group: str | None
    rank: int
    doubly: bool
    text_digest: str | None = None


@dataclass(frozen=True)
class SetDraw:
    """A draw that is to become a held-out set; ``generation`` counts the sets of one dimension on one population."""

    holdout_id: str
    dimension: str
    population: str
    population_digest: str
    generation: int
    seed: int
    items: tuple[ReservedItem, ...]
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SetHeader:
    """What the ledger holds of a set, without its items."""

    holdout_id: str
    dimension: str
    population: str
    population_digest: str
    generation: int
    seed: int
    size: int
    reserved_at: str
    reserved_seq: int
    details: Mapping[str, Any]


@dataclass(frozen=True)
class HoldoutSet(SetHeader):
    """A set with its items, by stratum and rank."""

    items: tuple[ReservedItem, ...]


@dataclass(frozen=True)
class SpentItems:
    """Items that may not be drawn again: their ids and, where content or text are known, their digests."""

    ids: frozenset[str]
    content: frozenset[str]
    texts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, items: Iterable[ReservedItem]) -> SpentItems:
        """These items, and whatever is a twin of theirs."""
        held = list(items)
        return cls(
            frozenset(item.item_id for item in held),
            frozenset(item.content_digest for item in held if item.content_digest is not None),
            frozenset(item.text_digest for item in held if item.text_digest is not None),
        )

    def holds(self, item_id: str, content_digest: str | None, text_digest: str | None = None) -> bool:
        """Whether an item is spent, under its own name, under another, or as a twin."""
        return (
            item_id in self.ids
            or (content_digest is not None and content_digest in self.content)
            or (text_digest is not None and text_digest in self.texts)
        )


def digest_items(items: Iterable[ReservedItem]) -> str:
    """Digest of a set's items, whatever their order; digests of texts stand in the event of its reservation."""
    rows = [
        [item.item_id, item.content_digest, item.stratum, item.group, int(item.rank), bool(item.doubly)]
        for item in items
    ]
    return digest_json(sorted(rows, key=lambda row: str(row[0])))
