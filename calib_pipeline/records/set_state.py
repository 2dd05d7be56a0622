"""Whether a record's set still is for its configuration what the record says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calib_pipeline.ledger import Ledger


def state_problem(ledger: Ledger, record: Mapping[str, Any]) -> str | None:
    """Why the set no longer is what the record says, which a later declaration can bring about."""
    if record["kind"] != "measurement":
        return None
    state = ledger.state(
        record["holdout"]["set"],
        study=record["study"],
        config_digest=record["scorer"]["digest"],
        plan_digest=record["plan"]["digest"],
    )
    if state.state == record["holdout"]["state"]:
        return None
    return f"the set was {record['holdout']['state']} for this configuration, and is {state.state} now: {state.why}"
