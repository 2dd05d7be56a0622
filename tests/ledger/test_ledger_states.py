"""Each state of the table, and each way into and out of it, from real events."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ledger_story import A, B, Story

from calib_pipeline.ledger import LedgerError, Registration, UnknownSet
from calib_pipeline.ledger.events import Event
from calib_pipeline.ledger.states import History, Subject, state_of


class TestFitted:
    def test_a_study_that_declares_it(self, story: Story) -> None:
        story.reserve(registrations=[A])
        state = story.state(role="fitted")
        assert (state.state, state.why) == ("fitted", "study a declares role: fitted")

    def test_comes_before_measured(self, story: Story) -> None:
        story.reserve(registrations=[A])
        story.open()
        (event,) = story.ledger.mark_fitted("s", studies=["a"], reason="prompt tuned on its disagreements")
        state = story.state()
        assert state.state == "fitted"
        assert f"event {event.seq} of {event.at[:10]}" in state.why
        assert "prompt tuned on its disagreements" in state.why

    def test_of_a_study_covers_its_configurations_under_any_study_and_those_that_come_later(self, story: Story) -> None:
        story.reserve(registrations=[A])
        story.ledger.mark_fitted("s", studies=["a"], reason="tuned")
        assert story.state(study="renamed", config="a1").state == "fitted"
        assert story.state(study="a", config="a2").state == "fitted"
        assert story.state(study="b", config="b1").state == "unopened"

    def test_of_a_study_covers_what_it_registered_on_other_sets(self, story: Story) -> None:
        story.reserve("s", [A])
        story.reserve("t", [], items=["j1"], dimension="tone")
        story.ledger.mark_fitted("t", studies=["a"], reason="tuned")
        assert story.state("t", study="renamed", config="a1").state == "fitted"

    def test_of_a_configuration_covers_only_that(self, story: Story) -> None:
        story.reserve(registrations=[A, B])
        story.ledger.mark_fitted("s", config_digests=["a1"], reason="tuned")
        assert story.state(study="other", config="a1").state == "fitted"
        assert story.state(study="a", config="a2").state == "unopened"

    def test_of_everyone_covers_those_who_are_not_there_yet(self, story: Story) -> None:
        story.reserve(registrations=[A])
        story.ledger.mark_fitted("s", everyone=True, reason="published with the tutorial")
        assert story.state(study="never", config="seen", plan="before").state == "fitted"

    def test_a_role_that_was_registered_is_not_taken_back_by_editing_the_study(self, story: Story) -> None:
        story.reserve(registrations=[replace(A, role="fitted")])
        story.ledger.register("s", [replace(A, role="holdout", plan_digest="p2")])
        assert story.state(plan="p2").state == "fitted"
        assert story.state(plan="p2", config="a2").state == "fitted"
        assert story.state(study="b", config="b1").state == "unopened"

    @pytest.mark.parametrize("whom", [{}, {"studies": []}])
    def test_needs_somebody_to_be_named(self, story: Story, whom: dict[str, list[str]]) -> None:
        story.reserve()
        with pytest.raises(LedgerError, match="needs a study, a configuration, or everyone"):
            story.ledger.mark_fitted("s", reason="tuned", **whom)

    def test_needs_a_reason(self, story: Story) -> None:
        story.reserve()
        with pytest.raises(LedgerError, match="needs a reason"):
            story.ledger.mark_fitted("s", studies=["a"], reason=" ")


class TestMeasured:
    def test_by_opening_while_unopened(self, story: Story) -> None:
        story.reserve(registrations=[A])
        outcome = story.open()
        state = story.state()
        assert state.state == outcome.state == "measured"
        assert f"event {outcome.seq}" in state.why

    def test_stays_so_after_others_opened_and_after_an_export(self, story: Story) -> None:
        story.reserve(registrations=[A, B])
        story.open()
        story.open(study="b", config="b1", plan="q1")
        story.ledger.record_export("s", "maria")
        story.ledger.retire("s", "too old")
        assert story.state().state == "measured"
        assert story.open().kind == "repeat"

    def test_under_another_plan_it_is_reused(self, story: Story) -> None:
        story.reserve(registrations=[A])
        outcome = story.open()
        state = story.state(plan="p2")
        assert state.state == "reused"
        assert state.why == (
            f"this configuration was measured under another plan as event {outcome.seq} of {outcome.opened_at[:10]}"
        )


class TestUnopened:
    def test_from_the_reservation_on(self, story: Story) -> None:
        story.reserve(registrations=[A])
        state = story.state()
        assert state.state == "unopened"
        assert state.why.startswith("reserved as event 1 of 20")
        assert story.state(study="not", config="registered", plan="yet").state == "unopened"

    def test_after_another_opened_it_if_registered_before(self, story: Story) -> None:
        story.reserve(registrations=[A, B])
        story.open()
        state = story.state(study="b", config="b1", plan="q1")
        assert state.state == "unopened"
        assert "registered as event 3" in state.why
        assert "first opening as event 4" in state.why

    def test_a_plan_may_change_until_the_first_read(self, story: Story) -> None:
        story.reserve(registrations=[A])
        story.ledger.register("s", [replace(A, plan_digest="p2")])
        story.read()
        assert story.state(plan="p2").state == "unopened"
        assert story.state(plan="p1").state == "reused"

    def test_a_plan_that_was_changed_back_before_the_first_read_is_the_one(self, story: Story) -> None:
        story.reserve(registrations=[A])
        story.ledger.register("s", [replace(A, plan_digest="p2")])
        story.ledger.register("s", [A])
        story.read()
        assert story.state(plan="p1").state == "unopened"
        assert story.state(plan="p2").state == "reused"

    def test_a_configuration_may_change_after_a_read_if_the_plan_stays(self, story: Story) -> None:
        story.reserve(registrations=[A])
        story.read()
        story.ledger.register("s", [replace(A, config_digest="a2")])
        assert story.state(config="a2").state == "unopened"

    def test_labels_that_only_arrived_were_not_seen(self, story: Story) -> None:
        story.reserve(registrations=[A])
        story.ledger.ingest_labels("s", "a", "labels")
        assert story.state(plan="p2").state == "unopened"


class TestReused:
    def test_exported(self, story: Story) -> None:
        story.reserve(registrations=[A])
        event = story.ledger.record_export("s", "maria")
        state = story.state()
        assert (state.state, state.why) == ("reused", f"exported to maria as event {event.seq} of {event.at[:10]}")

    def test_retired(self, story: Story) -> None:
        story.reserve(registrations=[A])
        story.ledger.retire("s", "two years old")
        assert story.state().state == "reused"
        assert story.state().why.startswith("retired as event 3")

    def test_a_configuration_registered_after_the_first_opening(self, story: Story) -> None:
        story.reserve(registrations=[A])
        story.open()
        assert story.state(study="b", config="b1", plan="q1").state == "reused"
        story.ledger.register("s", [B])
        state = story.state(study="b", config="b1", plan="q1")
        assert state.state == "reused"
        assert "first opened as event 3" in state.why
        assert "before this configuration and plan were registered" in state.why

    def test_a_plan_registered_after_the_first_read(self, story: Story) -> None:
        story.reserve(registrations=[A])
        story.read()
        story.ledger.register("s", [replace(A, plan_digest="p2")])
        state = story.state(plan="p2")
        assert state.state == "reused"
        assert state.why.startswith("first read as event 3")
        assert "before this plan was registered" in state.why
        assert story.state(plan="p1").state == "unopened"

    def test_a_study_that_first_appears_after_the_first_read(self, story: Story) -> None:
        story.reserve(registrations=[A])
        story.read()
        story.ledger.register("s", [B])
        assert story.state(study="b", config="b1", plan="q1").state == "reused"

    def test_a_known_configuration_under_a_plan_registered_after_the_opening(self, story: Story) -> None:
        story.reserve(registrations=[A, B])
        story.open()
        story.ledger.register("s", [replace(B, plan_digest="q2")])
        assert story.state(study="b", config="b1", plan="q2").state == "reused"
        assert story.state(study="b", config="b1", plan="q1").state == "unopened"

    def test_a_table_whose_score_rows_came_after_the_opening(self, story: Story) -> None:
        empty = Registration("t", "t without rows", "q1", scores_digest=None)
        story.reserve(registrations=[A, empty])
        story.open()
        story.ledger.register("s", [Registration("t", "t with rows", "q1", scores_digest="rows")])
        assert story.state(study="t", config="t with rows", plan="q1").state == "reused"

    def test_an_empty_table_that_its_filled_form_superseded(self, story: Story) -> None:
        empty = Registration("t", "t without rows", "q1", scores_digest=None)
        story.reserve(registrations=[A, empty])
        story.ledger.register("s", [Registration("t", "t with rows", "q1", scores_digest="rows")])
        story.open()
        assert story.state(study="t", config="t with rows", plan="q1").state == "unopened"
        assert story.state(study="t", config="t without rows", plan="q1").state == "reused"

    def test_a_diagnostic_opening_spends_the_set_for_those_who_come_after_it(self, story: Story) -> None:
        story.reserve(registrations=[A])
        story.open(study="d", config="d1", plan="q1", purpose="diagnostic")
        assert story.state(study="b", config="b1", plan="q1").state == "reused"
        assert story.state(study="d", config="d1", plan="q1").state == "reused"
        assert story.state().state == "unopened"
        assert story.open().kind == "opened"


class TestWithoutADatabase:
    """The states are a function of events alone."""

    def event(self, seq: int, kind: str, **details: object) -> Event:
        at = f"2026-01-{seq:02d}T00:00:00.000000+00:00"
        return Event(seq, "s", kind, "a", "a1", None, "eve", at, dict(details), "", "")

    def test_the_same_events_give_the_same_state(self) -> None:
        events = (
            self.event(1, "reserved"),
            self.event(2, "registered", plan_digest="p1", scores_digest=None, for_status=True, role="holdout"),
            self.event(3, "opened", purpose="measurement", plan_digest="p1"),
        )
        history = History("s", "faithful", events)
        assert state_of(history, Subject("a", "a1", "p1")).state == "measured"
        assert state_of(history.until(3), Subject("a", "a1", "p1")).state == "unopened"
        assert state_of(history, Subject("b", "b1", "p1")).why == (
            "first opened as event 3 of 2026-01-03 for study a, before this configuration and plan were registered"
        )


def test_a_set_that_was_never_reserved_has_no_state(story: Story) -> None:
    with pytest.raises(UnknownSet, match="no set named 's'; no set was reserved yet"):
        story.state()
    story.reserve("other")
    with pytest.raises(UnknownSet, match="no set named 's'; it holds other"):
        story.state()
