"""The tables of docs/study-keys.md, made from the declared sections; run as a script it writes them into the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from calib_pipeline.studies.json_schema import study_json_schema

PAGE = Path(__file__).parents[2] / "docs" / "study-keys.md"
BEGIN, END = "<!-- keys: begin -->", "<!-- keys: end -->"
HEADER = "| key | needed | default | what | example |\n| --- | --- | --- | --- | --- |"
SCALES = ("BinaryScale", "CategoricalScale", "OrdinalScale", "ContinuousScale", "PairwiseScale")
NESTED = ("decision.accept",)


def key_tables() -> str:
    """The part of the page between its two marks."""
    schema = study_json_schema()
    sections, top = schema["$defs"], []
    parts = []
    for key, declared in schema["properties"].items():
        section = _section_of(declared)
        if key == "scale":
            parts.append(_scales(sections))
        elif section is None or key == "panel":
            top.append(_row(key, declared, key in schema["required"]))
        else:
            parts.append(_table(key, sections[section], sections, optional=key not in schema["required"]))
    return "\n\n".join([f"### At the top\n\n{HEADER}\n" + "\n".join(top), *parts])


def _scales(sections: dict[str, Any]) -> str:
    parts = ["### scale"]
    for name in SCALES:
        declared = sections[name]
        kind = declared["properties"]["kind"]["const"]
        rows = [
            _row(f"scale.{key}", one, key in declared["required"])
            for key, one in declared["properties"].items()
            if key != "kind"
        ]
        parts.append(f"`kind: {kind}`. {declared['description']}\n\n{HEADER}\n" + "\n".join(rows))
    return "\n\n".join(parts)


def _table(key: str, section: dict[str, Any], sections: dict[str, Any], *, optional: bool) -> str:
    may = " May be left out." if optional else ""
    rows = "\n".join(_rows(key, section, sections))
    return f"### {key}\n\n{section['description']}{may}\n\n{HEADER}\n{rows}"


def _rows(prefix: str, section: dict[str, Any], sections: dict[str, Any]) -> list[str]:
    rows = []
    for key, declared in section["properties"].items():
        name = f"{prefix}.{key}"
        rows.append(_row(name, declared, key in section.get("required", ())))
        below = None if name in NESTED else _section_of(declared)
        if below is not None:
            rows += _rows(name, sections[below], sections)
    return rows


def _row(name: str, declared: dict[str, Any], needed: bool) -> str:
    default = declared.get("default")
    shown = f"`{json.dumps(default, ensure_ascii=False)}`" if default not in (None, [], {}) else ""
    examples = declared.get("examples") or []
    example = " or ".join(f"`{_yaml(one)}`" for one in examples)
    what = declared.get("description", "").replace("|", "\\|")
    return f"| `{name}` | {'yes' if needed else ''} | {shown} | {what} | {example} |"


def _yaml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_yaml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_yaml(one) for one in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("|", "\\|")


def _section_of(declared: dict[str, Any]) -> str | None:
    """The one section that a key holds, or holds a list of; None where it holds plain values."""
    options = [declared, declared.get("items", {}), *declared.get("anyOf", ())]
    named = [option["$ref"].rsplit("/", 1)[1] for option in options if "$ref" in option]
    return named[0] if len(named) == 1 else None


def page_with(tables: str, page: str) -> str:
    """The page with its tables replaced."""
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}\n\n{tables}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page_with(key_tables(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
