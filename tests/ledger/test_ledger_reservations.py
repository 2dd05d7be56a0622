"""Reserving sets, and what makes their items spent under whatever name."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ledger_story import A, B, Story

from calib_pipeline.ledger import Construct, LedgerError, Registration, ReservedItem, SetDraw

A2 = replace(A, config_digest="a2")


class TestReserving:
    def test_a_set_comes_back_as_it_was_drawn(self, story: Story) -> None:
        items = (
            ReservedItem("007", "c7", "hard", "talk-1", 1, True),
            ReservedItem("7", None, "easy", None, 2, False),
            ReservedItem("7.0", "c70", "easy", None, 1, True),
        )
        draw = SetDraw("s", "faithful", "pop", "digest", 3, 7, items, {"sampling": "bottom-k"})
        event = story.ledger.reserve(draw, [A], run_id="run", actor="ana")
        standing = story.ledger.current_set("faithful", "pop")
        assert standing is not None
        assert standing.items == (items[2], items[1], items[0]) == story.ledger.items("s")
        assert standing == story.ledger.reserved_set("s")
        assert (standing.generation, standing.seed, standing.size) == (3, 7, 3)
        assert (standing.reserved_seq, standing.reserved_at) == (event.seq, event.at)
        assert standing.details == {"sampling": "bottom-k"}
        assert (event.run_id, event.actor) == ("run", "ana")

    def test_registers_everyone_in_the_same_transaction(self, story: Story) -> None:
        with pytest.raises(LedgerError, match="role of study b must be holdout or fitted"):
            story.reserve(registrations=[A, replace(B, role="train")])  # type: ignore[arg-type]
        assert story.ledger.events() == []
        assert story.ledger.verify() == []

    def test_the_same_draw_again_adds_only_who_is_missing(self, story: Story) -> None:
        story.reserve(registrations=[A])
        story.reserve(registrations=[A, B], items=["i1", "i2", "i3"])
        assert [(event.event, event.study) for event in story.ledger.events()] == [
            ("reserved", None),
            ("registered", "a"),
            ("registered", "b"),
        ]

    def test_a_set_never_changes(self, story: Story) -> None:
        story.reserve(items=["i1", "i2"])
        with pytest.raises(LedgerError, match=r"stands since event 1 of .* with other items"):
            story.reserve(items=["i1", "i3"])

    def test_a_generation_is_drawn_once(self, story: Story) -> None:
        story.reserve("s1")
        with pytest.raises(LedgerError, match="generation 1 of faithful on pop stands already as set s1"):
            story.reserve("s2", items=["j1"])

    def test_the_newest_generation_is_the_current_one(self, story: Story) -> None:
        assert story.ledger.current_set("faithful", "pop") is None
        story.reserve("s1")
        story.reserve("s2", items=["j1"], generation=2)
        story.reserve("t", items=["k1"], dimension="tone")
        current = story.ledger.current_set("faithful", "pop")
        assert current is not None
        assert current.holdout_id == "s2"
        assert [header.holdout_id for header in story.ledger.sets()] == ["s1", "s2", "t"]

    @pytest.mark.parametrize(
        ("items", "message"),
        [
            ((), "would hold no item"),
            ((ReservedItem("i", None, "s", None, 1, True),) * 2, "names item 'i' twice"),
            ((ReservedItem(7, None, "s", None, 1, True),), r"item_id must be text, got 7 \(int\)"),  # type: ignore[arg-type]
            ((ReservedItem("i", float("nan"), "s", None, 1, True),), "content_digest of item 'i' must be text"),  # type: ignore[arg-type]
            ((ReservedItem("\udc80", None, "s", None, 1, True),), "no valid Unicode"),
        ],
    )
    def test_a_draw_that_cannot_stand_is_refused(
        self, story: Story, items: tuple[ReservedItem, ...], message: str
    ) -> None:
        with pytest.raises(LedgerError, match=message):
            story.ledger.reserve(SetDraw("s", "faithful", "pop", "digest", 1, 7, items), [A])
        assert story.ledger.sets() == []

    def test_details_do_not_overrule_what_the_ledger_writes(self, story: Story) -> None:
        with pytest.raises(LedgerError, match="may not hold plan_digest, role"):
            story.reserve(registrations=[replace(A, details={"role": "holdout", "plan_digest": "p9"})])


class TestRegistering:
    def test_writes_only_what_is_new(self, story: Story) -> None:
        story.reserve(registrations=[A])
        assert story.ledger.register("s", [A]) == []
        (event,) = story.ledger.register("s", [A, B, B])
        assert (event.study, event.config_digest) == ("b", "b1")
        assert event.details == {"plan_digest": "q1", "scores_digest": None, "for_status": True, "role": "holdout"}

    @pytest.mark.parametrize(
        "changed",
        [{"config_digest": "x"}, {"plan_digest": "x"}, {"scores_digest": "x"}, {"for_status": False}],
    )
    def test_every_change_is_new(self, story: Story, changed: dict[str, object]) -> None:
        story.reserve(registrations=[A])
        assert len(story.ledger.register("s", [replace(A, **changed)])) == 1  # type: ignore[arg-type]


class TestSpentItems:
    def spent(self, story: Story, *registrations: Registration, dimension: str = "faithful") -> set[str]:
        return set(story.ledger.spent_items(dimension, registrations).ids)

    def test_nothing_is_spent_before_anything_happens(self, story: Story) -> None:
        story.reserve(registrations=[A])
        assert self.spent(story, A, B) == set()

    def test_an_opening_spends_for_who_was_not_registered(self, story: Story) -> None:
        story.reserve(registrations=[A, B])
        story.open()
        assert self.spent(story, A, B) == set()
        assert self.spent(story, A, A2) == {"i1", "i2", "i3"}

    @pytest.mark.parametrize("dimension", ["faithful", "renamed"])
    def test_whatever_the_dimension_is_called(self, story: Story, dimension: str) -> None:
        story.reserve(registrations=[A])
        story.open()
        assert self.spent(story, A2, dimension=dimension) == {"i1", "i2", "i3"}

    @pytest.mark.parametrize("dimension", ["faithful", "renamed"])
    def test_an_export_a_retirement_and_fitting_spend(self, story: Story, dimension: str) -> None:
        for name in ("e", "r", "f", "kept"):
            story.reserve(name, [A], items=[f"{name}1"], dimension=f"d-{name}")
        story.ledger.record_export("e", "maria")
        story.ledger.retire("r", "old")
        story.ledger.mark_fitted("f", everyone=True, reason="tutorial")
        assert self.spent(story, A, dimension=dimension) == {"e1", "r1", "f1"}

    def test_a_plan_that_was_edited_after_the_first_read_spends(self, story: Story) -> None:
        story.reserve(registrations=[A])
        story.read()
        assert self.spent(story, A) == set()
        assert self.spent(story, replace(A, plan_digest="p2")) == {"i1", "i2", "i3"}
        assert self.spent(story, replace(A, plan_digest="p2"), dimension="renamed") == {"i1", "i2", "i3"}

    def test_a_read_gives_nothing_away_about_another_dimension(self, story: Story) -> None:
        story.reserve(registrations=[A])
        story.read()
        assert self.spent(story, B, dimension="tone") == set()
        assert self.spent(story, B, dimension="faithful") == {"i1", "i2", "i3"}

    def test_a_fitted_study_asks_for_nothing(self, story: Story) -> None:
        story.reserve(registrations=[A])
        story.open()
        assert self.spent(story, replace(B, role="fitted")) == set()

    def test_content_is_spent_under_any_id(self, story: Story) -> None:
        story.reserve(registrations=[A], items=[("i1", "text one"), ("i2", "text two")])
        story.open()
        spent = story.ledger.spent_items("faithful", [A2])
        assert spent.content == {"text one", "text two"}
        assert spent.holds("renamed", "text one")
        assert spent.holds("i1", None)
        assert not spent.holds("i3", None)


class TestRenaming:
    """The same items under another name are the same items."""

    @pytest.mark.parametrize("item", [("i1", "edited text"), ("renamed", "text one")])
    @pytest.mark.parametrize("dimension", ["faithful", "renamed"])
    def test_a_spent_item_is_not_reserved_again(self, story: Story, item: tuple[str, str], dimension: str) -> None:
        story.reserve("s", [A], items=[("i1", "text one"), ("i2", "text two")])
        story.open()
        with pytest.raises(LedgerError, match=r"1 of its items is also in set s .* for study a that set is spent"):
            story.reserve("laundered", [A2], items=[("j1", "new"), item], dimension=dimension, generation=2)
        assert story.count("reserved") == 1

    def test_an_item_that_only_this_configuration_measured_may_stay(self, story: Story) -> None:
        story.reserve("s", [A])
        story.open()
        story.reserve("grown", [A], items=["i1", "j1"], population="grown")
        outcome = story.open("grown")
        assert (outcome.kind, outcome.attempts) == ("opened", 1)

    @pytest.mark.parametrize("dimension", ["faithful", "tone"])
    def test_sets_reserved_side_by_side_spend_each_other_for_what_came_later(
        self, story: Story, dimension: str
    ) -> None:
        generation = 2 if dimension == "faithful" else 1
        story.reserve("s", [A], items=["i1", "i2"])
        story.reserve("twin", [B], items=["i2", "i3"], dimension=dimension, generation=generation)
        story.open("s")
        story.ledger.register("twin", [A2])
        state = story.state("twin", config="a2")
        assert state.state == "reused"
        assert state.why.startswith("1 of its items is also in set s (such as 'i2'), and that set was first opened as")
        assert story.open("twin", config="a2").kind == "refused"
        assert story.ledger.spent_in("twin", A2) == ("i2",)

    def test_the_same_text_under_two_ids_is_one_item(self, story: Story) -> None:
        story.reserve("s", [A], items=[("i1", "one text")])
        story.reserve("twin", [B], items=[("j1", "one text"), ("j2", "another")], dimension="tone")
        story.open("s")
        story.ledger.register("twin", [A2])
        state = story.state("twin", config="a2")
        assert state.state == "reused"
        assert state.why.startswith("1 of its items is also in set s (such as 'j1')")

    def test_what_was_frozen_on_the_other_set_before_may_be_measured_there(self, story: Story) -> None:
        story.reserve("s", [A], items=["i1", "i2"])
        story.reserve("twin", [B], items=["i2", "i3"], dimension="tone")
        story.open("s")
        assert story.ledger.spent_in("twin", B) == ()
        assert story.open("twin", study="b", config="b1", plan="q1").kind == "opened"

    def test_an_export_of_one_name_is_an_export_of_the_other(self, story: Story) -> None:
        story.reserve("s", [A], items=["i1", "i2"])
        story.reserve("twin", [B], items=["i2", "i3"], dimension="tone")
        story.ledger.record_export("s", "maria")
        state = story.state("twin", study="b", config="b1", plan="q1")
        assert state.state == "reused"
        assert "that set was exported to maria" in state.why
        assert story.ledger.spent_in("twin", B) == ("i2",)

    def test_what_shaped_a_scorer_shaped_it_under_every_name(self, story: Story) -> None:
        story.reserve("s", [A], items=["i1", "i2"])
        story.reserve("twin", [A], items=["i2", "i3"], dimension="tone")
        story.ledger.mark_fitted("s", studies=["a"], reason="tuned")
        assert story.state("twin").state == "fitted"
        assert "1 of its items is also in set s" in story.state("twin").why


def texts(**digests: str) -> tuple[ReservedItem, ...]:
    """Items by their texts' digests."""
    return tuple(
        ReservedItem(item_id, None, "all", None, rank, False, text)
        for rank, (item_id, text) in enumerate(digests.items(), start=1)
    )


