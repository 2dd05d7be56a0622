"""The JSON Schema for editors is made from the same sections that read the file."""

from __future__ import annotations

from typing import Any

from calib_pipeline.studies.json_schema import study_json_schema
from calib_pipeline.studies.study import Study


def _objects(schema: Any) -> list[dict[str, Any]]:
    found = []
    if isinstance(schema, dict):
        if "properties" in schema:
            found.append(schema)
        found += [inner for value in schema.values() for inner in _objects(value)]
    if isinstance(schema, list):
        found += [inner for value in schema for inner in _objects(value)]
    return found


def test_every_section_is_closed_and_every_key_described() -> None:
    for section in _objects(study_json_schema()):
        assert section["additionalProperties"] is False
        for name, key in section["properties"].items():
            assert name == "kind" or "description" in key or "$ref" in key, (section["title"], name)


def test_the_keys_are_those_of_the_file() -> None:
    schema = study_json_schema()
    assert set(schema["properties"]) == set(Study.model_fields)
    assert set(schema["$defs"]["Linear"]["properties"]) == {"from", "to"}
    assert set(schema["$defs"]["OrdinalScale"]["properties"]) == {"kind", "levels", "aliases"}


def test_levels_may_be_written_as_numbers() -> None:
    items = study_json_schema()["$defs"]["OrdinalScale"]["properties"]["levels"]["items"]
    assert set(items["type"]) == {"string", "number", "boolean"}
