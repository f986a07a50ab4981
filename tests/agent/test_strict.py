"""The strict stand-in over real sockets: it refuses as the API does, before anything is streamed."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from clew.agent.standin import Reply, Request, StandIn, text, thinking, tool_use
from tests.agent.requests import Json, answer, body, call, image, png, result, user

if TYPE_CHECKING:
    from pathlib import Path


def post(api: StandIn, sent: Json | bytes, *, path: str = "/v1/messages") -> tuple[int, str, Any]:
    """Send a body; return the status, the content type and what was said."""
    raw = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    request = urllib.request.Request(api.url + path, raw, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            status, kind, said = reply.status, reply.headers["content-type"], reply.read()
    except urllib.error.HTTPError as error:
        with error:
            status, kind, said = error.code, error.headers["content-type"], error.read()
    return status, kind, json.loads(said) if kind == "application/json" else said.decode()


NO_TOOLS = "Requests which include `tool_use` or `tool_result` blocks must define tools."
TORN = body(user("hi"), answer(call()), user("on"), stream=True)


def test_a_refusal_has_the_form_of_the_api_and_comes_before_any_stream() -> None:
    with StandIn(strict=True) as api:
        status, kind, said = post(api, TORN)
    assert (status, kind) == (400, "application/json")
    assert set(said) == {"type", "error", "request_id"}
    assert said["type"] == "error"
    assert said["request_id"].startswith("req_")
    assert said["error"]["type"] == "invalid_request_error"
    assert said["error"]["message"].startswith("messages.1: `tool_use` ids were found without `tool_result`")


def test_a_stand_in_that_is_not_strict_answers_the_same_request() -> None:
    with StandIn() as api:
        status, kind, _ = post(api, TORN)
        assert api.refusals == ()
    assert (status, kind) == (200, "text/event-stream")


def test_a_refusal_is_kept_logged_and_uses_up_nothing_of_the_script(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with StandIn([Reply((text("scripted"),))], strict=True, log=log) as api:
        post(api, TORN)
        good = post(api, body(user("hi")))
        refused = api.refusals
    assert good[2]["content"] == [{"type": "text", "text": "scripted"}]
    assert [request.number for request in refused] == [0]
    assert refused[0].refusal is not None
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert lines[0]["refusal"]["status"] == 400
    assert lines[0]["refusal"]["message"] == refused[0].refusal.message
    assert "refusal" not in lines[1]


def test_half_a_character_is_refused_with_its_place() -> None:
    raw = json.dumps(body(user("a \ud83d"))).encode()
    with StandIn(strict=True) as api:
        status, _, said = post(api, raw)
    at = raw.index(b"\\ud83d")
    assert status == 400
    assert said["error"]["message"] == (
        f"The request body is not valid JSON: no low surrogate in string: line 1 column {at + 1} (char {at})"
    )


@pytest.mark.parametrize(
    "raw", [b"", b"not json", b"[1]", b"{}", b"[" * 100_000, b'{"messages":' + b"9" * 5000 + b"}"]
)
def test_a_body_that_is_no_request_is_refused(raw: bytes) -> None:
    with StandIn(strict=True) as api:
        assert post(api, raw)[0] == 400


def test_a_body_that_is_too_large_is_refused_with_413() -> None:
    with StandIn(strict=True) as api:
        status, _, said = post(api, body(user("x" * (32 << 20))))
    assert status == 413
    assert said["error"] == {"type": "request_too_large", "message": "Request exceeds the maximum size"}


def test_tokens_are_counted_and_the_same_rules_hold() -> None:
    path = "/v1/messages/count_tokens"
    with StandIn(strict=True) as api:
        status, _, said = post(api, {"model": "m", "messages": [user("hi there")]}, path=path)
        assert (status, said) == (200, {"input_tokens": 6})
        assert post(api, {"model": "m", "messages": [user("")]}, path=path)[0] == 400
        assert post(api, {"model": "m", "messages": [user("hi", image(png(9000, 1)))]}, path=path)[0] == 400
        wordy = post(api, {"model": "m", "messages": [user("hi there " * 50)]}, path=path)[2]
    assert wordy["input_tokens"] > 100


def test_thinking_that_was_given_out_is_taken_back_only_as_it_was() -> None:
    script = [Reply((thinking("hm"), tool_use("Read", {}, call_id="t1")))]
    with StandIn(script, strict=True, needs_tools=False) as api:
        first = [user("hi")]
        given = post(api, body(*first))[2]["content"]
        talk = [*first, {"role": "assistant", "content": given}, user(result())]
        assert post(api, body(*talk))[0] == 200
        assert post(api, body(user("ho"), *talk[1:]))[0] == 400
        assert post(api, body(user("ho"), answer(*given[1:]), *talk[2:]))[0] == 200
        other = answer({**given[0], "thinking": "ha"}, given[1])
        said = post(api, body(talk[0], other, talk[2]))[2]
    assert "cannot be modified" in said["error"]["message"]


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/count_tokens"])
def test_calls_are_taken_with_tools_alone_unless_it_is_told_otherwise(path: str) -> None:
    talk = body(user("hi"), answer(call()), user(result()))
    with StandIn(strict=True) as api:
        status, _, said = post(api, talk, path=path)
        assert (status, said["error"]["message"]) == (400, NO_TOOLS)
        assert post(api, {**talk, "tools": []}, path=path)[0] == 400
        assert post(api, {**talk, "tools": [{"name": "x", "input_schema": {}}]}, path=path)[0] == 200
        assert post(api, body(user("hi")), path=path)[0] == 200
    with StandIn(strict=True, needs_tools=False) as api:
        assert post(api, talk, path=path)[0] == 200


def test_thinking_that_is_trusted_is_held_to_its_place() -> None:
    source = [user("hi"), answer(dict(thinking("hm")), "a"), user("b")]
    edited = [user("short"), *source[1:]]
    with StandIn(strict=True) as api:
        assert post(api, body(*edited))[0] == 200
        api.trust(source)
        assert post(api, body(*source, answer("c"), user("d")))[0] == 200
        status, _, said = post(api, body(*edited))
        assert status == 400
        assert "bound to a different conversation" in said["error"]["message"]
        drops = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
        assert post(api, body(*edited, thinking=drops))[0] == 200
        assert [request.number for request in api.refusals] == [2]


def test_older_models_do_not_look_at_what_was_said_before() -> None:
    with StandIn(strict=True, binds_thinking=False) as api:
        api.trust([user("hi"), answer(dict(thinking("hm")), "a")])
        assert post(api, body(user("ho"), answer(dict(thinking("hm")), "a"), user("b")))[0] == 200


def test_thinking_without_words_is_refused_on_demand() -> None:
    empty = body(user("hi"), answer({"type": "thinking", "thinking": "", "signature": "s"}, "a"), user("b"))
    with StandIn(strict=True) as api:
        assert post(api, empty)[0] == 200
    with StandIn(strict=True, takes_empty_thinking=False) as api:
        assert post(api, empty)[0] == 400


def test_two_thoughts_have_two_signatures_unless_one_is_given() -> None:
    assert thinking("a")["signature"] != thinking("b")["signature"]
    assert thinking("a") == thinking("a")
    assert thinking("a", signature="s")["signature"] == "s"


def test_a_refused_request_is_never_shown_to_the_script() -> None:
    seen: list[int] = []

    def note(request: Request) -> Reply:
        seen.append(request.number)
        return Reply((text("ok"),))

    with StandIn(default=note, strict=True) as api:
        post(api, TORN)
        post(api, body(user("hi")))
    assert seen == [1]
