"""A judge behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from threading import Event
from typing import TYPE_CHECKING, Any

from calib_pipeline.errors import InputError
from calib_pipeline.judging.answers import Answer, answer_of_text, answer_schema, failed
from calib_pipeline.judging.budget import TokenBudget
from calib_pipeline.judging.requests import Request
from calib_pipeline.studies.sections import JudgeRun, Scorer
from calib_pipeline.studies.study import Study

if TYPE_CHECKING:
    import openai

KEY_VARIABLE, URL_VARIABLE = "OPENAI_API_KEY", "OPENAI_BASE_URL"
LONGEST_ANSWER = 512
"""Tokens of an answer where the configuration has no ``max_tokens``."""
LONGEST_WAIT, FIRST_WAIT = 60.0, 0.5
"""Seconds before a call is tried again, at most and the first time."""
_NOT_OF_THE_ITEM = {
    401: "the key is not accepted",
    403: "the key may not use this model",
    404: "there is no such model",
}


class OutOfBudget(Exception):
    """The next call does not fit into what is left of the budget."""


class EndpointJudge:
    """Asks an endpoint about one item at a time; several threads may ask at once.

    Parameters
    ----------
    study, scorer
        What is judged, and by whom; ``scorer.config`` holds ``model``, and what else the endpoint is told:
        ``temperature``, ``top_p``, ``seed``, and ``max_tokens`` or ``max_completion_tokens``.
    run
        Attempts and seconds of a call.
    sleep
        Waits for seconds; by default no longer than until the run is ended.

    Raises
    ------
    InputError
        When the client is not installed, or the environment has no key.
    """

    def __init__(
        self, study: Study, scorer: Scorer, run: JudgeRun, sleep: Callable[[float], object] | None = None
    ) -> None:
        self._study, self._scorer, self._run = study, scorer, run
        self._ended = Event()
        self._sleep = sleep or self._ended.wait
        self._client = _client(run.timeout_seconds)
        self._keeps_to_schema = True

    def most_tokens(self, request: Request) -> int:
        """An upper limit of what a call costs: a token is at least one byte."""
        shown = sum(len(message["content"].encode(errors="surrogatepass")) + 16 for message in request.shown)
        return int(shown) + self._longest_answer

    def ask(self, request: Request, budget: TokenBudget) -> Answer:
        """The judge's answer; a call that fails in passing is tried again, within the budget.

        The first call's ``most_tokens`` are reserved already.

        Raises
        ------
        OutOfBudget
            When a further call does not fit, or the run is ended.
        InputError
            When the endpoint refuses the key or the model, which no other item would change.
        """
        spent, last, asked = 0, failed("connection", "no call was made"), self.most_tokens(request)
        for attempt in range(1, self._run.attempts + 1):
            if attempt > 1 and not budget.reserve(asked):
                raise OutOfBudget
            if self._ended.is_set():
                budget.settle(asked, 0)
                raise OutOfBudget
            answer, wait = self._call(request, asked)
            budget.settle(asked, answer.tokens)
            spent += answer.tokens
            last = answer
            if wait is None:
                break
            if attempt < self._run.attempts:
                self._sleep(min(LONGEST_WAIT, max(wait, FIRST_WAIT * 2 ** (attempt - 1))))
        return Answer(last.status, last.value, last.confidence, last.explanation, last.code, spent)

    def end(self) -> None:
        """Let no further call begin, and break off those that are under way."""
        self._ended.set()
        self._client.close()

    def _call(self, request: Request, asked: int) -> tuple[Answer, float | None]:
        """One call: the answer, and the seconds to wait at least before another where it failed in passing."""
        import openai

        by_schema = self._keeps_to_schema
        try:
            completion = self._completion(request, by_schema)
        except openai.APITimeoutError:
            # Whether it was served, and paid for, nobody knows.
            return failed("timeout", f"no answer within {self._run.timeout_seconds:g} s", asked), 0.0
        except openai.APIStatusError as refused:
            if by_schema and _knows_no_schema(refused):
                self._keeps_to_schema = False
                return self._call(request, asked)
            return self._refused(refused)
        except openai.APIConnectionError as fault:
            return failed("connection", f"the endpoint cannot be reached: {fault.__cause__ or fault}"), 0.0
        except openai.OpenAIError as fault:
            return failed("not_json", f"the endpoint's answer cannot be read: {fault}", asked), None
        except (ValueError, TypeError, AttributeError) as fault:
            return failed("not_json", f"the endpoint's answer is no completion: {fault}", asked), None
        return self._read(completion, asked), None

    def _completion(self, request: Request, by_schema: bool) -> Any:
        config = self._scorer.config
        told: dict[str, Any] = {self._limit: self._longest_answer}
        for name in ("temperature", "top_p", "seed"):
            if config.get(name) is not None:
                told[name] = config[name]
        if by_schema:
            schema = {"name": "verdict", "strict": True, "schema": answer_schema(self._study, self._scorer)}
            told["response_format"] = {"type": "json_schema", "json_schema": schema}
        return self._client.chat.completions.create(model=str(config["model"]), messages=request.shown, **told)

    def _refused(self, refused: openai.APIStatusError) -> tuple[Answer, float | None]:
        status, words = refused.status_code, str(refused.message)[:500]
        if status in _NOT_OF_THE_ITEM:
            raise InputError(
                f"the endpoint refuses every call ({status}): {_NOT_OF_THE_ITEM[status]}: {words}",
                where=str(self._client.base_url),
                todo=f"look at {KEY_VARIABLE}, {URL_VARIABLE} and scorer.config.model",
            ) from refused
        passing = status == 429 or status >= 500
        return failed(f"http_{status}", words), _told_to_wait(refused) if passing else None

    def _read(self, completion: Any, asked: int) -> Answer:
        tokens = getattr(getattr(completion, "usage", None), "total_tokens", None)
        used = tokens if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= 0 else asked
        try:
            choice = completion.choices[0]
            message, ended = choice.message, choice.finish_reason
        except (TypeError, IndexError, AttributeError):
            return failed("empty", "the endpoint's answer holds no message", used)
        if getattr(message, "refusal", None):
            return failed("refused", str(message.refusal), used)
        if ended in ("length", "content_filter"):
            return failed("truncated", f"the answer was cut off: {ended}", used)
        content = getattr(message, "content", None)
        return answer_of_text(content if isinstance(content, str) else None, self._study, self._scorer, used)

    @property
    def _longest_answer(self) -> int:
        return int(self._scorer.config.get(self._limit) or LONGEST_ANSWER)

    @property
    def _limit(self) -> str:
        """The name by which the endpoint knows the limit of an answer."""
        newer = "max_completion_tokens"
        return newer if newer in self._scorer.config else "max_tokens"


def _client(timeout: float) -> openai.OpenAI:
    try:
        import openai
    except ImportError as absent:
        raise InputError(
            "the client of OpenAI-compatible endpoints is not installed",
            todo="install `calib-pipeline[judge]`",
        ) from absent
    if not os.environ.get(KEY_VARIABLE):
        raise InputError(
            f"{KEY_VARIABLE} is not set",
            expected=f"the endpoint's key, and in {URL_VARIABLE} its address where it is not OpenAI's",
            todo="set it; any word serves for an endpoint that asks for none",
        )
    return openai.OpenAI(timeout=timeout, max_retries=0)


def _knows_no_schema(refused: openai.APIStatusError) -> bool:
    words = str(refused.message)
    return refused.status_code in (400, 422) and ("response_format" in words or "json_schema" in words)


def _told_to_wait(refused: openai.APIStatusError) -> float:
    """Seconds that the endpoint asks to wait; 0 where it does not say, or not in a way that can be read."""
    told = refused.response.headers.get("retry-after", "")
    try:
        return max(0.0, float(told))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(told).timestamp() - time.time())
    except (ValueError, TypeError):
        return 0.0
