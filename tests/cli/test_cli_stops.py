"""What ``calib status`` says of a stop: its own reason, and a next step that leads somewhere."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from small_project import GOOD, NOISE, POPULATION, RESERVED

ITEMS, LABELS, SCORES = (f"data/{POPULATION}/{name}.csv" for name in ("items", "annotations", "scores"))
DATA = {"items": ITEMS, "labels": LABELS, "scores": SCORES}


def said_of(calib, root, study=GOOD):
    said = calib("status", "--study", study, "--project", root)
    assert said.code == 3
    return said.out


@pytest.mark.usefixtures("quick_dagster")
@pytest.mark.slow
def test_labels_corrected_after_the_measurement_are_refused_for_what_they_are(own_copy, calib):
    labels = pd.read_csv(own_copy / LABELS)
    labels["value"] = labels["value"].map({"yes": "no", "no": "yes"}).where(labels.index % 40 == 0, labels["value"])
    labels.to_csv(own_copy / LABELS, index=False)
    calib("run", "--study", GOOD, "--project", own_copy)
    said = said_of(calib, own_copy)
    assert "a measurement is made once" in said
    assert "no longer serves" not in said
    assert "read the headline (from the published record) with" in said
    assert "earlier declaration" not in said


@pytest.mark.usefixtures("quick_dagster")
@pytest.mark.slow
def test_a_recheck_that_finds_too_few_items_says_so(own_copy, calib):
    calib("run", "--study", GOOD, "--recheck", "--project", own_copy)
    said = said_of(calib, own_copy)
    assert "no longer serves" not in said
    assert "stopped at holdout (holdout_reservation)" in said


def test_a_set_that_is_spent_for_a_study_no_longer_serves_it(own_copy, calib):
    [holdout] = json.loads(calib("holdout", "list", "--project", own_copy, "--json").out)
    given = ["--everyone", "--reason", "used for the prompt", "--project", own_copy]
    calib("holdout", "mark-fitted", holdout["holdout_id"], *given)
    said = said_of(calib, own_copy)
    assert "the held-out set no longer serves this study: " in said and "used for the prompt" in said


@pytest.mark.usefixtures("quick_dagster")
@pytest.mark.parametrize("content", [None, "", "a,b\n1,2\n"], ids=["gone", "empty", "broken"])
@pytest.mark.slow
def test_without_items_the_next_step_names_them_and_not_the_run_that_just_failed(declared, calib, content):
    path = declared / ITEMS
    path.unlink() if content is None else path.write_text(content)
    assert calib("run", "--study", GOOD, "--project", declared).code == 2
    said = said_of(calib, declared)
    assert "never climbed; the table of items cannot be read: " in said
    todo = "bring" if content is None else "mend"
    command = f"calib run --study {GOOD} --population {POPULATION}"
    assert f"next: {todo} the table of items ({ITEMS}), and run `{command}`" in said
    assert "not readable" not in said


@pytest.mark.usefixtures("quick_dagster")
@pytest.mark.parametrize("table", ["labels", "scores"])
def test_a_table_that_is_refused_before_the_run_is_named(declared, calib, table):
    (declared / DATA[table]).write_text("a,b\n1,2\n")
    assert calib("run", "--study", GOOD, "--project", declared).code == 2
    said = said_of(calib, declared)
    assert f"never climbed; the table of {table} cannot be read: " in said
    assert f"next: mend the table of {table} ({DATA[table]}), and run " in said


@pytest.mark.slow
@pytest.mark.usefixtures("quick_dagster")
def test_without_scores_the_next_step_is_to_bring_them(declared, calib):
    (declared / SCORES).unlink()
    assert calib("run", "--study", GOOD, "--project", declared).code in (1, 2)
    said = said_of(calib, declared)
    assert "stopped at baseline (scorer_agreement)" in said
    assert "the table of scores cannot be read: " in said
    assert f"next: bring the table of scores ({SCORES}), and run " in said


def test_scores_that_went_away_are_named_beside_what_changed(own_copy, calib):
    (own_copy / SCORES).unlink()
    said = said_of(calib, own_copy, NOISE)
    assert "changed; the table of scores cannot be read: " in said
    assert f"next: bring the table of scores ({SCORES}), and run " in said


def test_items_that_went_away_are_named_and_nothing_is_to_be_run_before(own_copy, calib):
    (own_copy / ITEMS).unlink()
    said = said_of(calib, own_copy)
    assert f"next: bring the table of items ({ITEMS}), and run `calib status`" in said


@pytest.mark.slow
@pytest.mark.usefixtures("quick_dagster")
def test_before_there_are_labels_it_is_said_how_many_people_label_what(declared, calib):
    (declared / LABELS).unlink()
    assert calib("run", "--study", GOOD, "--project", declared).code == 1
    said = said_of(calib, declared)
    assert f"there are no labels of its {RESERVED} items to read" in said
    assert "named ones by 2 independent annotators each" in said and f"bring {LABELS}, and run " in said
    shown = calib("show", GOOD, POPULATION, "--project", declared).out
    assert "Named items that need 2 independent annotators (" in shown


def test_outputs_that_contradict_each_other_are_mended_and_draw_no_other_set(calib, own_copy, quick_dagster):
    table = own_copy / "data" / POPULATION / "scores.csv"
    rows = table.read_text(encoding="utf-8").splitlines()
    [held] = json.loads(calib("holdout", "list", "--project", own_copy, "--json").out)
    reserved = {
        line.split(",")[0]
        for line in (own_copy / "data" / POPULATION / "annotations.csv").read_text(encoding="utf-8").splitlines()[1:]
    }
    header, twice = rows[0].split(","), next(row for row in rows[1:] if row.split(",")[0] in reserved).split(",")
    place = header.index("value")
    twice[place] = next(row.split(",")[place] for row in rows[1:] if row.split(",")[place] not in ("", twice[place]))
    table.write_text("\n".join([*rows, ",".join(twice)]) + "\n", encoding="utf-8")
    said = calib("run", "--study", GOOD, "--project", own_copy)
    assert said.code == 2, said
    assert "scores.csv" in said.err and "different output" in said.err
    assert json.loads(calib("holdout", "list", "--project", own_copy, "--json").out) == [held]
