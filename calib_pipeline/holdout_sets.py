"""The held-out sets of a project: which one serves a cell, what is declared on it, and the draw of the next one."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from calib_pipeline.chain import Declared
from calib_pipeline.cohorts import strata_by_cohort
from calib_pipeline.digests import digest_json
from calib_pipeline.errors import InputError, Unreadable
from calib_pipeline.evidence.holdout_reservation import HoldoutFacts
from calib_pipeline.evidence.twins import twins_outside
from calib_pipeline.evidence_store import EvidenceStore
from calib_pipeline.kept_versions import VersionArchive
from calib_pipeline.ledger import Construct, HoldoutSet, Ledger, Limits, Registration, ReservedItem, SetDraw, SpentItems
from calib_pipeline.sampling import draw_holdout
from calib_pipeline.tables.item_texts import NORMALISED
from calib_pipeline.tables.normalised_text import normalised_text_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from calib_pipeline.cell import Cell
    from calib_pipeline.ledger import SetState
    from calib_pipeline.studies.project import Project
    from calib_pipeline.studies.study import Study
    from calib_pipeline.table_cache import TableCache
    from calib_pipeline.tables.items import Manifest

SERVES = {"holdout": ("unopened", "measured"), "fitted": ("fitted", "unopened", "measured", "reused")}
"""The states in which a set serves a study of each role."""
REQUESTED, EXCLUDED, STRATA, POPULATION_ITEMS = "requested", "excluded", "strata", "population_items"
"""What the ledger's details say of a draw: what was asked for, how many spent items were left out, the items of the
population in each stratum where cohorts split them, and the digest of the table of its items in the evidence store."""
IDENTITY = ("item_id", "content_digest", NORMALISED)
"""The columns by which an item is recognised; the last where texts are known."""
RECHECK = "recheck"
"""What the ledger's details say of a generation that was drawn to measure again."""
FROM_OTHER_CONSTRUCTS = "from_other_constructs"
"""In the ledger's details: how many items of a draw were spent for each dimension declared another construct."""
LEFT_OUT_FOR = "left_out_for"
"""In the ledger's details of a draw that came short: how many items it left out for another dimension alone."""


