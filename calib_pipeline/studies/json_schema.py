"""The JSON Schema of a study file, for editors."""

from __future__ import annotations

from typing import Any

from calib_pipeline.studies.study import Study


def study_json_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a study file, generated from the sections themselves."""
    schema = Study.model_json_schema(by_alias=True, mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Study"}
