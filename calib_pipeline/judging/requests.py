"""What a judge is shown of an item: the template of its configuration, filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from calib_pipeline.digests import digest_json
from calib_pipeline.errors import InputError

RUBRIC = "rubric"
NEVER_SHOWN = frozenset({"item_id", "stratum", "group", "content_digest", "text_digest"})
"""Columns of a manifest that tell of the sample and not of the item."""
_PLACE = re.compile(r"\{([^\W\d]\w*)\}")


@dataclass(frozen=True)
class Request:
    """One item as a judge is shown it.

    Attributes
    ----------
    item_id
        The item; the judge does not see it.
    shown
        What the judge sees: for an endpoint the messages, for a function the fields of the item and the rubric.
    exchanged
        Whether two answers stand in each other's place.
    """

    item_id: str
    shown: Any
    exchanged: bool = False

    @cached_property
    def digest(self) -> str:
        """The digest of what is shown: two items that look alike to the judge have one answer."""
        return digest_json(self.shown)


def messages_of(config: Mapping[str, Any], rubric: str, fields: Mapping[str, str | None]) -> list[dict[str, str]]:
    """The messages of an item: ``config["system"]`` where it is declared, and ``config["prompt"]``.

    ``{column}`` is replaced by the item's cell (nothing where it is empty) and ``{rubric}`` by the rubric's text, each
    once: braces within a text stay as they are.
    """
    known = {**fields, RUBRIC: rubric}

    def filled(template: str) -> str:
        return _PLACE.sub(lambda place: known.get(place[1], place[0]) or "", template)

    roles = (("system", config.get("system")), ("user", config["prompt"]))
    return [{"role": role, "content": filled(template)} for role, template in roles if template]


def selected(fields: Mapping[str, str | None], selection: Sequence[str] | None) -> dict[str, str | None]:
    """The cells of an item that a judge may see: those that ``evidence_selection`` names, by default all."""
    allowed = [name for name in fields if name not in NEVER_SHOWN]
    return {name: fields[name] for name in (allowed if selection is None else selection)}


def refuse_unknown_places(config: Mapping[str, Any], columns: Sequence[str], where: str) -> None:
    """A template must show something of the item, and only what the manifest has.

    Raises
    ------
    InputError
        When a placeholder names no column that may be shown, or no placeholder shows the item.
    """
    selection = config.get("evidence_selection")
    refuse_absent_columns(selection or (), columns, None, where)
    shown = [name for name in columns if name not in NEVER_SHOWN]
    allowed = shown if selection is None else list(selection)
    places = _PLACE.findall(f"{config.get('system') or ''}\n{config['prompt']}")
    for name in places:
        if name != RUBRIC and name not in allowed:
            raise InputError(
                f"the prompt has the placeholder {{{name}}}, and the judge is shown no column of that name",
                where=where,
                expected=f"{{rubric}} or one of {', '.join(f'{{{one}}}' for one in allowed) or 'none'}",
                todo="name a column of the manifest, and in evidence_selection where that is declared",
            )
    if not set(places) - {RUBRIC}:
        raise InputError(
            "the prompt shows nothing of the item",
            where=where,
            expected=f"a placeholder such as {{{allowed[0] if allowed else 'text'}}}",
            todo="write scorer.config.prompt with the columns of the item that the judge is to see",
        )
    if RUBRIC not in places:
        raise InputError(
            "the prompt does not show the rubric by which people label",
            where=where,
            expected="the placeholder {rubric} in scorer.config.prompt or scorer.config.system",
        )


def refuse_absent_columns(
    names: Sequence[str], columns: Sequence[str], selection: Sequence[str] | None, where: str
) -> None:
    """What the configuration names must be shown of an item.

    Raises
    ------
    InputError
        When a name is no column of the manifest that may be shown, or that is selected.
    """
    shown = [name for name in columns if name not in NEVER_SHOWN and (selection is None or name in selection)]
    for name in names:
        if name not in shown:
            raise InputError(
                f"the scorer's configuration names the column {name!r}, of which the judge is shown nothing",
                where=where,
                expected=f"one of {', '.join(shown) or 'none: the manifest has no column that may be shown'}",
                todo="add the column to the manifest, or take the name out",
            )
