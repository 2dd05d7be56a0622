"""Whether items that told of one dimension are fresh for another: a declared reason, and two rubrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from calib_pipeline.ledger.events import Event

KEY = "holdout.other_constructs"


@dataclass(frozen=True)
class Construct:
    """What a study measures, as far as a ledger can compare it.

    Parameters
    ----------
    rubric_digest
        Digest of the rubric's normalised text, so that spaces, case and punctuation make no other rubric; None where it
        is not known.
    others
        Other dimensions that the study declares to be other constructs, each with the reason.
    """

    rubric_digest: str | None = None
    others: Mapping[str, str] = field(default_factory=dict, hash=False)


NOT_SAID = Construct()
"""Of a study that says nothing."""


def why_same(construct: Construct, dimension: str, registered: Iterable[Event]) -> str | None:
    """Why what was seen for another dimension was seen for this construct too, or None where it is another one.

    Parameters
    ----------
    dimension
        The other dimension.
    registered
        The registrations for it, whose rubrics must differ from this one.
    """
    if dimension not in construct.others:
        return f"{KEY} does not say why {dimension} is another construct"
    known = list(registered)
    same = [event for event in known if event.details.get("rubric_digest") == construct.rubric_digest]
    if same and construct.rubric_digest is not None:
        return (
            f"the rubric is that of {dimension}, as study {same[0].study} registered it in {same[0].cited} (case, "
            "spaces and punctuation aside), so that the construct is the same"
        )
    if construct.rubric_digest is None or any("rubric_digest" not in event.details for event in known):
        return f"the ledger does not know the rubric of {dimension}, so that it cannot tell the constructs apart"
    return None


def registered_construct(registrations: Iterable[Event], config_digest: str, plan_digest: str) -> Construct:
    """What a configuration and plan were registered with on a set: their digests stand for rubric and reason."""
    for event in reversed(list(registrations)):
        if event.config_digest == config_digest and event.details.get("plan_digest") == plan_digest:
            return Construct(event.details.get("rubric_digest"), event.details.get("other_constructs") or {})
    return NOT_SAID