def draw_of(holdout_id: str, items: tuple[ReservedItem, ...], dimension: str, generation: int = 1) -> SetDraw:
    return SetDraw(holdout_id, dimension, "pop", "digest", generation, 7, items)


class TestTwins:
    """An item whose normalised text is that of another is the other, whatever its id and content digest."""

    def test_a_set_comes_back_with_them_and_its_details_as_they_were_handed_in(self, story: Story) -> None:
        story.ledger.reserve(draw_of("s", texts(i1="one", i2="two"), "faithful"), [A])
        assert story.ledger.items("s") == texts(i1="one", i2="two")
        assert story.ledger.reserved_set("s").details == {}
        assert story.ledger.verify() == []

    def test_of_a_spent_item_are_spent_and_not_reserved(self, story: Story) -> None:
        story.ledger.reserve(draw_of("s", texts(i1="one", i2="two"), "faithful"), [A])
        story.open()
        spent = story.ledger.spent_items("tone", [A2])
        assert spent.holds("j1", None, "one") and not spent.holds("j1", None, "three") and not spent.holds("j1", None)
        with pytest.raises(LedgerError, match=r"1 of its items is also in set s \(such as 'j1'\)"):
            story.ledger.reserve(draw_of("t", texts(j1="one", j2="three"), "tone"), [A2])

    def test_in_a_standing_set_spend_it_for_what_came_later(self, story: Story) -> None:
        story.ledger.reserve(draw_of("s", texts(i1="one", i2="two"), "faithful"), [A])
        story.ledger.reserve(draw_of("t", texts(j1="one", j2="three"), "tone"), [B])
        assert story.ledger.sharing("t") == {"s": {"j1"}}
        story.open("s")
        story.ledger.register("t", [A2])
        assert story.state("t", config="a2").state == "reused"
        assert story.ledger.spent_in("t", A2) == ("j1",)
        assert story.open("t", study="b", config="b1", plan="q1").attempts == 1


