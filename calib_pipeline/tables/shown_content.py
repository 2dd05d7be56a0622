"""Whether a row tells of the content that the manifest has for its item, where it says what was shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calib_pipeline.tables.columns import column
from calib_pipeline.tables.reading import RawTable

CONTENT = "content_digest"


class ShownContent(NamedTuple):
    """Which rows of a table, (n,), tell of other content than the manifest's, and what the manifest has."""

    differs: npt.NDArray[np.bool_]
    expected: Sequence[str | None]
    given: Sequence[str | None]

    def detail(self, position: int) -> str:
        """A sentence for a row that differs."""
        given, expected = self.given[position] or "", self.expected[position] or ""
        return f"shown content {given.strip()[:12]}; the manifest has {expected[:12]} for this item"


def shown_content(table: RawTable, contents: Mapping[str, str | None] | None) -> ShownContent:
    """Compare the column ``content_digest`` of labels or scores with the items' own; empty cells say nothing.

    Parameters
    ----------
    contents
        The content digest of each item of the population, None where the manifest has none.
    """
    given = column(table, CONTENT).tolist()
    known = contents or {}
    expected = [known.get(item) if item is not None else None for item in table.frame["item_id"].tolist()]
    differs = [
        bool(shown and shown.strip() and own and shown.strip().lower() != own.strip().lower())
        for shown, own in zip(given, expected, strict=True)
    ]
    return ShownContent(np.array(differs, dtype=np.bool_), expected, given)
