"""The versions of a scorer: what was registered, what each is worth now, and in which parts two of them differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from small_project import GOOD, NOISE, POPULATION, study_named, write_study


def listed(calib: Any, root: Path, *more: str) -> list[dict[str, Any]]:
    said = calib("judge", "list", "--project", root, "--json", *more)
    assert said.code == 0, said.err
    found: list[dict[str, Any]] = json.loads(said.out)
    return found


def of_study(versions: list[dict[str, Any]], study: str) -> list[tuple[bool, str]]:
    return [(one["active"], one["states"][0]["state"]) for one in versions if one["study"] == study]


def test_the_declared_version_has_the_status_of_its_ladder(calib, climbed):
    versions = listed(calib, climbed.root)
    assert of_study(versions, GOOD) == [(True, "calibrated")]
    assert of_study(versions, NOISE) == [(True, "candidate_for_removal")]
    [good] = listed(calib, climbed.root, "--study", GOOD)
    assert good["parts"]["model"] == f"m-{GOOD}" and "scores" not in good["parts"]
    assert good["created"] is not None
    records = json.loads(calib("record", "list", "--project", climbed.root, "--json").out)
    [published] = [one["record_id"] for one in records if (one["study"], one["kind"]) == (GOOD, "measurement")]
    assert good["states"][0]["record_id"] == published


def test_another_prompt_is_another_version_and_makes_the_first_stale(calib, own_copy):
    [before] = listed(calib, own_copy, "--study", GOOD)
    changed = study_named(GOOD)
    changed["scorer"]["config"]["prompt"] = "p-2"
    write_study(own_copy, changed)
    (own_copy / "rubrics" / "kind.md").write_text("A reply is kind when somebody is helped by it.\n", encoding="utf-8")
    first, second = listed(calib, own_copy, "--study", GOOD)
    assert (first["version"], first["active"]) == (before["version"], False)
    [state] = first["states"]
    assert (state["state"], state["record_id"]) == ("stale", before["states"][0]["record_id"])
    assert state["reason"] == "another version is declared now: prompt, rubric.text changed"
    assert (second["active"], second["created"]) == (True, None)
    [state] = second["states"]
    assert state["state"] == "uncalibrated"
    assert state["reason"].startswith(
        f"calibrated only for another configuration (record {first['states'][0]['record_id'][:12]})"
    )
    said = calib("judge", "diff", GOOD, first["version"][:8], "active", "--project", own_copy)
    assert "scorer.config.prompt: p-1 -> p-2" in said.out
    assert "-A reply is kind when nobody is hurt by it." in said.out
    assert "+A reply is kind when somebody is helped by it." in said.out


def test_the_way_back_is_the_version_that_was_measured(calib, own_copy):
    changed = study_named(GOOD)
    changed["scorer"]["config"]["model"] = "m-2"
    write_study(own_copy, changed)
    assert len(listed(calib, own_copy, "--study", GOOD)) == 2
    write_study(own_copy, study_named(GOOD))
    assert of_study(listed(calib, own_copy, "--study", GOOD), GOOD) == [(True, "calibrated")]


def test_a_version_is_shown_whole(calib, climbed):
    said = calib("judge", "show", GOOD, "active", "--project", climbed.root)
    assert said.code == 0
    assert f"model: m-{GOOD}" in said.out and f"on {POPULATION}: calibrated" in said.out
    assert "A reply is kind when nobody is hurt by it." in said.out
    assert "the two are one version" in calib("judge", "diff", GOOD, "active", "active", "--project", climbed.root).out


def test_what_names_no_version_is_refused(calib, climbed, declared):
    said = calib("judge", "show", GOOD, "zz", "--project", climbed.root)
    assert said.code == 2 and "names no version of this study" in said.err and "calib judge list" in said.err
    assert calib("judge", "list", "--study", "godo", "--project", climbed.root).code == 2
    said = calib("judge", "list", "--project", declared)
    assert said.code == 2 and "no version is registered" in said.err


def test_a_kept_version_that_was_edited_is_none(calib, own_copy):
    changed = study_named(GOOD)
    changed["scorer"]["config"]["model"] = "m-2"
    write_study(own_copy, changed)
    for file in (own_copy / ".calib" / "store" / "versions" / GOOD).glob("*.json"):
        file.write_text(file.read_text(encoding="utf-8").replace(f"m-{GOOD}", "m-2"), encoding="utf-8")
    assert of_study(listed(calib, own_copy, "--study", GOOD), GOOD) == [(True, "uncalibrated")]