WHY = {"faithful": "raters of the tone never saw the source"}
TONE = replace(B, construct=Construct("rubric of tone", WHY))
FAITHFUL = replace(A, construct=Construct("rubric of faithful"))


class TestAnotherConstruct:
    """A declared reason, and another rubric, make another dimension's openings no reason."""

    def spent(self, story: Story, *who: Registration) -> set[str]:
        return set(story.ledger.spent_items("tone", who).ids)

    def test_its_items_are_drawn_and_measured(self, story: Story) -> None:
        story.reserve("s", [FAITHFUL])
        story.open("s")
        assert self.spent(story, TONE) == set()
        story.reserve("t", [TONE], dimension="tone")
        state = story.state("t", "b", "b1", "q1")
        assert state.state == "unopened"
        assert state.why.endswith("spent for faithful, which is declared another construct: " + WHY["faithful"])
        outcome = story.open("t", "b", "b1", "q1")
        assert (outcome.kind, outcome.attempts) == ("opened", 1)
        assert story.ledger.verify() == []

    @pytest.mark.parametrize(
        ("said", "why"),
        [
            (Construct("rubric of tone"), "does not say why faithful is another construct"),
            (Construct("rubric of tone", {"helpful": "helpful is not faithful"}), "does not say why faithful is"),
            (Construct("rubric of faithful", WHY), "the rubric is that of faithful, as study a registered it in event"),
            (Construct(None, WHY), "the ledger does not know the rubric of faithful"),
        ],
    )
    def test_nothing_less_will_do(self, story: Story, said: Construct, why: str) -> None:
        story.reserve("s", [FAITHFUL])
        story.open("s")
        who = replace(TONE, construct=said)
        assert self.spent(story, who) == {"i1", "i2", "i3"}
        with pytest.raises(LedgerError, match=why):
            story.reserve("t", [who], dimension="tone")
        assert story.count("reserved") == 1

    def test_a_rubric_of_an_older_ledger_cannot_be_told_from_any(self, story: Story) -> None:
        story.reserve("s", [A])
        story.open("s")
        assert self.spent(story, TONE) == {"i1", "i2", "i3"}

    def test_a_third_dimension_that_opened_them_must_be_named_too(self, story: Story) -> None:
        helpful = Registration("h", "h1", "r1", construct=Construct("rubric of helpful"))
        story.reserve("s", [FAITHFUL])
        story.reserve("h", [helpful], items=["i3"], dimension="helpful")
        story.open("s")
        story.open("h", "h", "h1", "r1", registrations=[helpful])
        assert self.spent(story, TONE) == {"i3"}

    def test_its_own_openings_exports_and_fitting_stay_what_they_are(self, story: Story) -> None:
        for name in ("own", "e", "r", "f"):
            dimension = "tone" if name == "own" else "faithful"
            story.reserve(name, [FAITHFUL], items=[f"{name}1"], dimension=dimension, population=name)
        story.open("own")
        story.ledger.record_export("e", "maria")
        story.ledger.retire("r", "old")
        story.ledger.mark_fitted("f", everyone=True, reason="tutorial")
        assert self.spent(story, TONE) == {"own1", "e1", "r1", "f1"}

    def test_an_opening_needs_the_reason_that_was_registered(self, story: Story) -> None:
        story.reserve("t", [replace(TONE, config_digest="b0")], dimension="tone")
        story.reserve("s", [FAITHFUL])
        story.open("s")
        silent = replace(TONE, construct=Construct("rubric of tone"))
        story.ledger.register("t", [silent])
        assert story.open("t", "b", "b1", "q1").kind == "refused"
        said = replace(TONE, plan_digest="q2")
        story.ledger.register("t", [said])
        assert story.open("t", "b", "b1", "q2", registrations=[said]).kind == "opened"
        assert story.ledger.verify() == []

    def test_the_rubrics_are_compared_over_all_sets_of_the_other_dimension(self, story: Story) -> None:
        story.reserve("s", [FAITHFUL], items=["k1"])
        [said] = story.ledger.same_constructs([replace(TONE, construct=Construct("rubric of faithful", WHY))])
        assert said.startswith("study b declares faithful another construct, but the rubric is that of faithful")
        assert story.ledger.same_constructs([TONE]) == []


class TestSpentInAStandingSet:
    def test_all_after_an_export_and_none_after_a_measurement(self, story: Story) -> None:
        story.reserve(registrations=[A, B])
        story.open()
        story.ledger.record_export("s", "maria")
        assert story.ledger.spent_in("s", A) == ()
        assert story.ledger.spent_in("s", B) == ("i1", "i2", "i3")

    def test_its_own_opening_is_a_matter_of_the_state(self, story: Story) -> None:
        story.reserve(registrations=[A])
        story.open()
        assert story.ledger.spent_in("s", B) == ()
        assert story.state(study="b", config="b1", plan="q1").state == "reused"
