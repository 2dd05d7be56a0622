"""Opening a set: once, before anything is compared, and never again with anything changed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ledger_story import A, B, Story

from calib_pipeline.ledger import LedgerError, Registration


def test_the_event_is_written_before_the_call_returns(story: Story) -> None:
    story.reserve(registrations=[A])
    outcome = story.open()
    event = story.ledger.events("s")[-1]
    assert (outcome.kind, outcome.state) == ("opened", "measured")
    assert (event.event, event.seq, event.hash, event.at) == ("opened", outcome.seq, outcome.head, outcome.opened_at)
    assert event.details == {
        "purpose": "measurement",
        "plan_digest": "p1",
        "labels_digest": "labels",
        "scores_digest": "scores",
    }
    assert story.ledger.head() == outcome.head


def test_the_same_opening_again_is_a_repeat_with_the_head_of_the_first(story: Story) -> None:
    story.reserve(registrations=[A])
    first = story.open()
    story.read()
    again = story.open()
    assert again.kind == "repeat"
    assert replace(again, kind="opened", why=first.why) == first
    assert story.count("opened") == 1


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"labels_digest": "others"}, "with other labels"),
        ({"scores_digest": "others"}, "with other scores"),
        ({"labels_digest": "others", "scores_digest": "others"}, "with other labels and scores"),
        ({"plan_digest": "p2"}, "measured under another plan"),
    ],
)
def test_with_anything_changed_it_is_reused(story: Story, changed: dict[str, str], named: str) -> None:
    story.reserve(registrations=[A])
    story.open()
    head = story.ledger.head()
    outcome = story.open(**changed)
    assert (outcome.kind, outcome.state, outcome.seq, outcome.head) == ("refused", "reused", None, None)
    assert named in outcome.why
    assert story.ledger.head() == head
    assert story.open().kind == "repeat"


def test_a_fitted_set_is_not_measured_but_can_be_looked_at(story: Story) -> None:
    story.reserve(registrations=[replace(A, role="fitted", for_status=False)])
    refused = story.open(role="fitted")
    assert (refused.kind, refused.state) == ("refused", "fitted")
    assert story.count("opened") == 0
    looked = story.open(role="fitted", purpose="diagnostic")
    assert (looked.kind, looked.state) == ("opened", "fitted")
    assert story.open(role="fitted", purpose="diagnostic").kind == "repeat"
    assert story.open(role="fitted", purpose="diagnostic", labels_digest="more labels").kind == "opened"


def test_a_reused_set_is_refused_without_a_trace_and_its_diagnosis_is_recorded(story: Story) -> None:
    story.reserve(registrations=[A])
    story.open()
    head = story.ledger.head()
    refused = story.open(study="b", config="b1", plan="q1", registrations=[B])
    assert (refused.kind, refused.state) == ("refused", "reused")
    assert story.ledger.head() == head
    looked = story.open(study="b", config="b1", plan="q1", purpose="diagnostic")
    assert (looked.kind, looked.state) == ("opened", "reused")
    assert story.state(study="b", config="b1", plan="q1").state == "reused"


def test_every_declared_study_is_registered_the_instant_before_the_first_opening(story: Story) -> None:
    story.reserve(registrations=[A])
    story.open(registrations=[A, B])
    assert [event.event for event in story.ledger.events("s")] == ["reserved", "registered", "registered", "opened"]
    assert story.open(study="b", config="b1", plan="q1", registrations=[A, B]).kind == "opened"


def test_later_openings_register_nobody(story: Story) -> None:
    story.reserve(registrations=[A, B])
    story.open()
    late = Registration("late", "l1", "q1")
    assert story.open(study="b", config="b1", plan="q1", registrations=[A, B, late]).kind == "opened"
    assert story.open(study="late", config="l1", plan="q1", registrations=[A, B, late]).kind == "refused"
    assert story.count("registered") == 2


def test_a_refused_first_opening_registers_nobody(story: Story) -> None:
    story.reserve(registrations=[A])
    story.ledger.record_export("s", "maria")
    assert story.open(registrations=[A, B]).kind == "refused"
    assert story.count("registered") == 1


def test_who_is_not_registered_cannot_open(story: Story) -> None:
    story.reserve(registrations=[A])
    head = story.ledger.head()
    with pytest.raises(LedgerError, match="not among those registered and in force"):
        story.open(study="b", config="b1", plan="q1")
    assert story.ledger.head() == head


@pytest.mark.parametrize(
    ("contradiction", "message"),
    [
        (Registration("b", "a1", "q1", role="fitted"), "registered study b with role: fitted"),
        (Registration("a", "a1", "p2"), "not among those registered and in force"),
        (Registration("a", "filled", "p1", scores_digest="rows"), "not among those registered and in force"),
    ],
)
def test_what_is_declared_at_the_first_opening_must_not_contradict_it(
    story: Story, contradiction: Registration, message: str
) -> None:
    story.reserve(registrations=[A])
    head = story.ledger.head()
    with pytest.raises(LedgerError, match=message):
        story.open(registrations=[contradiction])
    assert story.ledger.head() == head


def test_score_rows_that_differ_from_the_registered_ones_are_not_opened(story: Story) -> None:
    story.reserve(registrations=[replace(A, scores_digest="rows")])
    with pytest.raises(LedgerError, match="its score rows are not those that were registered"):
        story.open(scores_digest="other rows")
    assert story.count("opened") == 0
    assert story.open(scores_digest="rows").kind == "opened"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"purpose": "measure"}, "purpose must be measurement or diagnostic, got 'measure'"),
        ({"role": "train"}, "role must be holdout or fitted, got 'train'"),
        ({"labels_digest": ""}, "labels_digest must not be empty"),
        ({"scores_digest": None}, "scores_digest must be text, got None"),
    ],
)
def test_a_wrong_opening_is_refused(story: Story, changed: dict[str, str], message: str) -> None:
    story.reserve(registrations=[A])
    with pytest.raises(LedgerError, match=message):
        story.open(**changed)


class TestHowManyConfigurations:
    """m, which the level of the gates is divided by."""

    def test_counts_those_registered_for_a_status_before_the_first_opening(self, story: Story) -> None:
        grid = [Registration(f"g{k}", f"g{k}", "p1") for k in range(5)]
        story.reserve(registrations=[A, *grid, replace(B, for_status=False)])
        assert story.open().configurations == 6
        story.ledger.register("s", [Registration("late", "late", "p1")])
        assert story.open().configurations == 6
        assert story.open(study="g1", config="g1").configurations == 6

    def test_counts_each_edit_of_a_configuration_and_no_edit_of_a_plan(self, story: Story) -> None:
        story.reserve(registrations=[A])
        story.ledger.register("s", [replace(A, config_digest="a2")])
        story.ledger.register("s", [replace(A, config_digest="a2", plan_digest="p2")])
        assert story.open(config="a2", plan="p2").configurations == 2

    def test_counts_a_table_once_that_was_registered_before_its_rows_were_there(self, story: Story) -> None:
        story.reserve(registrations=[Registration("t", "empty", "p1")])
        filled = Registration("t", "filled", "p1", scores_digest="scores")
        outcome = story.open(study="t", config="filled", registrations=[filled])
        assert (outcome.kind, outcome.configurations) == ("opened", 1)

    def test_a_diagnostic_opening_is_not_counted(self, story: Story) -> None:
        story.reserve(registrations=[A])
        diagnosed = replace(B, for_status=False)
        story.open(study="b", config="b1", plan="q1", purpose="diagnostic", registrations=[A, diagnosed])
        assert story.open().configurations == 1


class TestHowManyAttempts:
    def test_counts_earlier_measurements_on_other_generations_of_this_population(self, story: Story) -> None:
        story.reserve("s1", [A])
        assert story.open("s1").attempts == 0
        story.reserve("s2", [B], items=["j1"], generation=2)
        story.open("s2", study="d", config="d1", plan="q1", purpose="diagnostic", registrations=[B])
        assert story.open("s2", study="b", config="b1", plan="q1").attempts == 1
        c = Registration("c", "c1", "q1")
        story.reserve("s3", [c], items=["k1"], generation=3)
        assert story.open("s3", study="c", config="c1", plan="q1").attempts == 2
        assert story.open("s1").attempts == 0

    def test_a_population_that_was_only_renamed_is_the_same(self, story: Story) -> None:
        story.reserve("s1", [A], population="may")
        story.open("s1")
        story.reserve("s2", [B], items=["j1"], population="june", population_digest="digest of may")
        assert story.open("s2", study="b", config="b1", plan="q1").attempts == 1

    @pytest.mark.parametrize("population", ["pop", "other"])
    def test_on_shared_items_every_dimension_and_population_counts(self, story: Story, population: str) -> None:
        story.reserve("s1", [A])
        story.reserve("s2", [B], items=["i1", "j1"], dimension="tone", population=population)
        story.open("s1")
        assert story.open("s2", study="b", config="b1", plan="q1").attempts == 1
        assert story.open("s1").attempts == 0

    def test_other_dimensions_and_populations_do_not_count(self, story: Story) -> None:
        story.reserve("s1", [A])
        story.open("s1")
        story.reserve("s2", [B], items=["j1"], dimension="tone")
        assert story.open("s2", study="b", config="b1", plan="q1").attempts == 0
        c = Registration("c", "c1", "q1")
        story.reserve("s3", [c], items=["k1"], population="other")
        assert story.open("s3", study="c", config="c1", plan="q1").attempts == 0
