"""A stale cell names each part that changed, with what stood before and what stands now."""

from __future__ import annotations

import pandas as pd
import pytest
from small_project import FITTED, GOOD, POPULATION, study_named, write_study

from calib_pipeline.cell import Cell
from calib_pipeline.cli.status import read_statuses
from calib_pipeline.status.differences import LINE, MOST_LINES, Difference, differences_of
from calib_pipeline.studies.project import load_project


def differences(root, study=GOOD) -> dict[str, Difference]:
    project = load_project(root)
    [status] = read_statuses(project, [Cell(study, POPULATION)])
    assert status.status == "stale"
    return {one.part: one for one in differences_of(project, status)}


def declare(root, section, **keys):
    study = study_named(GOOD)
    for key, value in keys.items():
        study[section][key] = value
    write_study(root, study)


def test_what_stands_has_no_differences(climbed):
    project = load_project(climbed.root)
    [status] = read_statuses(project, [Cell(GOOD, POPULATION)])
    assert differences_of(project, status) == ()


def test_short_values_are_shown_whole(own_copy):
    declare(own_copy, "scorer", config={"model": "m-new", "prompt": "p-1"})
    found = differences(own_copy)
    assert found["scorer.config.model"] == Difference("scorer.config.model", f"m-{GOOD}", "m-new")
    assert "scorer.config.prompt" not in found


def test_a_prompt_of_several_lines_is_shown_by_digest_and_lines(own_copy):
    declare(own_copy, "scorer", config={"model": f"m-{GOOD}", "prompt": "p-1\nAnswer yes or no.\n"})
    found = differences(own_copy)["scorer.config.prompt"]
    assert (len(str(found.before)), len(str(found.now))) == (12, 12)
    assert found.lines[1:] == (" p-1", "+Answer yes or no.")


def test_the_text_of_the_rubric_is_compared_line_by_line(own_copy):
    (own_copy / "rubrics" / "kind.md").write_text("A reply is kind when it helps.\nNothing else.\n", encoding="utf-8")
    found = differences(own_copy)["rubric.text"]
    assert found.before != found.now
    assert found.lines[1:] == (
        "-A reply is kind when nobody is hurt by it.",
        "+A reply is kind when it helps.",
        "+Nothing else.",
    )


def test_a_long_text_is_cut(own_copy):
    long = "\n".join(f"Rule {number}." for number in range(100)) + "\n" + "x" * 1000
    (own_copy / "rubrics" / "kind.md").write_text(long, encoding="utf-8")
    lines = differences(own_copy)["rubric.text"].lines
    assert len(lines) == MOST_LINES + 1
    assert lines[-1].startswith("… and ")
    assert max(len(line) for line in lines) <= LINE + 1


def test_a_key_of_the_plan_is_named_with_both_values(own_copy):
    declare(own_copy, "agreement", min_pairs=70)
    assert differences(own_copy)["agreement.min_pairs"] == Difference("agreement.min_pairs", "60", "70")


def test_a_key_that_was_not_declared_before_was_none(own_copy):
    declare(own_copy, "decision", budget=0.3)
    assert differences(own_copy)["decision.budget"] == Difference("decision.budget", None, "0.3")


@pytest.mark.parametrize(("table", "part"), [("items", "population"), ("scores", "scores")])
def test_a_table_that_changed_is_named_by_digest(table, part, own_copy):
    file = own_copy / "data" / POPULATION / f"{table}.csv"
    rows = pd.read_csv(file)
    if table == "items":
        rows = pd.concat([rows, rows.tail(1).assign(item_id="new")])
    else:
        rows["value"] = rows["value"].map({"yes": "no", "no": "yes"})
    rows.to_csv(file, index=False)
    found = differences(own_copy)[part]
    assert found.before != found.now
    assert (len(str(found.before)), len(str(found.now)), found.lines) == (12, 12, ())


def test_a_set_that_no_longer_serves_is_named(own_copy):
    declare(own_copy, "scorer", config={"model": "m-new", "prompt": "p-1"})
    found = differences(own_copy)["holdout set"]
    assert found.before == f"kindness@{POPULATION}.g1"


def test_labels_that_changed_are_named_by_the_digest_of_their_sheet(own_copy):
    file = own_copy / "data" / POPULATION / "annotations.csv"
    rows = pd.read_csv(file)
    rows["value"] = rows["value"].map({"yes": "no", "no": "yes"})
    rows.to_csv(file, index=False)
    found = differences(own_copy)["labels"]
    assert found.before != found.now


def test_show_prints_what_changed_and_never_where_the_ledger_is(calib, own_copy):
    (own_copy / "rubrics" / "kind.md").write_text("A reply is kind when it helps.\n", encoding="utf-8")
    declare(own_copy, "agreement", min_pairs=70)
    said = calib("show", GOOD, POPULATION, "--project", own_copy).out
    assert "Changed since it was measured" in said
    lines = [line.split() for line in said.splitlines()]
    assert ["agreement.min_pairs", "60", "70"] in lines
    assert "    +A reply is kind when it helps." in said.splitlines()
    assert "sqlite" not in said


def test_a_cell_that_is_not_stale_shows_no_changes(calib, climbed):
    for study in (GOOD, FITTED):
        assert "Changed since" not in calib("show", study, POPULATION, "--project", climbed.root).out
