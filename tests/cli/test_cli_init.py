"""``calib init``: a folder that validates, and an example that is the one in the repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from calib_pipeline.cli.init import EXAMPLES, examples
from calib_pipeline.studies.study import Study


def test_the_new_project_is_valid_and_says_what_is_missing(calib, tmp_path):
    said = calib("init", tmp_path / "new")
    assert (said.code, said.err) == (0, "")
    assert f"calib run --project {tmp_path / 'new'}" in said.out
    valid = calib("validate", "--project", tmp_path / "new")
    assert valid.code == 0
    assert "1 study and 1 population" in valid.out
    assert valid.out.count("is not there yet") == 3


TEXTS = {
    "scorer.config.model": "name-and-version",
    "scorer.config.prompt": "prompt-version",
    "annotation.blind.by": "the label tool shows the item and the rubric only",
    "ceiling.because": "say why there is nothing to measure below this",
    "decision.gates.what": "routes answers to review",
    "decision.cost_false_accept.because": "say what it costs to let a bad item through",
    "decision.cost_false_reject.because": "say what it costs to hold a good item back: the unit",
    "rubric.text": "What people read before they label.",
}


def kept_texts(calib, project):
    """The keys that validate names as the template's, which are the same in its JSON."""
    said, as_json = calib("validate", "--project", project), calib("validate", "--project", project, "--json")
    assert (said.code, as_json.code) == (0, 0)
    notes = [note for note in json.loads(as_json.out)["notes"] if "text of the template" in note]
    assert all(note in said.out for note in notes)
    return [key for key in TEXTS for note in notes if key in note]


def test_validate_names_the_keys_that_still_hold_the_templates_text(calib, tmp_path):
    calib("init", tmp_path / "new")
    assert kept_texts(calib, tmp_path / "new") == list(TEXTS)


@pytest.mark.parametrize("key", TEXTS)
def test_a_text_of_ones_own_is_not_named(calib, tmp_path, key):
    calib("init", tmp_path / "new")
    file = tmp_path / "new" / ("rubrics/my-dimension.md" if key == "rubric.text" else "studies/my-study.yaml")
    text = file.read_text(encoding="utf-8")
    assert text.count(TEXTS[key]) == 1
    file.write_text(text.replace(TEXTS[key], "our own words"), encoding="utf-8")
    assert kept_texts(calib, tmp_path / "new") == [other for other in TEXTS if other != key]


def test_an_example_holds_no_text_of_the_template(calib, tmp_path):
    calib("init", tmp_path / "copy", "--example", "sentiment")
    assert kept_texts(calib, tmp_path / "copy") == []


def test_the_new_project_holds_all_that_dagster_and_people_need(calib, tmp_path):
    written = json.loads(calib("init", tmp_path / "new", "--json").out)["files"]
    assert {".gitignore", "calib.yaml", "definitions.py", "workspace.yaml", "data/README.md"} <= set(written)
    assert "gitignore" not in written
    assert ".calib/" in (tmp_path / "new" / ".gitignore").read_text().splitlines()


def test_the_commented_study_explains_every_section(calib, tmp_path):
    calib("init", tmp_path / "new")
    text = (tmp_path / "new" / "studies" / "my-study.yaml").read_text()
    declared = set(yaml.safe_load(text))
    assert declared >= set(Study.model_fields) - {"panel", "bootstrap"}
    assert text.count("#") > 20


def test_nothing_is_written_over(calib, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    said = calib("init", tmp_path / "mine")
    assert (said.code, said.out) == (2, "")
    assert "is not empty" in said.err
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
    assert calib("init", tmp_path / "mine" / "thesis.txt").code == 2


def test_an_empty_folder_may_be_there_already(calib, tmp_path):
    (tmp_path / "empty").mkdir()
    assert calib("init", tmp_path / "empty").code == 0


def test_the_example_is_the_one_of_the_repository(calib, tmp_path):
    assert examples() == ["judge", "sentiment"]
    said = calib("init", tmp_path / "copy", "--example", "sentiment", "--json")
    assert said.code == 0
    source = EXAMPLES / "sentiment"
    for name in json.loads(said.out)["files"]:
        assert (tmp_path / "copy" / name).read_bytes() == (source / name).read_bytes()
    assert calib("validate", "--project", tmp_path / "copy").code == 0


def test_what_a_run_left_in_the_example_is_not_copied(tmp_path):
    from calib_pipeline.cli.init import copy_project

    source = tmp_path / "source"
    for name in ("calib.yaml", ".calib/ledger.db", "__pycache__/definitions.pyc", "data/a.csv"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("x")
    assert copy_project(source, tmp_path / "copy") == ["calib.yaml", "data/a.csv"]


def test_an_unknown_example_is_refused_with_the_nearest(calib, tmp_path):
    said = calib("init", tmp_path / "copy", "--example", "sentimant")
    assert said.code == 2
    assert "Did you mean 'sentiment'?" in said.err
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("command", ["status", "run"])
def test_the_new_project_before_its_tables_are_there(calib, tmp_path, command):
    calib("init", tmp_path / "new")
    said = calib(command, "--project", tmp_path / "new")
    assert said.code == {"status": 3, "run": 2}[command]
    assert "never climbed" in said.out
    assert str(Path("my-population") / "items.csv") in said.out + said.err
