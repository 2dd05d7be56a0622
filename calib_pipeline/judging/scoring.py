"""Asking a judge about the items of a set, each once, within a budget."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from calib_pipeline.errors import MachineFault
from calib_pipeline.judging.answers import Answer
from calib_pipeline.judging.budget import TokenBudget
from calib_pipeline.judging.endpoint import EndpointJudge, OutOfBudget
from calib_pipeline.judging.function import BATCH, FunctionJudge
from calib_pipeline.judging.outputs import Outputs
from calib_pipeline.judging.requests import Request

if TYPE_CHECKING:
    from calib_pipeline.studies.sections import JudgeRun

MOST_UNREACHED = 6
"""So many calls without an answer, and none with one, end a run."""
NO_ANSWER = ("connection", "timeout")
"""Codes of calls that met no answer."""


@dataclass
class Scoring:
    """How far the scoring of a set has come.

    Attributes
    ----------
    asked, kept
        Items of the set, and how many of them had an answer before this run.
    scored, abstained, errored
        Items by what was answered, in this run or before it.
    tokens
        What this run spent.
    out_of_budget
        Whether items are left because the budget is used up.
    may_pass
        Items with an error that another run may not meet.
    codes
        Items with an error, by its code.
    """

    asked: int
    kept: int = 0
    scored: int = 0
    abstained: int = 0
    errored: int = 0
    tokens: int = 0
    out_of_budget: bool = False
    may_pass: int = 0
    codes: dict[str, int] = field(default_factory=dict)

    @property
    def left(self) -> int:
        """Items without an answer."""
        return self.asked - self.scored - self.abstained - self.errored

    @property
    def sentence(self) -> str:
        """What was answered, and what it cost."""
        codes = ", ".join(f"{code} {count}" for code, count in sorted(self.codes.items()))
        told = f" ({codes})" if codes else ""
        return (
            f"{self.scored:,} scored, {self.abstained:,} abstained, {self.errored:,} errored{told}, "
            f"{self.tokens:,} tokens"
        )

    def count(self, answer: Answer, items: int = 1) -> None:
        """Enter the answer to some items."""
        match answer.status:
            case "scored":
                self.scored += items
            case "abstained":
                self.abstained += items
            case "error":
                self.errored += items
                self.may_pass += items * answer.may_pass
                self.codes[str(answer.code)] = self.codes.get(str(answer.code), 0) + items


def score_items(
    requests: Sequence[Request],
    judge: EndpointJudge | FunctionJudge,
    outputs: Outputs,
    run: JudgeRun,
    said: Callable[[Scoring], None] = lambda _: None,
) -> Scoring:
    """Ask about every item that has no answer yet, in the order given; each answer is kept as it comes.

    An error that may pass (a limit of calls, a failure of the server, no connection) is asked about again by the next
    run. What was answered is kept whatever ends the run.

    Parameters
    ----------
    requests
        The items of the set, in the order in which they are to be scored.
    said
        Told the state after every answer.

    Raises
    ------
    InputError
        When the endpoint refuses the key or the model, or a stored answer is damaged.
    MachineFault
        When the first calls of the run all meet no answer.
    """
    scoring = Scoring(len(requests))
    waiting: dict[str, list[Request]] = {}
    for request in requests:
        kept = outputs.get(request.digest)
        if kept is not None and not kept.may_pass:
            scoring.count(kept)
            scoring.kept += 1
        else:
            waiting.setdefault(request.digest, []).append(request)
    said(scoring)
    budget = TokenBudget(run.budget_tokens)
    unreached: int | None = 0
    for digest, answer in _answers([alike[0] for alike in waiting.values()], judge, run, budget):
        scoring.count(outputs.put(digest, answer), len(waiting[digest]))
        scoring.tokens = budget.spent
        said(scoring)
        if unreached is not None:
            unreached = unreached + 1 if answer.code in NO_ANSWER else None
        if unreached == MOST_UNREACHED:
            raise MachineFault(
                "the judge's endpoint",
                f"it does not answer: {answer.explanation}",
                "look after OPENAI_BASE_URL and the network, and run this again",
            )
    scoring.tokens, scoring.out_of_budget = budget.spent, scoring.left > 0
    return scoring


def _answers(
    requests: list[Request], judge: EndpointJudge | FunctionJudge, run: JudgeRun, budget: TokenBudget
) -> Iterator[tuple[str, Answer]]:
    if isinstance(judge, FunctionJudge):
        for start in range(0, len(requests), BATCH):
            batch = requests[start : start + BATCH]
            yield from zip((request.digest for request in batch), judge.ask(batch), strict=True)
        return
    queue = deque(requests)
    with ThreadPoolExecutor(run.concurrency) as pool:
        under_way: dict[Future[Answer], Request] = {}
        try:
            while queue or under_way:
                # What a call has not used is given back with its answer, so that the next may fit then.
                while queue and len(under_way) < run.concurrency and budget.reserve(judge.most_tokens(queue[0])):
                    request = queue.popleft()
                    under_way[pool.submit(judge.ask, request, budget)] = request
                if not under_way:
                    return
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    request = under_way.pop(future)
                    try:
                        answer = future.result()
                    except OutOfBudget:
                        queue.appendleft(request)
                    else:
                        yield request.digest, answer
        except BaseException:
            judge.end()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
