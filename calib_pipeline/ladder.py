"""The ladder of one project: each rung from tables, evidence store and ledger. It knows nothing of Dagster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

from calib_pipeline.cell import Cell
from calib_pipeline.chain import MEASURING_RUNGS, Chain, Declared, Given, is_ready, stamped
from calib_pipeline.construct_labels import provenance_on
from calib_pipeline.digests import digest_frame
from calib_pipeline.errors import InputError, ReviewUnavailable
from calib_pipeline.evidence.annotations import LabelProvenance, told_elsewhere
from calib_pipeline.evidence.annotations import annotations as label_evidence
from calib_pipeline.evidence.baseline_comparators import baseline_comparators
from calib_pipeline.evidence.evidence import Evidence, fact
from calib_pipeline.evidence.holdout_reservation import holdout_reservation
from calib_pipeline.evidence.human_ceiling import human_ceiling
from calib_pipeline.evidence.scorer_agreement import (
    FEWEST_USABLE_PAIRS,
    Opening,
    opening_in,
    readiness,
    scorer_agreement,
)
from calib_pipeline.evidence.threshold_check import threshold_check
from calib_pipeline.evidence_store import EvidenceStore, SealedEvidence
from calib_pipeline.holdout_sets import HoldoutSets, drawn_of, limits_of
from calib_pipeline.judging.held_out import Judged, judge_set
from calib_pipeline.kept_sources import keep_sources
from calib_pipeline.label_custody import NAME_THE_KEY, LabelCustody
from calib_pipeline.ledger import HoldoutSet, Ledger, LedgerError
from calib_pipeline.ledger import Opening as LedgerOpening
from calib_pipeline.records.archive import RecordArchive, lost_openings
from calib_pipeline.records.publication import diagnostic_evidence, publication_evidence, why_diagnostic
from calib_pipeline.records.record import Sources
from calib_pipeline.schemas import GATES
from calib_pipeline.table_cache import TableCache

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.judging.scoring import Scoring
    from calib_pipeline.sealing import SealingKey
    from calib_pipeline.studies.project import Project
    from calib_pipeline.studies.study import Study
    from calib_pipeline.tables.annotations import Labels
    from calib_pipeline.tables.scores import Scores


@dataclass(frozen=True)
class Refusal:
    """Why stored evidence may not be read by the rung below it."""

    kind: Literal["stale", "interrupted", "missing", "does_not_hold"]
    rung: str
    sentence: str
    next_step: str


class Ladder:
    """Makes each rung's evidence, and enters in the ledger what was seen before it is seen.

    Parameters
    ----------
    project
        The declared project.
    run_id
        The run that the ledger's events name.
    recheck
        Measure again what was measured, on the next generation of its set. Computing stored rows again is verification
        and no re-check.
    key
        Seals the stored labels, and opens them; None where a ladder is only looked at, or labels are stored open.
    """

    def __init__(self, project: Project, run_id: str, *, recheck: bool = False, key: SealingKey | None = None) -> None:
        self.project = project
        self.run_id = run_id
        self._recheck = recheck
        self._key = key
        self.store = EvidenceStore(project.store, key)
        self.archive = RecordArchive(self.store)
        self._tables = TableCache(project)

    @cached_property
    def ledger(self) -> Ledger:
        """The holdout ledger, opened when it is first asked."""
        return Ledger.open(self.project.ledger)

    @cached_property
    def sets(self) -> HoldoutSets:
        """The held-out sets, as this run first saw them."""
        return HoldoutSets(self.project, self.ledger, self._tables)

    def close(self) -> None:
        """Give the ledger back, where it was opened."""
        if "ledger" in vars(self):
            self.ledger.close()

    # The rungs

    def holdout_reservation(self, cell: Cell) -> Evidence:
        """Reserve the study's set, or draw the next generation where the current one is spent for it."""
        study = self._study(cell)
        self._tables.refuse_unusable(study, cell.population)
        self._refuse_a_broken_history()
        self._custody.refuse_another_key()
        self._custody.refuse_open_labels()
        held = self.sets.for_run(cell, run_id=self.run_id or None, recheck=self._recheck)
        self.sets.freeze(cell, held, run_id=self.run_id or None)
        declared, facts = self._declared_on(cell, held), self.sets.facts(study, held)
        return self._stored_tables(
            holdout_reservation(
                study,
                declared.strata,
                drawn_of(held),
                facts,
                declared.tuned_on,
                declared.digests("holdout_reservation"),
            )
        )

    def annotations(self, cell: Cell, reservation: pd.DataFrame) -> Evidence:
        """Ingest the label sheet for the reserved items."""
        study, held = self._study(cell), self._held(reservation)
        drawn = self._table(reservation, "reserved")
        labels = self._labels(cell, set(drawn["item_id"]))
        details = {"rows": labels.counts["received"], "usable": labels.counts["usable"]}
        self._custody.ingest(held.holdout_id, study.name, labels.digest, details)
        declared = self._declared_on(cell, held)
        provenance = self._provenance(declared, held, labels)
        digests = declared.digests("annotations", {"holdout_reservation": digest_frame(reservation)})
        made = label_evidence(study, drawn, labels, provenance, digests | {"labels file": labels.file_digest})
        return self._stored_tables(made)

    def human_ceiling(self, cell: Cell, reservation: pd.DataFrame, labeled: pd.DataFrame) -> Evidence:
        """Read the labels to see how far people agree with each other."""
        study, held = self._study(cell), self._held(reservation)
        declared = self._declared_on(cell, held)
        self._custody.read(declared, "ceiling", {"labels": fact(labeled, "table", "labels")})
        above = {"holdout_reservation": reservation, "annotations": labeled}
        made = human_ceiling(
            study,
            declared.strata,
            self._table(reservation, "reserved"),
            self._table(labeled, "labels"),
            self._table(labeled, "repeats"),
            declared.digests("human_ceiling", _digests(above)),
        )
        return self._stored_tables(made)

    def baseline_comparators(
        self, cell: Cell, reservation: pd.DataFrame, labeled: pd.DataFrame, ceiling: pd.DataFrame
    ) -> Evidence:
        """Read the labels to see what needs no scorer."""
        study, held = self._study(cell), self._held(reservation)
        declared = self._declared_on(cell, held)
        self._custody.read(declared, "baselines", {"labels": fact(labeled, "table", "labels")})
        above = {"holdout_reservation": reservation, "annotations": labeled, "human_ceiling": ceiling}
        made = baseline_comparators(
            study,
            declared.strata,
            self._table(reservation, "reserved"),
            self._table(labeled, "labels"),
            declared.manifest.frame,
            declared.digests("baseline_comparators", _digests(above)),
        )
        return self._stored_tables(made)

    def scorer_outputs(self, cell: Cell, reservation: pd.DataFrame, said: Callable[[str, Scoring], None]) -> Judged:
        """Have the study's judges answer for the reserved items, and freeze what they said in the ledger.

        Raises
        ------
        InputError
            When a judge cannot be called.
        """
        held, judged = self._held(reservation), judge_set(self.project, self.ledger, cell, said)
        if judged.written:
            # What is declared includes the outputs from now on.
            del self.sets
            self.sets.freeze(cell, held, run_id=self.run_id or None)
        return judged

    def scorer_agreement(
        self,
        cell: Cell,
        reservation: pd.DataFrame,
        labeled: pd.DataFrame,
        ceiling: pd.DataFrame,
        baselines: pd.DataFrame,
    ) -> Evidence:
        """Open the set if enough is scored, and only then let labels meet outputs."""
        study, held = self._study(cell), self._held(reservation)
        declared = self._declared_on(cell, held)
        self._custody.unseal(declared, "agreement")
        drawn, labels = self._table(reservation, "reserved"), self._table(labeled, "labels")
        scores = self._scores(study, cell.population, set(drawn["item_id"]))
        opening = None
        if is_ready(study, labels, scores.frame):
            opening = self._open(cell, declared, held, fact(labeled, "table", "labels"), "measurement")
        above = {
            "holdout_reservation": reservation,
            "annotations": labeled,
            "human_ceiling": ceiling,
            "baseline_comparators": baselines,
        }
        made = scorer_agreement(
            study,
            declared.strata,
            drawn,
            labels,
            self._table(baselines, "comparators"),
            ceiling,
            scores.frame,
            {scorer_id: of_one.frame for scorer_id, of_one in self._panel(study, cell.population, drawn).items()},
            opening,
            declared.digests("scorer_agreement", _digests(above)),
        )
        return self._stored_tables(made)

    def threshold_check(self, cell: Cell, reservation: pd.DataFrame, agreement: pd.DataFrame) -> Evidence:
        """Hold the expected cost against the budget and against using no scorer."""
        study, held = self._study(cell), self._held(reservation)
        above = {"holdout_reservation": reservation, "scorer_agreement": agreement}
        declared = self._declared_on(cell, held)
        self._custody.unseal(declared, "threshold")
        rows, digests = self._table(agreement, "rows"), declared.digests("threshold_check", _digests(above))
        return self._stored_tables(
            threshold_check(study, declared.strata, agreement, rows, opening_in(agreement).m, digests)
        )

    def published_record(self, cell: Cell, **above: pd.DataFrame) -> Evidence:
        """Build the record, judge it, and only then write it with its ledger entry."""
        held = self._held(above["holdout_reservation"])
        declared = self._declared_on(cell, held)
        state = self.sets.state(declared.study, held)
        given = self._given(cell, declared, held, opening_in(above["scorer_agreement"]))
        made = publication_evidence(
            declared,
            above,
            self._sources(cell),
            Chain(given),
            state=state.state,
            digests=declared.digests("published_record", _digests(above)),
        )
        holds = GATES["published_record"].judge(made.evidence.rows).holds
        if holds and made.content is not None and made.record_id is not None:
            self._custody.unseal(declared, "record")
            rows = self._table(above["scorer_agreement"], "rows")
            self._publish(cell, held, made.content, made.record_id, rows)
        return made.evidence

    def diagnostic_record(self, cell: Cell) -> Evidence:
        """Everything that can be said of a study that cannot be calibrated, as a record labeled as such.

        Its reads and its opening are events of the ledger, and it does not count among the attempts.
        """
        study = self._study(cell)
        held = self.sets.serving(cell) or self.sets.draw(cell, run_id=self.run_id or None, recheck=self._recheck)
        self.sets.freeze(cell, held, run_id=self.run_id or None)
        declared = self._declared_on(cell, held)
        labels = self._labels(cell, {item.item_id for item in held.items})
        scores = self._scores(study, cell.population, {item.item_id for item in held.items})
        self._custody.ingest(held.holdout_id, study.name, labels.digest, {})
        state = self.sets.state(study, held)
        ready = readiness(set(labels.frame["item_id"]), scores.frame)
        if study.supports_status and ready.decided >= FEWEST_USABLE_PAIRS and state.state != "reused":
            raise InputError(
                f"the study {study.name!r} on {cell.population!r} can earn a status: it climbs the ladder instead",
                expected="a fitted, proxy or loosely set study, a spent set, or fewer than 10 usable pairs",
                todo=f"run `calib run --study {study.name} --population {cell.population}`",
            )
        read = {"record": "diagnostic", "labels": self.store.put_table(labels.frame)}
        for purpose in ("ceiling", "baselines"):
            self._custody.read(declared, purpose, read)
        opening = None
        if ready.decided:
            opening = self._open(cell, declared, held, labels.digest, "diagnostic")
        given = self._given(cell, declared, held, opening)
        made = diagnostic_evidence(
            declared,
            self._sources(cell),
            Chain(given),
            state=state.state,
            why=why_diagnostic(study, ready.decided),
        )
        if made.content is not None and made.record_id is not None:
            for frame in made.tables.values():
                self.store.put_table(frame)
            self.archive.write(made.content, made.record_id, made.tables["rows"])
        return made.evidence

    # What stands on disk

    def stored(self, cell: Cell, evidence: Evidence) -> None:
        """Enter written evidence in the ledger: from now on it is the newest of its rung."""
        gate = GATES.get(evidence.asset)
        holds = gate is None or gate.judge(evidence.rows).holds
        held = stamped(evidence.rows).get("set")
        self.ledger.record_evidence(
            cell.study, cell.population, evidence.asset, evidence.digest, holds, held, run_id=self.run_id or None
        )

    def refusal(self, cell: Cell, asset: str, rows: pd.DataFrame | None) -> Refusal | None:
        """Why stored evidence may not be read, or None where it may: it must be the newest, agree with what is declared
        now, and hold."""
        newest = self.ledger.newest_evidence(cell.study, cell.population, asset)
        run = f"run `calib run --study {cell.study} --population {cell.population}`"
        if rows is None or newest is None:
            where = f"study {cell.study!r} on {cell.population!r}"
            sentence = f"there is no evidence of {asset} for {where}"
            if rows is not None:
                sentence = f"the ledger knows no evidence of {asset} for {where}: a run was interrupted"
            elif newest is not None:
                sentence = f"the evidence of {asset} for {where} is in the ledger and not on disk, or cannot be read"
            return Refusal("missing" if newest is None and rows is None else "interrupted", asset, sentence, run)
        if digest_frame(rows) != newest.digest:
            sentence = (
                f"the evidence of {asset} on disk is not the newest that the ledger has (event {newest.seq}): it was "
                "swapped, or a run was interrupted"
            )
            return Refusal("interrupted", asset, sentence, run)
        stale = self.stale_parts(cell, asset, rows)
        if stale:
            sentence = f"the evidence of {asset} is stale: {', '.join(stale)} changed since it was made"
            return Refusal("stale", asset, sentence, f"{run}, from {asset} on")
        verdict = GATES[asset].judge(rows) if asset in GATES else None
        if verdict is not None and not verdict.holds:
            first = verdict.reasons[0]
            return Refusal("does_not_hold", first.rung, f"{asset} does not hold: {verdict.sentence}", first.next_step)
        return None

    def stale_parts(self, cell: Cell, asset: str, rows: pd.DataFrame) -> list[str]:
        """The parts in which stored evidence differs from what is declared now, or from the rungs above it."""
        stamps = stamped(rows)
        serving, stamped_set = self.sets.serving(cell), stamps.get("set")
        made_on = serving if stamped_set is None or not self.sets.knows(stamped_set) else self.sets.of_id(stamped_set)
        now = self.sets.declared_on(self._study(cell), cell.population, made_on).digests(asset)
        parts = [part for part, digest in now.items() if part != "set" and stamps.get(part) != digest]
        if serving is None or serving.holdout_id != stamped_set:
            parts.append("set")
        if asset == "annotations" and made_on is not None and self._labels_changed(cell, made_on, rows):
            parts.append("labels")
        for above in MEASURING_RUNGS:
            used = stamps.get(f"above: {above}")
            newest = self.ledger.newest_evidence(cell.study, cell.population, above) if used is not None else None
            if newest is not None and newest.digest != used:
                parts.append(f"the evidence of {above}")
        return parts

    def _labels_changed(self, cell: Cell, held: HoldoutSet, rows: pd.DataFrame) -> bool:
        """Whether the sheet now holds other labels of the set; rows of other items, and a sheet that is gone, do not
        count. Labels of other constructs on the same items do."""
        study = self._study(cell)
        url = self.project.path(study.data.annotations, cell.population)
        try:
            same = self._tables.digest(url) == fact(rows, "digest", "labels file")
            if same and not study.holdout.other_constructs:
                return False
            labels = self._labels(cell, {item.item_id for item in held.items})
        except (InputError, ReviewUnavailable):
            return False
        if digest_frame(labels.frame) != fact(rows, "table", "labels"):
            return True
        unkeyed, config_digest = EvidenceStore(self.project.store), self._declared_on(cell, held).configuration
        try:
            now = provenance_on(self.ledger, unkeyed, study, held, config_digest, labels.frame)
        except SealedEvidence:
            # The rung alone opens sealed labels of another construct, and compares them when it is made again.
            return False
        return now.told_elsewhere != told_elsewhere(rows)

    # Sets

    def _refuse_a_broken_history(self) -> None:
        """Nothing may rest on a ledger that was edited, or that lacks the opening which a record names."""
        problems = self.ledger.verify() or lost_openings(self.archive, {event.hash for event in self.ledger.events()})
        if problems:
            raise LedgerError(
                f"{problems[0]}; restore the ledger from a copy before anything is run (`calib holdout verify` lists "
                "every problem)"
            )

    def _held(self, reservation: pd.DataFrame) -> HoldoutSet:
        holdout_id = fact(reservation, "holdout_set")
        assert holdout_id is not None
        return self.sets.of_id(holdout_id)

    def _declared_on(self, cell: Cell, held: HoldoutSet) -> Declared:
        return self.sets.declared_on(self._study(cell), cell.population, held)

    # Events

    @cached_property
    def _custody(self) -> LabelCustody:
        return LabelCustody(self.ledger, self.run_id or None, self._key)

    def _open(
        self,
        cell: Cell,
        declared: Declared,
        held: HoldoutSet,
        labels_digest: str | None,
        purpose: Literal["measurement", "diagnostic"],
    ) -> Opening:
        study = declared.study
        assert labels_digest is not None
        outcome = self.ledger.open_set(
            held.holdout_id,
            LedgerOpening(
                study.name,
                declared.configuration,
                declared.plan,
                study.holdout.role,
                labels_digest,
                declared.scores_digest or "",
                purpose,
                limits_of(study),
            ),
            self.sets.registrations(cell, held),
            run_id=self.run_id or None,
        )
        if outcome.kind == "refused":
            return Opening("refused", outcome.why, 0, 0, None)
        return Opening(purpose, None, outcome.configurations, outcome.attempts, outcome.head)

    def _publish(
        self, cell: Cell, held: HoldoutSet, content: Mapping[str, Any], record_id: str, rows: pd.DataFrame
    ) -> None:
        before = [one.at for one in self.ledger.published(cell.study, cell.population) if one.record_id == record_id]
        self.archive.write(content, record_id, rows, published_at=before[-1] if before else None)
        self.ledger.publish(
            cell.study, cell.population, record_id, held.holdout_id, {"claim": content["claim"]},
            run_id=self.run_id or None,
        )  # fmt: skip

    # Tables

    def _given(self, cell: Cell, declared: Declared, held: HoldoutSet, opening: Opening | None) -> Given:
        """Everything the measuring rungs are computed from, read again from the tables that people brought."""
        study = declared.study
        reserved = {item.item_id for item in held.items}
        labels = self._labels(cell, reserved)
        return Given(
            declared=declared,
            drawn=drawn_of(held),
            facts=self.sets.facts(study, held, None if opening is None else opening.head),
            labels=labels,
            labels_file=labels.file_digest,
            provenance=self._provenance(declared, held, labels),
            scores=self._scores(study, cell.population, reserved),
            panel=self._panel(study, cell.population, drawn_of(held)),
            opening=opening,
        )

    def _provenance(self, declared: Declared, held: HoldoutSet, labels: Labels) -> LabelProvenance:
        opens = partial(self._custody.unseal_beside, declared)
        return provenance_on(self.ledger, self.store, declared.study, held, declared.configuration, labels.frame, opens)

    def _sources(self, cell: Cell) -> Sources:
        return keep_sources(self.project, self._tables, self.store, self._study(cell), cell.population)

    def _study(self, cell: Cell) -> Study:
        return self.project.studies[cell.study]

    def _labels(self, cell: Cell, reserved: set[str]) -> Labels:
        return self._tables.labels(self._study(cell), cell.population, reserved)

    def _scores(self, study: Study, population: str, reserved: set[str]) -> Scores:
        return self._tables.scores(study, population, reserved)

    def _panel(self, study: Study, population: str, drawn: pd.DataFrame) -> dict[str, Scores]:
        reserved = set(drawn["item_id"])
        return {scorer.id: self._tables.scores(study, population, reserved, scorer) for scorer in study.panel}

    def _table(self, rows: pd.DataFrame, name: str) -> pd.DataFrame:
        digest = fact(rows, "table", name)
        assert digest is not None
        try:
            return self.store.get_table(digest)
        except SealedEvidence as sealed:
            raise InputError(f"the table {name} does not open: {sealed}", todo=NAME_THE_KEY) from sealed

    def _stored_tables(self, evidence: Evidence) -> Evidence:
        """Store the row tables; what the next rung reads back is what the digest names."""
        for name, frame in evidence.tables.items():
            digest = self.store.put_table(frame)
            assert digest == fact(evidence.rows, "table", name)
        return evidence


def _digests(above: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    return {asset: digest_frame(rows) for asset, rows in above.items()}
