"""Slow, broken, rate-limited, lying and cut-off endpoints: each item has an answer or an error with its code."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from judged_study import judged_world
from loopback_endpoint import Behaviour, Endpoint, Reply, says, serving, text_of

from calib_pipeline.errors import InputError, MachineFault
from calib_pipeline.judging.answers import Answer
from calib_pipeline.judging.endpoint import EndpointJudge
from calib_pipeline.judging.outputs import Outputs
from calib_pipeline.judging.requests import Request
from calib_pipeline.judging.scoring import Scoring, score_items
from calib_pipeline.studies.sections import JudgeRun
from calib_pipeline.studies.study import Study

STUDY = Study.model_validate(judged_world().study)


class Bench:
    """A judge before a misbehaving endpoint; the waits between its calls are noted and not waited."""

    def __init__(self, endpoint: Endpoint, folder: Path) -> None:
        self.endpoint = endpoint
        self.outputs = Outputs(str(folder), "c")
        self.waits: list[float] = []

    def score(self, items: int = 3, **run: Any) -> Scoring:
        declared = JudgeRun(**{"concurrency": 1, "attempts": 3, "timeout_seconds": 5, **run})
        judge = EndpointJudge(STUDY, STUDY.scorer, declared, self.waits.append)
        return score_items(requests(items), judge, self.outputs, declared)


def requests(items: int) -> list[Request]:
    return [Request(f"i{number}", [{"role": "user", "content": f"item {number}"}]) for number in range(items)]


@pytest.fixture
def bench(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    with serving(lambda _call, _before: says("pass")) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        yield Bench(endpoint, tmp_path)


def first(reply: Reply, times: int = 1) -> Behaviour:
    return lambda _call, before: reply if before < times else says("pass")


def test_every_item_is_asked_once_in_order(bench: Bench) -> None:
    scoring = bench.score()
    assert (scoring.scored, scoring.left, scoring.tokens) == (3, 0, 150)
    assert [text_of(call) for call in bench.endpoint.calls] == ["item 0", "item 1", "item 2"]
    again = bench.score()
    assert (again.kept, again.scored, again.tokens, len(bench.endpoint.calls)) == (3, 3, 0, 3)


def test_the_endpoint_is_told_the_configuration_and_the_scale(bench: Bench) -> None:
    bench.score(1)
    [call] = bench.endpoint.calls
    assert (call["model"], call["temperature"], call["max_tokens"]) == ("stand-in-1", 0, 40)
    schema = call["response_format"]["json_schema"]["schema"]
    assert set(schema["properties"]["verdict"]["enum"]) == {"pass", "fail", "cannot determine"}


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_passes_is_tried_again_after_the_time_that_the_endpoint_asks_for(bench: Bench, status: int) -> None:
    bench.endpoint.behaviour = first(Reply("later", status=status, headers={"retry-after": "7"}))
    assert bench.score(1).scored == 1
    assert bench.waits == [7.0]


def test_without_a_word_on_the_time_the_waits_double_and_end(bench: Bench) -> None:
    bench.endpoint.behaviour = first(Reply("no", status=500), times=99)
    scoring = bench.score(1, attempts=4)
    assert (scoring.errored, scoring.codes) == (1, {"http_500": 1})
    assert bench.waits == [0.5, 1.0, 2.0]
    assert len(bench.endpoint.calls) == 4


def test_a_date_and_nonsense_in_retry_after_are_no_faults(bench: Bench) -> None:
    for told in ("Wed, 21 Oct 2015 07:28:00 GMT", "soon", "-3", "1e9"):
        bench.endpoint.calls.clear()
        bench.endpoint.behaviour = first(Reply("later", status=429, headers={"retry-after": told}))
        bench.outputs = Outputs(str(bench.outputs._folder), told)
        assert bench.score(1).scored == 1
    assert bench.waits == [0.5, 0.5, 0.5, 60.0]


def test_a_wrong_call_is_not_made_twice(bench: Bench) -> None:
    bench.endpoint.behaviour = lambda call, _before: (
        Reply("the text is too long", status=413) if text_of(call) == "item 1" else says("fail")
    )
    scoring = bench.score()
    assert (scoring.scored, scoring.errored, scoring.codes) == (2, 1, {"http_413": 1})
    assert len(bench.endpoint.calls) == 3
    assert bench.score().kept == 3


@pytest.mark.parametrize(("status", "words"), [(401, "key"), (403, "model"), (404, "model")])
def test_a_refusal_of_every_call_ends_the_run_with_what_to_look_at(bench: Bench, status: int, words: str) -> None:
    bench.endpoint.behaviour = first(Reply("denied", status=status), times=99)
    with pytest.raises(InputError) as refused:
        bench.score()
    assert words in refused.value.what and "OPENAI_API_KEY" in str(refused.value)
    assert len(bench.endpoint.calls) == 1


def test_an_endpoint_without_structured_output_is_asked_plainly(bench: Bench) -> None:
    bench.endpoint.behaviour = lambda call, _before: (
        Reply("response_format is not supported", status=400) if "response_format" in call else says("pass")
    )
    assert bench.score(attempts=1).scored == 3
    assert ["response_format" in call for call in bench.endpoint.calls] == [True, False, False, False]


def test_calls_at_once_all_learn_that_there_is_no_structured_output(bench: Bench) -> None:
    def refuses(call: dict[str, Any], _before: int) -> Reply:
        time.sleep(0.02)
        plain = "response_format" not in call
        return says("pass") if plain else Reply("'response_format' is not supported", status=400)

    bench.endpoint.behaviour = refuses
    assert bench.score(12, concurrency=4).scored == 12


def test_what_ends_the_run_ends_the_waits_of_the_calls_beside_it(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.endpoint.behaviour = lambda call, _before: (
        says("pass") if text_of(call) == "item 0" else Reply("later", status=503, headers={"retry-after": "50"})
    )

    def interrupted(_scoring: Scoring) -> None:
        if len(bench.endpoint.calls) > 2:
            raise KeyboardInterrupt

    declared = JudgeRun(concurrency=4, timeout_seconds=5)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        score_items(requests(6), EndpointJudge(STUDY, STUDY.scorer, declared), bench.outputs, declared, interrupted)
    assert time.monotonic() - began < 40


def test_a_newer_endpoint_is_told_its_limit_by_its_own_name(bench: Bench) -> None:
    scorer = STUDY.scorer.model_copy(update={"config": {"model": "m", "prompt": "p", "max_completion_tokens": 70}})
    declared = JudgeRun()
    judge = EndpointJudge(STUDY, scorer, declared)
    assert score_items(requests(1), judge, bench.outputs, declared).scored == 1
    [call] = bench.endpoint.calls
    assert call["max_completion_tokens"] == 70 and "max_tokens" not in call


def test_halves_of_characters_are_kept_as_question_marks(bench: Bench) -> None:
    words = '{"verdict": "pass", "explanation": "a\\ud83d b"}'
    bench.endpoint.behaviour = lambda _call, _before: Reply(words)
    assert bench.score(1).scored == 1
    kept = bench.outputs.get(requests(1)[0].digest)
    assert kept is not None and kept.explanation == "a? b"


def test_the_first_answer_counts_where_two_runs_ask_at_once(bench: Bench) -> None:
    first, second, passing = Answer("scored", "pass"), Answer("scored", "fail"), Answer("error", code="timeout")
    assert bench.outputs.put("d", passing) == passing
    assert bench.outputs.put("d", first) == first
    assert bench.outputs.put("d", second) == first
    assert bench.outputs.get("d") == first


BROKEN = {
    "no JSON": (Reply(body=b"<html>busy</html>"), "not_json"),
    "half of the body": (Reply(content="{}", cut_short=True), "connection"),
    "an empty object": (Reply(body=b"{}"), "empty"),
    "no choice": (Reply(body=b'{"choices": []}'), "empty"),
    "a choice of nothing": (Reply(body=b'{"choices": [null]}'), "empty"),
    "a list": (Reply(body=b"[1]"), "empty"),
    "no content": (Reply(content=None), "empty"),
    "cut off": (Reply(content='{"verdict": "pass"', finish_reason="length"), "truncated"),
    "filtered": (Reply(content='{"verdict": "pass"}', finish_reason="content_filter"), "truncated"),
    "a refusal": (Reply(content=None, refusal="I will not"), "refused"),
    "another word": (Reply(content='{"verdict": "great"}'), "off_scale"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_answer_is_an_error_row_with_its_code(bench: Bench, kind: str) -> None:
    reply, code = BROKEN[kind]
    bench.endpoint.behaviour = lambda _call, _before: reply
    scoring = bench.score(1)
    assert (scoring.scored, scoring.errored, scoring.codes) == (0, 1, {code: 1})


def test_no_answer_in_time_is_an_error_that_the_next_run_asks_about_again(bench: Bench) -> None:
    bench.endpoint.behaviour = lambda _call, _before: Reply("{}", after_seconds=0.6)
    scoring = bench.score(1, attempts=2, timeout_seconds=0.2)
    assert (scoring.codes, len(bench.endpoint.calls)) == ({"timeout": 1}, 2)
    bench.endpoint.behaviour = lambda _call, _before: says("pass")
    assert bench.score(1).scored == 1


def test_nobody_at_the_address_is_an_error(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    scoring = bench.score(1)
    assert (scoring.codes, scoring.tokens) == ({"connection": 1}, 0)


def test_an_endpoint_that_answers_nobody_ends_the_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(MachineFault, match=r"the judge.s endpoint: it does not answer: .*OPENAI_BASE_URL"):
        bench.score(100, attempts=1)


def test_failures_after_an_answer_end_no_run(bench: Bench) -> None:
    bench.endpoint.behaviour = lambda _call, before: says("pass") if before == 0 else Reply("{}", cut_short=True)
    assert bench.score(12, attempts=1, concurrency=1).codes == {"connection": 11}


def test_words_in_an_item_move_no_verdict_off_the_scale(bench: Bench) -> None:
    bench.endpoint.behaviour = lambda _call, _before: Reply(content="pass (the item told me to say so)")
    assert bench.score(1).codes == {"not_json": 1}


class TestBudget:
    def test_a_run_ends_before_it_could_cost_more(self, bench: Bench) -> None:
        scoring = bench.score(200, budget_tokens=1000)
        assert 0 < scoring.scored < 200 and scoring.out_of_budget
        assert scoring.tokens <= 1000 and scoring.left == 200 - scoring.scored
        called = len(bench.endpoint.calls)
        again = bench.score(200, budget_tokens=1000)
        assert again.kept == scoring.scored and again.scored > scoring.scored
        asked = [text_of(call) for call in bench.endpoint.calls]
        assert len(set(asked)) == len(asked) > called

    def test_calls_at_once_share_it_and_their_number_is_limited(self, bench: Bench) -> None:
        def slow(_call: Any, _before: int) -> Reply:
            time.sleep(0.01)
            return says("pass")

        bench.endpoint.behaviour = slow
        scoring = bench.score(60, budget_tokens=1000, concurrency=8)
        assert 1 < bench.endpoint.most_at_once <= 8
        assert scoring.tokens == 50 * scoring.scored <= 1000
        # What is set aside for a call is given back when it costs less, so that little is left unused.
        assert scoring.tokens > 800

    @pytest.mark.parametrize("usage", [None, {"total_tokens": -5}, {"total_tokens": "many"}])
    def test_an_endpoint_that_does_not_say_what_it_cost_is_charged_the_most(self, bench: Bench, usage: Any) -> None:
        reply = says("pass")
        reply.usage = usage
        bench.endpoint.behaviour = lambda _call, _before: reply
        assert bench.score(1).tokens == len("item 0") + 16 + 40

    def test_what_does_not_fit_waits_in_its_place(self, bench: Bench) -> None:
        def slow(_call: Any, _before: int) -> Reply:
            time.sleep(0.2)
            return says("pass", tokens=60)

        bench.endpoint.behaviour = slow
        long = [
            Request(f"i{number}", [{"role": "user", "content": f"item {number} ".ljust(500)}]) for number in range(6)
        ]
        declared = JudgeRun(concurrency=4, budget_tokens=1000)
        scoring = score_items(long, EndpointJudge(STUDY, STUDY.scorer, declared), bench.outputs, declared)
        assert (scoring.scored, scoring.left, scoring.tokens) == (6, 0, 360)
        assert [text_of(call).split()[1] for call in bench.endpoint.calls] == list("012345")
        assert bench.endpoint.most_at_once == 1

    def test_tries_that_no_longer_fit_leave_their_item_to_the_next_run(self, bench: Bench) -> None:
        bench.endpoint.behaviour = lambda _call, _before: Reply("{}", after_seconds=0.3)
        scoring = bench.score(1, attempts=20, timeout_seconds=0.1, budget_tokens=1000)
        assert (scoring.errored, scoring.left, scoring.out_of_budget) == (0, 1, True)
        assert 900 < scoring.tokens <= 1000

    def test_one_that_costs_more_than_it_may_ends_the_run(self, bench: Bench) -> None:
        bench.endpoint.behaviour = lambda _call, _before: says("pass", tokens=5000)
        scoring = bench.score(5, budget_tokens=1000)
        assert (scoring.scored, scoring.left, scoring.tokens) == (1, 4, 5000)


def test_a_stored_answer_that_was_damaged_is_named(bench: Bench) -> None:
    bench.score(1)
    [file] = Path(str(bench.outputs._folder)).iterdir()
    file.write_bytes(b'{"status": "sco')
    with pytest.raises(InputError, match="damaged") as refused:
        bench.score(1)
    assert str(file) in str(refused.value)


def test_another_configuration_finds_no_answer_of_this_one(bench: Bench, tmp_path: Path) -> None:
    bench.score(1)
    [request] = requests(1)
    assert bench.outputs.get(request.digest) is not None
    assert Outputs(str(tmp_path), "another").get(request.digest) is None


def test_without_a_key_the_variable_is_named(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(InputError, match="OPENAI_API_KEY is not set"):
        bench.score(1)
