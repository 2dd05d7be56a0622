"""Who gets what: even loads, mixed pairs, nobody twice, and an order that says nothing."""

from __future__ import annotations

import csv
import io
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_pipeline.errors import InputError
from calib_pipeline.planning.label_sheets import Task, assigned, sheet_csv

PEOPLE = ["ana", "bo", "cy", "di"]


def tasks(single: int, double: int) -> list[Task]:
    return [Task(f"i{number:03d}", 2 if number < double else 1) for number in range(single + double)]


@given(single=st.integers(0, 40), double=st.integers(0, 40), people=st.integers(2, 4), seed=st.integers(0, 50))
def test_every_item_is_on_as_many_sheets_as_it_needs(single: int, double: int, people: int, seed: int) -> None:
    given_out = assigned(tasks(single, double), PEOPLE[:people], seed)
    counted = Counter(item for items in given_out.values() for item in items)
    assert counted == {task.item_id: task.people for task in tasks(single, double)}
    assert all(len(items) == len(set(items)) for items in given_out.values())
    loads = [len(items) for items in given_out.values()]
    assert max(loads) - min(loads) <= 1


def test_pairs_of_people_are_mixed() -> None:
    given_out = assigned(tasks(0, 120), PEOPLE, 3)
    together = {pair: len(set(given_out[pair[0]]) & set(given_out[pair[1]])) for pair in combinations(PEOPLE, 2)}
    assert sum(together.values()) == 120 and min(together.values()) >= 10


def test_nobody_gets_what_they_have_labeled() -> None:
    asked = [Task("a", 1, frozenset({"ana"})), Task("b", 2, frozenset({"bo"})), Task("c", 1, frozenset({"zoe"}))]
    given_out = assigned(asked, ["ana", "bo", "cy"], 0)
    assert "a" not in given_out["ana"] and "b" in given_out["ana"] and "b" in given_out["cy"]


def test_too_few_people_are_refused_with_who_is_out() -> None:
    with pytest.raises(InputError, match="'a' needs 2 people, and bo labeled it already; 1 of those named are left"):
        assigned([Task("a", 2, frozenset({"bo"}))], ["ana", "bo"], 0)


def test_the_order_is_of_each_ones_own_and_of_the_seed() -> None:
    asked = [Task(f"i{number:03d}", 2) for number in range(60)]
    first = assigned(asked, ["ana", "bo"], 1)
    assert set(first["ana"]) == set(first["bo"]) and first["ana"] != first["bo"]
    assert first["ana"] != sorted(first["ana"])
    assert first == assigned(list(reversed(asked)), ["ana", "bo"], 1)
    assert first["ana"] != assigned(asked, ["ana", "bo"], 2)["ana"]


def test_items_for_two_do_not_stand_together() -> None:
    on_sheet = assigned(tasks(100, 100), ["ana", "bo"], 1)["ana"]
    doubly = [task.item_id for task in tasks(100, 100) if task.people == 2]
    first_half = sum(item in doubly for item in on_sheet[: len(on_sheet) // 2])
    assert 35 <= first_half <= 65


def test_a_sheet_holds_what_is_read_back_and_any_text() -> None:
    texts = {"a": 'two\nlines, "quoted"', "b": "=1+1"}
    content = sheet_csv("ana", ["b", "a"], texts, rubric_version="2", values="yes | no")
    rows = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    assert [(row["item_id"], row["text"]) for row in rows] == [("b", texts["b"]), ("a", texts["a"])]
    assert {(row["annotator_id"], row["rubric_version"], row["allowed"]) for row in rows} == {("ana", "2", "yes | no")}
    assert {row[name] for row in rows for name in ("value", "confidence", "note", "labeled_at")} == {""}
    assert b"text" not in sheet_csv("ana", ["a"], None, rubric_version="2", values="yes | no")
