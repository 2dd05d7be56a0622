"""Short ways to say what happens to a set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from calib_pipeline.ledger import (
    Ledger,
    Opening,
    OpeningOutcome,
    Registration,
    ReservedItem,
    SetDraw,
    SetState,
)

A = Registration("a", "a1", "p1")
B = Registration("b", "b1", "q1")


@dataclass(frozen=True)
class Story:
    """One ledger, told in the words of the tests: study ``a`` has configuration ``a1`` and plan ``p1`` if not said."""

    ledger: Ledger
    url: str

    def reserve(
        self,
        holdout_id: str = "s",
        registrations: Sequence[Registration] = (),
        *,
        items: Sequence[str | tuple[str, str]] = ("i1", "i2", "i3"),
        dimension: str = "faithful",
        population: str = "pop",
        population_digest: str | None = None,
        generation: int = 1,
    ) -> None:
        self.ledger.reserve(
            SetDraw(
                holdout_id=holdout_id,
                dimension=dimension,
                population=population,
                population_digest=population_digest or f"digest of {population}",
                generation=generation,
                seed=7,
                items=tuple(reserved(items)),
            ),
            registrations,
        )

    def read(self, holdout_id: str = "s", study: str = "a", config: str = "a1") -> None:
        self.ledger.record_read(holdout_id, study, config, "ceiling")

    def state(
        self, holdout_id: str = "s", study: str = "a", config: str = "a1", plan: str = "p1", role: str = "holdout"
    ) -> SetState:
        return self.ledger.state(holdout_id, study=study, config_digest=config, plan_digest=plan, role=role)  # type: ignore[arg-type]

    def open(
        self,
        holdout_id: str = "s",
        study: str = "a",
        config: str = "a1",
        plan: str = "p1",
        *,
        registrations: Sequence[Registration] = (),
        **changed: str,
    ) -> OpeningOutcome:
        opening = Opening(study, config, plan, "holdout", "labels", "scores")
        return self.ledger.open_set(holdout_id, replace(opening, **changed), registrations)  # type: ignore[arg-type]

    def count(self, event: str) -> int:
        return sum(entry.event == event for entry in self.ledger.events())


def reserved(items: Sequence[str | tuple[str, str]]) -> Iterator[ReservedItem]:
    for rank, item in enumerate(items, start=1):
        item_id, content = item if isinstance(item, tuple) else (item, None)
        yield ReservedItem(item_id, content, "all", None, rank, rank <= 2)


def tell(story: Story) -> Story:
    """Six events: reserved, registered, registered, read, opened, exported."""
    story.reserve(registrations=[A, B], items=[("i1", "text one"), ("i2", "text two"), "i3"])
    story.read()
    story.open()
    story.ledger.record_export("s", "maria")
    assert story.ledger.verify() == []
    return story
