"""Running the judges of a study on the items of its held-out set."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from calib_pipeline.digests import digest_json
from calib_pipeline.errors import InputError
from calib_pipeline.judging.outputs import Outputs
from calib_pipeline.judging.requests import Request, messages_of, refuse_unknown_places, selected
from calib_pipeline.judging.scoring import Scoring, score_items
from calib_pipeline.studies.digests import configuration_digest

if TYPE_CHECKING:
    from calib_pipeline.cell import Cell
    from calib_pipeline.judging.endpoint import EndpointJudge
    from calib_pipeline.judging.function import FunctionJudge
    from calib_pipeline.ledger import HoldoutSet, Ledger
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
    """

    holdout_id: str
    scorings: dict[str, Scoring]
    written: bool


def judge_set(
    project: Project,
    ledger: Ledger | None,
    cell: Cell,
    said: Callable[[str, Scoring], None] = lambda _scorer, _scoring: None,
) -> Judged:
    """Have every item of the cell's set answered by every scorer of its study, and write the table of scores.

    The items come in the order of their keyed hash. The table is written whole or not at all: a set is never opened on
    the outputs of a part. Answers that are there are not asked for again, and no label is read.

    Parameters
    ----------
    ledger
        The project's ledger, which is read only; None where there is none yet.
    said
        Told after every answer how far a scorer has come.

    Raises
    ------
    InputError
        When the study brings its outputs as a table, no set is reserved that serves it, the set was opened with these
        outputs already, or a judge cannot be called.
    """
    study = project.studies[cell.study]
    if not study.judged:
        raise InputError(
            f"the outputs of {study.name!r} come as a table: {study.data.scores}",
            expected="a study of scorers that are run here, without data.scores",
            todo="run `calib run`, which reads the table",
        )
    held = _unopened(project, ledger, cell)
    judged = {}
    for scorer_id, of_one in study.by_scorer().items():
        judge = _judge(project, of_one)
        answers = _Answers(list(_requests(project, of_one, cell.population, held)), _outputs(project, of_one, judge))
        told = partial(said, scorer_id)
        judged[scorer_id] = (
            score_items(answers.requests, judge, answers.outputs, of_one.scorer.run, told),
            answers,
        )
    whole = all(scoring.left == 0 for scoring, _ in judged.values())
    if whole:
        _unopened(project, ledger, cell)
        rows = [row for name, (_, answers) in judged.items() for row in _rows(name, answers)]
        _write(project.scores(study, cell.population), rows)
    return Judged(held.holdout_id, {name: scoring for name, (scoring, _) in judged.items()}, whole)


class _Answers(NamedTuple):
    """What a scorer was asked, and where its answers are."""

    requests: list[Request]
    outputs: Outputs


def _outputs(project: Project, study: Study, judge: EndpointJudge | FunctionJudge) -> Outputs:
    """The answers of a configuration; of a function also of its source, which is no part of what is declared."""
    from calib_pipeline.judging.function import FunctionJudge

    configuration = configuration_digest(study, project.rubric_text(study))
    if isinstance(judge, FunctionJudge):
        configuration = digest_json([configuration, judge.source_digest])
    return Outputs(project.store, configuration)


def _unopened(project: Project, ledger: Ledger | None, cell: Cell) -> HoldoutSet:
    from calib_pipeline.holdout_sets import HoldoutSets
    from calib_pipeline.table_cache import TableCache

    climb = f"calib run --study {cell.study} --population {cell.population}"
    if ledger is None:
        raise InputError("no set is reserved yet, so there is nothing to judge", todo=f"run `{climb}` first")
    sets = HoldoutSets(project, ledger, TableCache(project))
    held = sets.serving(cell)
    if held is None:
        raise InputError(
            f"no reserved set serves {cell.study!r} on {cell.population!r}", todo=f"run `{climb}`, which draws one"
        )
    configuration = sets.declared_on(project.studies[cell.study], cell.population, held).configuration
    opened = [one for one in ledger.events(held.holdout_id) if one.event == "opened"]
    if any(one.config_digest == configuration for one in opened):
        raise InputError(
            f"{held.holdout_id} was opened with these outputs: they stay as they were measured",
            todo=f"run `{climb} --recheck` to measure again on other items",
        )
    return held


def _requests(project: Project, study: Study, population: str, held: HoldoutSet) -> Iterator[Request]:
    from calib_pipeline.tables.columns import with_names
    from calib_pipeline.tables.items import COLUMNS
    from calib_pipeline.tables.reading import read_table

    url, config = project.populations[population], study.scorer.config
    table = with_names(read_table(url), COLUMNS, {}, ("item_id",)).frame
    rubric, columns = project.rubric_text(study), [str(name) for name in table.columns]
    if study.scorer.kind == "openai":
        refuse_unknown_places(config, columns, f"study {study.name}, items {url}")
    cells = dict(zip(table["item_id"].tolist(), table.to_dict("records"), strict=True))
    for item in sorted(held.items, key=lambda one: (one.rank, one.item_id)):
        row: dict[str, Any] = cells[item.item_id]
        fields = selected(row, config.get("evidence_selection"))
        shown = {**fields, "rubric": rubric} if study.scorer.kind == "python" else messages_of(config, rubric, fields)
        yield Request(item.item_id, shown)


def _judge(project: Project, study: Study) -> EndpointJudge | FunctionJudge:
    if study.scorer.kind == "python":
        from calib_pipeline.judging.function import FunctionJudge

        return FunctionJudge(study, study.scorer, project.root)
    from calib_pipeline.judging.endpoint import EndpointJudge

    return EndpointJudge(study, study.scorer, study.scorer.run)


def _rows(scorer_id: str, answers: _Answers) -> Iterator[dict[str, Any]]:
    for request in answers.requests:
        answer = answers.outputs.get(request.digest)
        assert answer is not None
        failure = f"{answer.code}: {answer.explanation}" if answer.status == "error" else answer.explanation
        yield {
            "item_id": request.item_id,
            "scorer_id": scorer_id,
            "value": answer.value,
            "status": answer.status,
            "confidence": answer.confidence,
            "explanation": failure,
        }


def _write(url: str, rows: list[dict[str, Any]]) -> None:
    from upath import UPath

    from calib_pipeline.evidence_store import write_atomically

    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_atomically(UPath(url), lines.encode())
