"""Running the judges of a study on the items of its held-out set."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from calib_pipeline.errors import InputError
from calib_pipeline.judging.both_orders import exchanged, exchanged_columns, of_both_orders, order_consistency
from calib_pipeline.judging.outputs import Outputs
from calib_pipeline.judging.requests import Request, messages_of, refuse_absent_columns, refuse_unknown_places, selected
from calib_pipeline.judging.scoring import Scoring, score_items

if TYPE_CHECKING:
    from calib_pipeline.cell import Cell
    from calib_pipeline.judging.answers import Answer
    from calib_pipeline.judging.endpoint import EndpointJudge
    from calib_pipeline.judging.function import FunctionJudge
    from calib_pipeline.ledger import HoldoutSet, Ledger
    from calib_pipeline.statistics import Estimate
    from calib_pipeline.studies.project import Project
    from calib_pipeline.studies.study import Study


@dataclass(frozen=True)
class Judged:
    """What the judges of a cell have answered.

    Attributes
    ----------
    holdout_id
        The set.
    scorings
        How far each scorer has come, by its id.
    written
        Whether every item has an answer of every scorer, so that the table of scores stands.
    consistency
        Of each scorer that was shown two answers in both orders, the share of pairs on which the order changed nothing.
    measured
        Whether the set was opened with that table before: then nobody was asked, and ``scorings`` is empty.
    """

    holdout_id: str
    scorings: dict[str, Scoring]
    written: bool
    measured: bool = False
    consistency: dict[str, Estimate] = field(default_factory=dict)


def judge_set(
    project: Project,
    ledger: Ledger,
    cell: Cell,
    said: Callable[[str, Scoring], None] = lambda _scorer, _scoring: None,
) -> Judged:
    """Have every item of the cell's set answered by every scorer of its judged study, and write the table of scores.

    The items come in the order of their keyed hash. The table is written whole or not at all: a set is never opened on
    the outputs of a part. Answers that are there are not asked for again, those with which the set was opened stay as
    they were measured, and no label is read.

    Parameters
    ----------
    ledger
        The project's ledger, which is read only.
    said
        Told after every answer how far a scorer has come.

    Raises
    ------
    InputError
        When no set is reserved that serves the study, a judge cannot be called, or stored answers are damaged.
    """
    study = project.studies[cell.study]
    held = _serving(project, ledger, cell)
    if _is_measured(project, ledger, cell, held):
        return Judged(held.holdout_id, {}, True, True)
    judged = {}
    for scorer_id, of_one in study.by_scorer().items():
        judge = _judge(project, of_one)
        outputs = Outputs(project.store, project.judge_digest(of_one))
        answers = _Answers(of_one, list(_requests(project, of_one, cell.population, held)), outputs)
        told = partial(said, scorer_id)
        judged[scorer_id] = (
            score_items(answers.requests, judge, answers.outputs, of_one.scorer.run, told),
            answers,
        )
    whole = all(scoring.left == 0 for scoring, _ in judged.values())
    if whole:
        if _is_measured(project, ledger, cell, held):
            return Judged(held.holdout_id, {}, True, True)
        rows = [row for _, answers in judged.values() for row in answers.rows()]
        _write(project.scores(study, cell.population), rows)
    return Judged(
        held.holdout_id,
        {name: scoring for name, (scoring, _) in judged.items()},
        whole,
        consistency={
            name: order_consistency(answers.study, answers.pairs())
            for name, (_, answers) in judged.items()
            if whole and exchanged_columns(answers.study) is not None
        },
    )


class _Answers(NamedTuple):
    """What the scorer of a study was asked, and where its answers are."""

    study: Study
    requests: list[Request]
    outputs: Outputs

    def of(self, request: Request) -> Answer:
        answer = self.outputs.get(request.digest)
        assert answer is not None
        return answer

    def pairs(self) -> list[tuple[Answer, Answer]]:
        """The answers to each item in both orders."""
        turned = {request.item_id: request for request in self.requests if request.exchanged}
        return [(self.of(one), self.of(turned[one.item_id])) for one in self.requests if not one.exchanged]

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row an item, as a table of scores has them."""
        items = [request for request in self.requests if not request.exchanged]
        answers = [self.of(request) for request in items]
        if exchanged_columns(self.study) is not None:
            answers = [of_both_orders(self.study, *pair) for pair in self.pairs()]
        for request, answer in zip(items, answers, strict=True):
            failure = f"{answer.code}: {answer.explanation}" if answer.status == "error" else answer.explanation
            yield {
                "item_id": request.item_id,
                "scorer_id": self.study.scorer.id,
                "value": answer.value,
                "status": answer.status,
                "confidence": answer.confidence,
                "explanation": failure,
            }


