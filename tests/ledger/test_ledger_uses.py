"""A set wears out: what it was used for, and whether its policy lets one more configuration open it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from ledger_story import A, B, Story

from calib_pipeline.ledger import Limits, Registration, uses

C = Registration("c", "c1", "r1")
ALL = [A, B, C]


@pytest.fixture
def frozen(story: Story) -> Story:
    """A set on which three studies are frozen."""
    story.reserve(registrations=ALL)
    return story


def days_later(monkeypatch: pytest.MonkeyPatch, days: float) -> None:
    monkeypatch.setattr(uses, "now", lambda: datetime.now(UTC) + timedelta(days=days))


def opened(story: Story, study: str, config: str, plan: str, **limits: int) -> str:
    return story.open(study=study, config=config, plan=plan, limits=Limits(**limits)).kind  # type: ignore[arg-type]


def test_the_uses_are_those_before_the_opening(frozen: Story) -> None:
    frozen.read()
    frozen.read()
    first = frozen.open()
    frozen.read(study="b", config="b1")
    second = frozen.open(study="b", config="b1", plan="q1")
    frozen.read()
    for outcome, measured, reads in ((first, 0, 2), (second, 1, 3)):
        found = frozen.ledger.uses("s", outcome.head)
        assert found is not None
        assert (found.configurations_measured, found.reads, found.age_days) == (measured, reads, 0.0)
    assert frozen.ledger.uses("s", None) is None


def test_a_diagnostic_opening_is_no_measurement(frozen: Story) -> None:
    frozen.open(purpose="diagnostic")
    second = frozen.open(study="b", config="b1", plan="q1")
    found = frozen.ledger.uses("s", second.head)
    assert found is not None and found.configurations_measured == 0


def test_no_more_configurations_open_it_than_its_policy_allows(frozen: Story) -> None:
    assert opened(frozen, "a", "a1", "p1", max_measurements=2) == "opened"
    assert opened(frozen, "b", "b1", "q1", max_measurements=2) == "opened"
    events = frozen.ledger.events()
    refused = frozen.open(study="c", config="c1", plan="r1", limits=Limits(max_measurements=2))  # type: ignore[arg-type]
    assert (refused.kind, refused.head) == ("refused", None)
    assert refused.why == (
        "past what its policy allows: 2 configurations were measured on it, and holdout.max_measurements is 2"
    )
    assert frozen.ledger.events() == events


def test_what_measured_already_is_not_stopped_by_itself_or_by_who_came_later(frozen: Story) -> None:
    opened(frozen, "a", "a1", "p1", max_measurements=2)
    opened(frozen, "b", "b1", "q1", max_measurements=2)
    assert opened(frozen, "a", "a1", "p1", max_measurements=1) == "repeat"
    for config in ("a1", "b1"):
        assert frozen.ledger.allowance("s", config, Limits(max_measurements=2)).why_not is None
    assert frozen.ledger.allowance("s", "c1", Limits(max_measurements=2)).measured == 2


@pytest.mark.parametrize(("days", "kind"), [(29.9, "opened"), (30.1, "refused")])
def test_it_is_opened_within_its_days_or_not_at_all(
    days: float, kind: str, frozen: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    days_later(monkeypatch, days)
    assert opened(frozen, "a", "a1", "p1", max_age_days=30) == kind


def test_a_measurement_is_as_old_as_it_was_at_its_opening(frozen: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    first = frozen.open()
    before = frozen.ledger.allowance("s", "a1", Limits(max_age_days=30))
    days_later(monkeypatch, 400)
    assert frozen.ledger.allowance("s", "a1", Limits(max_age_days=30)) == before
    assert opened(frozen, "a", "a1", "p1", max_age_days=30) == "repeat"
    late = frozen.ledger.allowance("s", "b1", Limits(max_age_days=30))
    assert not late.in_time
    assert late.why_not is not None and late.why_not.endswith("and holdout.max_age_days is 30")
    # as of an opening in the past, the clock says nothing
    assert frozen.ledger.allowance("s", "b1", Limits(max_age_days=30), first.head).in_time


def test_a_diagnostic_opening_is_not_held_against_the_policy(frozen: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    days_later(monkeypatch, 400)
    assert frozen.open(purpose="diagnostic", limits=Limits(max_age_days=30)).kind == "opened"  # type: ignore[arg-type]