class HoldoutSets:
    """The sets of a project's ledger, seen from the studies that are declared now.

    A set and what is declared on it are read once: all rungs of a run rest on the same declarations.
    """

    def __init__(self, project: Project, ledger: Ledger, tables: TableCache) -> None:
        self._project = project
        self._ledger = ledger
        self._tables = tables
        self._store = EvidenceStore(project.store)
        self._sets: dict[str, HoldoutSet] = {}
        self._declarations: dict[tuple[str, str, str], Declared] = {}
        self._serving: dict[tuple[Cell, str], HoldoutSet | None] = {}

    def serving(self, cell: Cell) -> HoldoutSet | None:
        """The study's set, or None where one must be drawn.

        A generation of this population version that the study has measured, else the oldest that still serves it: what
        another study made draw does not move it. A generation that was drawn for a re-check replaces both. A set that
        nobody opened and that was drawn to another request than the study now makes is drawn again: the draw is nested,
        so that a larger set of the same seed keeps the items that may be labeled already.
        """
        head = self._ledger.head()
        if (cell, head) not in self._serving:
            self._serving[cell, head] = self._found_serving(cell)
        return self._serving[cell, head]

    def for_run(self, cell: Cell, *, run_id: str | None, recheck: bool) -> HoldoutSet:
        """The set of a run: the one that serves the study, else the next generation, which is drawn.

        A re-check measures again what was measured, on a set that nobody has looked at. It also leaves a set that is
        past its limits, and nothing else does: such a set is retired, so that none of its items is drawn again.

        Raises
        ------
        InputError
            When every item is spent.
        """
        study, held = self._project.studies[cell.study], self.serving(cell)
        if held is None:
            return self.draw(cell, run_id=run_id, recheck=recheck)
        if not recheck:
            return held
        past = self.why_past(study, held)
        if past is not None:
            self._ledger.retire(held.holdout_id, past, run_id=run_id)
            return self.draw(cell, run_id=run_id, recheck=False)
        return self.draw(cell, run_id=run_id, recheck=True) if self.state(study, held).state == "measured" else held

    def _found_serving(self, cell: Cell) -> HoldoutSet | None:
        study, manifest = self._project.studies[cell.study], self._tables.manifest(cell.population)
        generations = [
            header
            for header in self._ledger.sets()
            if (header.dimension, header.population) == (study.dimension, cell.population)
        ]
        held = [self.of_id(one.holdout_id) for one in generations if one.population_digest == manifest.digest]
        states = [self.state(study, one).state for one in held]
        serving = [
            one
            for one, state in zip(held, states, strict=True)
            if state in SERVES[study.holdout.role] and (state != "unopened" or drawn_as_declared(study, one))
        ]
        if serving and serving[-1] is held[-1] and serving[-1].details.get(RECHECK):
            return serving[-1]
        measured = [one for one, state in zip(held, states, strict=True) if state == "measured"]
        return next(iter([*reversed(measured), *serving]), None)

    def newest(self, cell: Cell) -> HoldoutSet | None:
        """The last generation of the cell's dimension and population, whether it serves or not."""
        current = self._ledger.current_set(self._project.studies[cell.study].dimension, cell.population)
        return None if current is None else self.of_id(current.holdout_id)

    def of_id(self, holdout_id: str) -> HoldoutSet:
        """A set by its id; it never changes, so it is read once."""
        if holdout_id not in self._sets:
            self._sets[holdout_id] = self._ledger.reserved_set(holdout_id)
        return self._sets[holdout_id]

    def knows(self, holdout_id: str | None) -> bool:
        """Whether the ledger has a set of this id."""
        return holdout_id in self._sets or any(header.holdout_id == holdout_id for header in self._ledger.sets())

    def declared_on(self, study: Study, population: str, held: HoldoutSet | None) -> Declared:
        """What is declared for a study, as it would be measured on a set.

        Raises
        ------
        InputError
            When the population's table, the rubric, or the table of what the scorer was tuned on cannot be read.
        """
        key = (study.name, population, "" if held is None else held.holdout_id)
        if key not in self._declarations:
            scores = None if held is None else self._scores_digest(study, population, held)
            rubric, manifest = self._project.rubric_text(study), self._tables.manifest(population)
            strata = None if held is None else held.details.get(STRATA)
            tuned_on = self._tables.tuned_on(study, population)
            source = self._project.function_file(study)
            function = None if source is None else self._tables.digest(str(source))
            self._declarations[key] = Declared(study, rubric, manifest, scores, key[2], strata, tuned_on, function)
        return self._declarations[key]

    def registrations(self, cell: Cell, held: HoldoutSet | None) -> list[Registration]:
        """Every study on the cell's dimension and population, as frozen on a set."""
        return [self._registration(study, held, cell.population) for study in self._beside(cell)]

    def freeze(self, cell: Cell, held: HoldoutSet, *, run_id: str | None) -> None:
        """Register every study on the cell's dimension and population on a set, and keep what each of them says."""
        versions = VersionArchive(self._store)
        for study in self._beside(cell):
            versions.keep(self.declared_on(study, cell.population, held))
        self._ledger.register(held.holdout_id, self.registrations(cell, held), run_id=run_id)

    def state(self, study: Study, held: HoldoutSet) -> SetState:
        """What a set is for a study as declared now."""
        mine = self._registration(study, held, held.population)
        return self._ledger.state(
            held.holdout_id,
            study=study.name,
            config_digest=mine.config_digest,
            plan_digest=mine.plan_digest,
            role=study.holdout.role,
            construct=mine.construct,
        )

    def facts(self, study: Study, held: HoldoutSet, opening: str | None = None) -> HoldoutFacts:
        """What the ledger says of a set for a study, as of the opening with a hash where there is one."""
        state = self.state(study, held)
        reused = state.state == "reused"
        mine = self._registration(study, held, held.population)
        return HoldoutFacts(
            holdout_id=held.holdout_id,
            generation=held.generation,
            registered=not reused,
            why_not=state.why if reused else None,
            spent=len(self._ledger.spent_in(held.holdout_id, mine)),
            allowance=self._ledger.allowance(held.holdout_id, mine.config_digest, limits_of(study), opening),
            uses=self._ledger.uses(held.holdout_id, opening),
            sealing=self._ledger.sealing(held.holdout_id, opening),
            from_other_constructs=held.details.get(FROM_OTHER_CONSTRUCTS, {}),
            left_out_for=held.details.get(LEFT_OUT_FOR, {}),
            twins=twins_outside(self._tables.manifest(held.population).frame, {item.item_id for item in held.items}),
        )

    def why_past(self, study: Study, held: HoldoutSet) -> str | None:
        """Why the declared limits keep a study from opening a set; None where they do not, or it has measured on it."""
        mine = self._registration(study, held, held.population)
        return self._ledger.allowance(held.holdout_id, mine.config_digest, limits_of(study)).why_not

    def draw(self, cell: Cell, *, run_id: str | None, recheck: bool) -> HoldoutSet:
        """Reserve the next generation from the items that are not spent for any study on the dimension.

        Raises
        ------
        InputError
            When every item is spent, the table of scores contradicts itself on the newest set, or a dimension that is
            declared another construct has the same rubric.
        """
        study, manifest = self._project.studies[cell.study], self._tables.manifest(cell.population)
        current = self._ledger.current_set(study.dimension, cell.population)
        if current is not None:
            self._refuse_contradictory_outputs(study, current)
        self._refuse_same_constructs(cell)
        generation = 1 if current is None else current.generation + 1
        spent, spent_ids = self._spent(cell, current)
        frame = manifest.frame
        requested = _request(study) | {"named_items": max(beside.ceiling.min_items for beside in self._beside(cell))}
        drawn_from = frame.assign(stratum=strata_by_cohort(frame, self._drawn_before(manifest, spent)))
        drawn = draw_holdout(drawn_from, **requested, spent=spent_ids)
        left_out_for = self._left_out_for(cell, spent_ids) if len(drawn) < study.holdout.size else {}
        if drawn.empty:
            raise InputError(
                f"no item of {cell.population!r} is left to reserve for {study.dimension!r}: "
                f"all {len(spent_ids)} are spent",
                expected="unspent items",
                todo=f"add items to the population and to its manifest{_or_say_why(left_out_for)}",
            )
        items = tuple(
            ReservedItem(
                row["item_id"], row["content_digest"], row["stratum"], row["group"], row["rank"], row["named"],
                row.get(NORMALISED),
            )
            for row in drawn.to_dict("records")
        )  # fmt: skip
        holdout_id = f"{study.dimension}@{cell.population}.g{generation}"
        details: dict[str, Any] = {
            REQUESTED: requested,
            EXCLUDED: len(spent_ids),
            POPULATION_ITEMS: self._store.put_table(frame[[name for name in IDENTITY if name in frame.columns]]),
        }
        if set(drawn_from["stratum"]) != set(frame["stratum"]):
            details[STRATA] = {name: int(size) for name, size in drawn_from.groupby("stratum").size().items()}
        if recheck:
            details[RECHECK] = True
        if study.holdout.other_constructs:
            details[FROM_OTHER_CONSTRUCTS] = self._from_other_constructs(cell, set(drawn["item_id"]))
        if left_out_for:
            details[LEFT_OUT_FOR] = left_out_for
        draw = SetDraw(
            holdout_id,
            study.dimension,
            cell.population,
            manifest.digest,
            generation,
            study.holdout.seed,
            items,
            details,
        )
        fresh = HoldoutSet(
            holdout_id, study.dimension, cell.population, manifest.digest, generation, study.holdout.seed,
            len(items), "", 0, details, items,
        )  # fmt: skip
        self._ledger.reserve(draw, self.registrations(cell, fresh), run_id=run_id)
        # The declarations stand as they were frozen; the set is read back, since another process may have drawn it.
        reserved = self._ledger.current_set(study.dimension, cell.population)
        assert reserved is not None
        return self.of_id(reserved.holdout_id)

    def unspent(self, cell: Cell) -> int:
        """How many items of the population the next generation may be drawn from.

        Raises
        ------
        InputError
            When the population's table cannot be read.
        """
        current = self._ledger.current_set(self._project.studies[cell.study].dimension, cell.population)
        return len(self._tables.manifest(cell.population).frame) - len(self._spent(cell, current)[1])

    def _refuse_same_constructs(self, cell: Cell) -> None:
        same = self._ledger.same_constructs(self.registrations(cell, None))
        if same:
            raise InputError(
                same[0],
                where="holdout.other_constructs",
                expected="a dimension with a rubric of its own",
                todo="take it out: the items are spent for this construct as well",
            )

    def _from_other_constructs(self, cell: Cell, drawn: set[str]) -> dict[str, int]:
        """How many drawn items are spent for each dimension that is declared another construct, but for that."""
        study, current = self._project.studies[cell.study], self.newest(cell)
        others = study.holdout.other_constructs or {}
        counts = {}
        for dimension in others:
            without = {name: reason for name, reason in others.items() if name != dimension}
            counts[dimension] = len(drawn & self._spent(cell, current, without)[1])
        return counts

    def _left_out_for(self, cell: Cell, spent: set[str]) -> dict[str, int]:
        """How many spent items each other dimension alone has spent, so that a declared reason would free them."""
        study, current = self._project.studies[cell.study], self.newest(cell)
        declared = study.holdout.other_constructs or {}
        others = {header.dimension for header in self._ledger.sets()} - {study.dimension, *declared}
        counts = {
            dimension: len(spent - self._spent(cell, current, {**declared, dimension: "not said yet"})[1])
            for dimension in sorted(others)
        }
        return {dimension: count for dimension, count in counts.items() if count}

    def _spent(
        self, cell: Cell, current: HoldoutSet | None, others: Mapping[str, str] | None = None
    ) -> tuple[SpentItems, set[str]]:
        """What is spent for any study on the dimension, and which items of the population that are.

        ``others`` are the other constructs, where they are to be others than the studies declare.
        """
        # What a configuration has measured is spent for it too. On other items a table of scores is another one, and a
        # judge that is run here is taken for another.
        frozen = [*self.registrations(cell, None), *self.registrations(cell, current)]
        frozen += [
            replace(one, config_digest=digest_json([one.config_digest, "on other items"]))
            for one in frozen
            if self._project.studies[one.study].judged
        ]
        if others is not None:
            frozen = [replace(one, construct=replace(one.construct, others=others)) for one in frozen]
        spent = self._ledger.spent_items(self._project.studies[cell.study].dimension, frozen)
        frame = self._tables.manifest(cell.population).frame
        known = [frame[name].tolist() for name in IDENTITY if name in frame.columns]
        return spent, {row[0] for row in zip(*known, strict=True) if spent.holds(*row)}

    def _refuse_contradictory_outputs(self, study: Study, newest: HoldoutSet) -> None:
        """Such a table is to be mended: it names no other configuration, which would need other items."""
        with suppress(Unreadable):
            self._tables.scores(study, newest.population, {item.item_id for item in newest.items})

    def _drawn_before(self, manifest: Manifest, spent: SpentItems) -> dict[str, SpentItems]:
        """What the other populations held from which spent items of this one were drawn, by name."""
        populations = {}
        for header in self._ledger.sets():
            if header.population_digest == manifest.digest or POPULATION_ITEMS not in header.details:
                continue
            drawn = self.of_id(header.holdout_id).items
            if any(spent.holds(item.item_id, item.content_digest, item.text_digest) for item in drawn):
                table = self._store.get_table(header.details[POPULATION_ITEMS])
                known = [frozenset(table[name].dropna()) for name in IDENTITY if name in table.columns]
                populations[f"{header.population}@{header.population_digest[:8]}"] = SpentItems(*known)
        return populations

    def _beside(self, cell: Cell) -> list[Study]:
        dimension = self._project.studies[cell.study].dimension
        return [
            study
            for study in self._project.studies.values()
            if study.dimension == dimension and cell.population in study.data.populations
        ]

    def _registration(self, study: Study, held: HoldoutSet | None, population: str) -> Registration:
        declared = self.declared_on(study, population, held)
        return Registration(
            study.name,
            declared.configuration,
            declared.plan,
            declared.scores_digest,
            study.supports_status,
            study.holdout.role,
            Construct(normalised_text_digest(declared.rubric_text), study.holdout.other_constructs or {}),
        )

    def _scores_digest(self, study: Study, population: str, held: HoldoutSet) -> str | None:
        """The digest of a table's rows for the set, the panel's with them; None where they are not there yet or cannot
        be read."""
        from calib_pipeline.tables.scores import outputs_digest

        reserved = {item.item_id for item in held.items}
        try:
            own = self._tables.scores(study, population, reserved)
            panel = {member.id: self._tables.scores(study, population, reserved, member) for member in study.panel}
        except InputError:
            return None
        return outputs_digest(own, panel)


