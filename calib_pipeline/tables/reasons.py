"""Why a received row takes no part: every row that is not used is listed under one of these."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """A reason code; its value stands in tables and counts."""

    MISSING_ITEM = "missing_item"
    UNKNOWN_ITEM = "unknown_item"
    NOT_RESERVED = "not_reserved"
    MISSING_ANNOTATOR = "missing_annotator"
    NOT_ANNOTATED = "not_annotated"
    SKIPPED = "skipped"
    NOT_APPROVED = "not_approved"
    WRONG_RUBRIC_VERSION = "wrong_rubric_version"
    ANOTHER_CONTENT = "another_content"
    SAW_SCORER_OUTPUT = "saw_scorer_output"
    PREFILLED = "prefilled"
    BAD_FIELD = "bad_field"
    BAD_TIME = "bad_time"
    BLANK = "blank"
    OFF_SCALE = "off_scale"
    DUPLICATE = "duplicate"
    SELF_CONFLICT = "self_conflict"
    SELF_CONFLICT_UNDATED = "self_conflict_undated"
    NO_SCORE = "no_score"
    SCORER_ERROR = "scorer_error"
    ABSTAINED = "abstained"


HARMLESS = frozenset({Reason.NOT_RESERVED, Reason.NOT_ANNOTATED, Reason.DUPLICATE, Reason.SELF_CONFLICT})
"""Reasons that say nothing against the label sheet: rows of other items, tasks without a label, superseded labels."""

NOT_COMPARED_COLUMNS = ("source", "row", "item_id", "annotator_id", "value", "reason", "detail")
