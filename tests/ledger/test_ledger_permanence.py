"""Ineligibility is permanent: whatever is called in whatever order, nothing clears it."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from ledger_story import Story
from postgresql_server import Server

from calib_pipeline.ledger import Ledger, LedgerError, Registration
from calib_pipeline.ledger.states import Subject, state_of

STUDIES, CONFIGS, PLANS, SETS = ("a", "b"), ("c1", "c2"), ("p1", "p2"), ("s1", "s2", "s3")
SUBJECTS = [Subject(*parts) for parts in itertools.product(STUDIES, CONFIGS, PLANS)]
ITEMS = {"s1": ["i1", "i2"], "s2": ["i2", "i3"], "s3": [("renamed", "text of i4"), "i5"]}
PERMANENT = {"fitted": {"fitted"}, "reused": {"reused", "fitted"}, "measured": {"measured", "fitted"}}

registrations = st.builds(
    Registration,
    study=st.sampled_from(STUDIES),
    config_digest=st.sampled_from(CONFIGS),
    plan_digest=st.sampled_from(PLANS),
    scores_digest=st.sampled_from([None, None, "scores"]),
    for_status=st.booleans(),
    role=st.sampled_from(["holdout"] * 9 + ["fitted"]),
)


class AnySequenceOfCalls(RuleBasedStateMachine):
    """Every subject's state on every set, after every call, against what it was before."""

    def __init__(self, new_address: Callable[[], AbstractContextManager[str]]) -> None:
        super().__init__()
        self.new_address = new_address

    @initialize()
    def begin(self) -> None:
        self.opened = ExitStack()
        url = self.opened.enter_context(self.new_address())
        self.story = Story(Ledger.open(url), url)
        self.before: dict[tuple[str, Subject], str] = {}
        self.reserved: set[str] = set()
        self.measurements: set[tuple[str, str]] = set()

    def teardown(self) -> None:
        if hasattr(self, "story"):
            assert self.story.ledger.verify() == []
            self.story.ledger.close()
            self.opened.close()

    @precondition(lambda self: len(self.reserved) < len(SETS))
    @rule(name=st.sampled_from(SETS), who=st.lists(registrations, max_size=2))
    def reserve(self, name: str, who: list[Registration]) -> None:
        with suppress(LedgerError):
            items = ITEMS[name]
            dimension = "tone" if name == "s2" else "faithful"
            self.story.reserve(name, who, items=items, dimension=dimension, generation=SETS.index(name) + 1)
            self.reserved.add(name)

    @precondition(lambda self: self.reserved)
    @rule(data=st.data(), who=registrations)
    def register(self, data: st.DataObject, who: Registration) -> None:
        self.story.ledger.register(self.some_set(data), [who])

    @precondition(lambda self: self.reserved)
    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        self.story.read(self.some_set(data))

    @precondition(lambda self: self.reserved)
    @rule(
        data=st.data(),
        subject=st.sampled_from(SUBJECTS),
        purpose=st.sampled_from(["measurement", "measurement", "diagnostic"]),
        who=st.lists(registrations, max_size=2),
    )
    def open(self, data: st.DataObject, subject: Subject, purpose: str, who: list[Registration]) -> None:
        name = self.some_set(data)
        own = Registration(subject.study, subject.config_digest, subject.plan_digest, scores_digest="scores")
        state = self.story.state(name, subject.study, subject.config_digest, subject.plan_digest).state
        with suppress(LedgerError):
            outcome = self.story.open(
                name,
                subject.study,
                subject.config_digest,
                subject.plan_digest,
                registrations=[*who, own],
                purpose=purpose,
            )
            if purpose == "measurement":
                assert (outcome.kind == "opened") == (state == "unopened")
                assert (outcome.kind == "repeat") == (state == "measured")
                if outcome.kind == "opened":
                    assert (name, subject.config_digest) not in self.measurements
                    self.measurements.add((name, subject.config_digest))

    @precondition(lambda self: self.reserved)
    @rule(data=st.data(), what=st.sampled_from(["export", "retire", "study", "config", "everyone"]))
    def spend(self, data: st.DataObject, what: str) -> None:
        name, ledger = self.some_set(data), self.story.ledger
        match what:
            case "export":
                ledger.record_export(name, "maria")
            case "retire":
                ledger.retire(name, "old")
            case "study":
                ledger.mark_fitted(name, studies=["a"], reason="tuned")
            case "config":
                ledger.mark_fitted(name, config_digests=["c2"], reason="tuned")
            case "everyone":
                ledger.mark_fitted(name, everyone=True, reason="tuned")

    @invariant()
    def nothing_is_cleared(self) -> None:
        if not hasattr(self, "story"):
            return
        with self.story.ledger._database.reading() as journal:
            for name in self.reserved:
                history, overlaps = journal.history(name), journal.overlaps(name)
                for subject in SUBJECTS:
                    state = state_of(history, subject, overlaps).state
                    before = self.before.get((name, subject), "unopened")
                    assert state in PERMANENT.get(before, {state}), f"{subject} on {name}: {before} became {state}"
                    self.before[name, subject] = state

    def some_set(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(sorted(self.reserved)))


def settings_of(examples: int) -> settings:
    return settings(
        max_examples=examples, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
    )


@contextmanager
def in_a_folder() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{Path(folder) / 'ledger.db'}"


@pytest.mark.slow
def test_any_sequence_of_calls_in_a_file() -> None:
    run_state_machine_as_test(lambda: AnySequenceOfCalls(in_a_folder), settings=settings_of(20))


@pytest.mark.slow
def test_any_sequence_of_calls_on_a_server(postgresql: Server) -> None:
    run_state_machine_as_test(lambda: AnySequenceOfCalls(postgresql.schema), settings=settings_of(8))


def test_an_edit_on_one_set_does_not_supersede_what_another_froze(story: Story) -> None:
    """Judging both sets' registrations as one would call the twin reused, and measuring the first would clear it."""
    first = Registration("a", "c1", "p1")
    story.reserve("s1", [first], items=["i1", "i2"])
    story.reserve("s2", [replace(first, plan_digest="p2")], items=["i2", "i3"], dimension="tone")
    story.read("s1")
    assert story.state("s2", config="c1", plan="p1").state == "unopened"
    story.open("s1", config="c1")
    assert story.state("s2", config="c1", plan="p1").state == "unopened"


def test_a_state_belongs_to_a_configuration_and_plan_whoever_asks(story: Story) -> None:
    """If each study had a state of its own, one study's measurement would clear another's reuse."""
    story.reserve(registrations=[Registration("a", "c1", "p1"), Registration("b", "c2", "p2")])
    story.open("s", "a", "c1", "p1")
    assert story.state("s", "a", "c2", "p2").state == "unopened"
    story.open("s", "b", "c2", "p2")
    assert story.state("s", "a", "c2", "p2").state == "measured"
