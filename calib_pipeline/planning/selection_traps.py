"""What makes a filtered sample say less than it seems: a filter on the outcome, and one on time."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calib_pipeline.errors import InputError
from calib_pipeline.planning.item_filter import ItemFilter, are_times
from calib_pipeline.studies.scale import number_of
from calib_pipeline.tables.columns import blank, column
from calib_pipeline.tables.scores import score_table

if TYPE_CHECKING:
    import pandas as pd

    from calib_pipeline.studies.project import Project

OUTCOME_WORDS = frozenset([
    "score", "scores", "scored", "verdict", "verdicts", "flag", "flags", "flagged", "judge", "judged",
    "judgement", "judgment", "predicted", "prediction", "predictions", "pred", "output", "outputs", "outcome",
    "confidence", "probability", "prob", "logit", "decision", "scorer", "accepted", "rejected", "abstained",
    "label", "labels",
])  # fmt: skip
TIME_WORDS = frozenset([
    "date", "time", "timestamp", "day", "week", "month", "quarter", "year", "created", "updated", "modified", "at",
])  # fmt: skip
FEWEST_SHARED = 20
"""Items with an output that are needed before anything is said of its relation to a filter."""
TELLS = 0.9
"""From here on an output tells who is kept: of 1, which is without fail; 0 is no better than not to look."""
NOT_DETECTABLE = (
    "a manifest that was filtered before it came here",
    "a column that goes with a scorer's outputs and bears another name, where no table of scores has the items",
    "an outcome of a scorer that no study of this project names",
)


@dataclass(frozen=True)
class OutcomeCheck:
    """How well each scorer's outputs tell which items a filter keeps, 0 to 1, and the tables that were not read."""

    tells: Mapping[str, float]
    not_read: tuple[str, ...]


def refuse_outcome_name(condition: ItemFilter, project: Project) -> None:
    """Refuse a filter on a column that is named like a scorer's output, or like a scorer.

    Raises
    ------
    InputError
        Naming the word.
    """
    scorers = {scorer.id.casefold() for study in project.studies.values() for scorer in (study.scorer, *study.panel)}
    words = _words(condition.column)
    named = sorted(words & OUTCOME_WORDS) or [one for one in sorted(scorers) if one == condition.column.casefold()]
    if named:
        raise InputError(
            f"the column {condition.column!r} is named like a scorer's output ({named[0]}): a sample that is selected "
            "on the outcome cannot estimate agreement at all",
            where="--where",
            expected="a filter on something that the scorer did not make",
            todo="draw from the whole population; where the column is no outcome, give it a name that says what it is",
        )


def check_outcome(
    condition: ItemFilter, kept: Sequence[bool], manifest: pd.DataFrame, project: Project, population: str
) -> OutcomeCheck:
    """How the outputs of every scorer of the project go with a filter.

    Parameters
    ----------
    kept
        (N,) which items of the manifest the filter keeps.

    Raises
    ------
    InputError
        When a scorer's outputs tell which items are kept.
    """
    keeps = dict(zip(manifest["item_id"].tolist(), kept, strict=True))
    tells: dict[str, float] = {}
    not_read = []
    for url in _score_tables(project, population):
        try:
            table = score_table(url)
        except InputError as fault:
            not_read.append(str(fault))
            continue
        rows = zip(*(column(table, name).tolist() for name in ("item_id", "scorer_id", "value")), strict=True)
        outputs: dict[str, list[tuple[bool, str]]] = defaultdict(list)
        for item, scorer, value in rows:
            if item in keeps and not blank(value):
                outputs[scorer or "the scorer"].append((keeps[item], value))
        for scorer, pairs in sorted(outputs.items()):
            found = how_well_outputs_tell(pairs)
            if found is not None:
                tells[scorer] = max(found, tells.get(scorer, 0.0))
    for scorer, found in tells.items():
        if found >= TELLS:
            raise InputError(
                f"what {scorer!r} said tells which items {condition.words} keeps ({found:.2f} of 1): a sample that is "
                "selected on the outcome cannot estimate agreement at all",
                where="--where",
                expected="a filter that does not go with a scorer's outputs",
                todo="draw from the whole population",
            )
    return OutcomeCheck(tells, tuple(not_read))


def how_well_outputs_tell(pairs: Sequence[tuple[bool, str]]) -> float | None:
    """How well outputs tell kept items from the others: 0 is no better than not to look, 1 is without fail.

    Of outputs with few values the share of errors that they save (Goodman and Kruskal's λ); of numbers the larger of it
    and |2·AUC - 1|. None where there are too few items, or all are kept or none is.

    References
    ----------
    Goodman, L. A. and Kruskal, W. H. (1954). Measures of association for cross classifications. JASA 49, 732-764.
    """
    inside = sum(kept for kept, _ in pairs)
    fewer = min(inside, len(pairs) - inside)
    if len(pairs) < FEWEST_SHARED or fewer == 0:
        return None
    found = 0.0
    if len({value for _, value in pairs}) * 5 <= len(pairs):
        by_value: dict[str, Counter[bool]] = defaultdict(Counter)
        for kept, value in pairs:
            by_value[value][kept] += 1
        wrong = sum(min(counts[True], counts[False]) for counts in by_value.values())
        found = 1 - wrong / fewer
    numbers = [number_of(value) for _, value in pairs]
    if any(number is None for number in numbers):
        return found
    from scipy.stats import mannwhitneyu

    sides: dict[bool, list[Any]] = {True: [], False: []}
    for (kept, _), number in zip(pairs, numbers, strict=True):
        sides[kept].append(number)
    share = float(mannwhitneyu(sides[True], sides[False]).statistic) / (inside * (len(pairs) - inside))
    return max(found, abs(2 * share - 1))


def goes_by_time(condition: ItemFilter, manifest: pd.DataFrame) -> bool:
    """Whether a filter's column is named like a time or holds times."""
    words = _words(condition.column)
    filled = [cell for cell in manifest[condition.column].tolist() if cell is not None and cell == cell]
    return bool(words & TIME_WORDS) or are_times(filled)


def _score_tables(project: Project, population: str) -> list[str]:
    """The tables of scores of all studies on a population, each once."""
    studies = [study for study in project.studies.values() if population in study.data.populations]
    return sorted({project.path(study.data.scores, population) for study in studies if study.data.scores is not None})


def _words(name: str) -> set[str]:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return {word for word in re.split(r"[\W_]+", parted.casefold()) if word}
