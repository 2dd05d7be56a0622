"""A study whose judge is run here, on items with texts."""

from __future__ import annotations

import copy
from typing import Any

from made_up_project import World, world_of

RUBRIC = "An answer resolves the ticket when the customer needs no further help.\n"
PROMPT = "By this rubric:\n{rubric}\nDid this resolve the ticket?\n{text}\nAnswer as JSON."
CONFIG: dict[str, Any] = {"model": "stand-in-1", "prompt": PROMPT, "temperature": 0, "max_tokens": 40}


def judged_world(**scorer: Any) -> World:
    """The made-up world with texts, and no table of scores: ``scorer`` overrides the judge's declaration."""
    world = world_of()
    world.items["text"] = [f"ticket {item}: the printer does not print" for item in world.items["item_id"]]
    world.rubric = RUBRIC
    declared = {"id": "judge", "kind": "openai", "config": copy.deepcopy(CONFIG), **scorer}
    world.study["scorer"] = declared
    del world.study["data"]["scores"]
    return world