def _or_say_why(left_out_for: Mapping[str, int]) -> str:
    told = ", ".join(f"{count} for {dimension}" for dimension, count in left_out_for.items())
    if not told:
        return ""
    return (
        f"; or, of items that only another dimension has spent ({told}), say under holdout.other_constructs why its "
        "construct differs"
    )


def limits_of(study: Study) -> Limits:
    """How much a study lets one set be used."""
    return Limits(study.holdout.max_measurements, study.holdout.max_age_days)


def reserved_since(ledger: Ledger, held: HoldoutSet) -> dict[str, str]:
    """When each item of a set was first reserved for its dimension: an item of a set that nobody read stays reserved
    where a larger one is drawn."""
    since: dict[str, str] = {}
    for header in ledger.sets():
        if (header.dimension, header.population) == (held.dimension, held.population):
            at_most = header.reserved_seq <= held.reserved_seq
            for item in ledger.items(header.holdout_id) if at_most else ():
                since.setdefault(item.item_id, header.reserved_at)
    return since


def drawn_as_declared(study: Study, held: HoldoutSet) -> bool:
    """Whether a set was drawn to the request that a study makes now; more items may be named than it asks for.

    One that came short is not, where the study has said since that what was left out is another construct's.
    """
    if set(held.details.get(LEFT_OUT_FOR, {})) & set(study.holdout.other_constructs or {}):
        return False
    asked = held.details.get(REQUESTED)
    if asked is None:
        return True
    same = all(asked[name] == value for name, value in _request(study).items())
    return same and bool(asked["named_items"] >= study.ceiling.min_items)


def _request(study: Study) -> dict[str, int]:
    holdout = study.holdout
    return {"size": holdout.size, "seed": holdout.seed, "min_per_stratum": holdout.min_per_stratum}


def drawn_of(held: HoldoutSet) -> pd.DataFrame:
    """A set's items as the reservation drew them, in the columns of `sampling.draw_holdout`."""
    import pandas as pd

    digests = [item.text_digest for item in held.items]
    texts = {NORMALISED: pd.Series(digests, dtype="object")} if any(digests) else {}
    frame = pd.DataFrame(
        {
            "item_id": pd.Series([item.item_id for item in held.items], dtype="object"),
            "stratum": pd.Series([item.stratum for item in held.items], dtype="object"),
            "group": pd.Series([item.group for item in held.items], dtype="object"),
            "content_digest": pd.Series([item.content_digest for item in held.items], dtype="object"),
            **texts,
            "rank": [item.rank for item in held.items],
            "named": [item.doubly for item in held.items],
        }
    )
    return frame.sort_values(["stratum", "rank"], ignore_index=True)
