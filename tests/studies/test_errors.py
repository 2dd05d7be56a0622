"""Errors say what, where, what was expected and what to do, and survive a process boundary."""

from __future__ import annotations

import pickle

from calib_pipeline.errors import Faults, InputError, ReviewUnavailable, Unreadable


def test_one_sentence_holds_all_four() -> None:
    error = InputError("the column 'value' is missing", where="a.csv:1", expected="columns item_id", todo="add it")
    assert str(error) == "a.csv:1: the column 'value' is missing; expected columns item_id. Add it"
    assert str(InputError("nothing was asked")) == "nothing was asked"


def test_faults_stand_one_a_line() -> None:
    assert str(Faults([InputError("one", where="a:1"), InputError("two")])) == "a:1: one\ntwo"


def test_the_code_stands_in_the_text() -> None:
    error = ReviewUnavailable("labels.csv", "the file does not exist")
    assert str(error).startswith("REVIEW_UNAVAILABLE: the labels at labels.csv cannot be read: the file does not exist")


def test_every_error_survives_pickling() -> None:
    for error in (
        InputError("a", where="b", expected="c", todo="d"),
        Unreadable("a", where="b"),
        ReviewUnavailable("a", "b"),
        Faults([InputError("a", where="b"), Unreadable("c")]),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error)