def _serving(project: Project, ledger: Ledger, cell: Cell) -> HoldoutSet:
    from calib_pipeline.holdout_sets import HoldoutSets
    from calib_pipeline.table_cache import TableCache

    held = HoldoutSets(project, ledger, TableCache(project)).serving(cell)
    if held is None:
        raise InputError(
            f"no reserved set serves {cell.study!r} on {cell.population!r}",
            todo=f"run `calib run --study {cell.study} --population {cell.population}`, which draws one",
        )
    return held


def _is_measured(project: Project, ledger: Ledger, cell: Cell, held: HoldoutSet) -> bool:
    """Whether the set was opened with the table that stands."""
    from calib_pipeline.holdout_sets import HoldoutSets
    from calib_pipeline.table_cache import TableCache

    now = HoldoutSets(project, ledger, TableCache(project)).declared_on(
        project.studies[cell.study], cell.population, held
    )
    return now.scores_digest is not None and any(
        event.event == "opened" and event.config_digest == now.configuration for event in ledger.events(held.holdout_id)
    )


def _requests(project: Project, study: Study, population: str, held: HoldoutSet) -> Iterator[Request]:
    from calib_pipeline.tables.columns import with_names
    from calib_pipeline.tables.items import COLUMNS
    from calib_pipeline.tables.reading import read_table

    url, config = project.populations[population], study.scorer.config
    table = with_names(read_table(url), COLUMNS, {}, ("item_id",)).frame
    rubric, columns = project.rubric_text(study), [str(name) for name in table.columns]
    if study.scorer.kind == "openai":
        refuse_unknown_places(config, columns, f"study {study.name}, items {url}")
    pair = exchanged_columns(study)
    if pair is not None:
        refuse_absent_columns(pair, columns, config.get("evidence_selection"), f"study {study.name}, items {url}")
    cells = dict(zip(table["item_id"].tolist(), table.to_dict("records"), strict=True))
    for item in sorted(held.items, key=lambda one: (one.rank, one.item_id)):
        row: dict[str, Any] = cells[item.item_id]
        fields = selected(row, config.get("evidence_selection"))
        yield Request(item.item_id, _shown(study, rubric, fields))
        if pair is not None:
            yield Request(item.item_id, _shown(study, rubric, exchanged(fields, pair)), exchanged=True)


def _shown(study: Study, rubric: str, fields: dict[str, str | None]) -> Any:
    if study.scorer.kind == "python":
        return {**fields, "rubric": rubric}
    return messages_of(study.scorer.config, rubric, fields)


def _judge(project: Project, study: Study) -> EndpointJudge | FunctionJudge:
    if study.scorer.kind == "python":
        from calib_pipeline.judging.function import FunctionJudge

        return FunctionJudge(study, study.scorer, project.root)
    from calib_pipeline.judging.endpoint import EndpointJudge

    return EndpointJudge(study, study.scorer, study.scorer.run)


def _write(url: str, rows: list[dict[str, Any]]) -> None:
    """Write the table; rows of the items of other sets stay, since records rest on them."""
    from upath import UPath

    from calib_pipeline.evidence_store import write_atomically

    path, items = UPath(url), {row["item_id"] for row in rows}
    before = path.read_bytes().splitlines() if path.exists() else []
    try:
        others = [row for row in map(json.loads, before) if row["item_id"] not in items]
    except (ValueError, TypeError, KeyError) as fault:
        raise InputError(
            "the stored table of outputs is damaged",
            where=url,
            expected="one JSON object a line, as it was written",
            todo="restore the file from a copy, or remove it: the answers are kept beside it, and it is written again",
        ) from fault
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in [*others, *rows])
    write_atomically(path, lines.encode())
